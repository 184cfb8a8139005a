"""The workflow steps for places of the document. Each one shows the task and calls the program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from backends.github.calling.program import Calling
from backends.github.nodes import about, headings, in_loop, loop_title, title
from backends.github.options import Caller, GithubOptions, named_command
from backends.github.question import by_people, transitions_from
from backends.github.scalar import Expression, comment
from backends.github.settings import StepSecrets, agent_types
from backends.github.step import Step, compare
from backends.scheduling.condition import Condition, Literal, expression, some
from backends.scheduling.jobs import BEGIN, Jobs, Part
from backends.scheduling.places import Place
from compiler.ir.answers import usual_seconds
from compiler.ir.edges import Edge, OutcomeTest, SlotTest
from compiler.ir.program import Node
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Stage, Tool
from runtime_shim.targets.github.shown import shown_script
from runtime_shim.tasks.recipes import is_recipe

FIRST_PAUSE = 2
"""Seconds before a failed call is retried. Each further pause is twice as long."""

CHECK, OPEN, CLOSE = AROUND = ("check", "open", "close")
"""The ids of the steps that call the program around those of the document."""

_MOST_REASONS = 5
_MINUTE = 60
_PATIENCE = 60
"""Seconds for ending a process and its step after the time limit."""


def minutes(node: Node, options: GithubOptions) -> int:
    """Return the minutes after which GitHub ends a node, a little later than the program does; 0 for no limit."""
    seconds = node.settings.timeout or usual_seconds(node.task)
    if isinstance(node.task, Agent | Parallel):
        seconds = (options.agent_seconds or seconds) * (options.agent_retries + 1)
        seconds += FIRST_PAUSE * (2**options.agent_retries - 1)
    return limit_in_minutes(seconds) if seconds else 0


def limit_in_minutes(seconds: int) -> int:
    """Return GitHub's limit in minutes for a limit of the program in seconds: a little longer."""
    return -(-(seconds + _PATIENCE) // _MINUTE)


def lines_of(names: Iterable[str]) -> str:
    """Return names as a variable: on separate lines if one has a space."""
    found = list(names)
    return "".join(f"{name}\n" for name in found) if any(" " in name for name in found) else " ".join(found)


def option_lines(options: Iterable[str]) -> dict[str, str]:
    """Return the variable with the program's options: each on a line, with its further lines indented."""
    lines = [option.replace("\n", "\n  ") for option in options]
    return {"RDC_OPTIONS": "\n".join(lines) + ("\n" if lines[1:] or "\n" in lines[0] else "")} if lines else {}


def masked(secrets: Mapping[str, str]) -> dict[str, str]:
    """Return secrets and a variable with their names. The program hides their values."""
    return {**secrets, "RDC_SECRETS": " ".join(secrets)} if secrets else {}


def options_for(nodes: Iterable[Node], options: GithubOptions) -> list[str]:
    """Return the program's options for calls in some nodes.

    The agent in `--agent` would also answer people's questions (M3). So if there is a question, the agent is set for
    its types.
    """
    all_nodes, found = list(nodes), dict[str, None]()
    asks = options.prompts != "agent" and any(isinstance(node.task, Ask) for node in all_nodes)
    for node in all_nodes:
        if isinstance(node.task, Agent | Parallel | Tool) or (isinstance(node.task, Ask) and not asks):
            found |= dict.fromkeys(_callers(node, options, is_for_types=asks))
    return list(found)


def _callers(node: Node, options: GithubOptions, *, is_for_types: bool) -> Iterator[str]:
    callers: list[Caller | None] = []
    types = agent_types(node) if not isinstance(node.task, Ask) else [""]
    for name in [] if isinstance(node.task, Tool) else types:
        caller = options.caller_of(name)
        callers.append(caller)
        if caller is not None:
            yield (
                f"--agent-for={name}={named_command(caller)}"
                if name in options.agents or is_for_types
                else f"--agent={named_command(caller)}"
            )
    if isinstance(node.task, Tool) and (caller := options.tools.get(node.task.connection)) is not None:
        yield f"--tool={node.task.connection}={named_command(caller)}"
    if options.agent_model and any(is_recipe(named_command(caller)) for caller in callers):
        yield f"--agent-model={options.agent_model}"
    if callers and options.agent_timeout:
        yield f"--agent-timeout={options.agent_timeout}"
    if callers and options.agent_retries:
        yield f"--agent-retries={options.agent_retries}"


class Places(Struct, frozen=True, dict=True):
    """Writes the places of a part as steps. `ids` are the ids of steps, `secrets` knows the secrets of each node."""

    calling: Calling
    jobs: Jobs
    part: Part
    ids: Mapping[str, str]
    secrets: StepSecrets

    @property
    def _options(self) -> GithubOptions:
        return self.calling.options

    def steps(self) -> Iterator[Step]:
        """Yield the steps in order."""
        found = headings(self.jobs.routes.program.groups, self.part.own)
        for place in self.part.own:
            step = self._loop(place) if place.kind == "loop" else self._node(place)
            above = [found[node.id] for node in place.nodes if node.id in found]
            yield replace(step, comments=(*above, *step.comments))

    def condition(self, place: Place) -> str:
        """Return the expression for when a place is reached; empty if that is whenever its job runs."""
        tests: list[Condition] = []
        for source, name in self.jobs.sources(self.part, place):
            step = OPEN if source == BEGIN else self.ids[source]
            tests.append(Literal(step, "outputs.next", "==", self.word(name)))
        return expression(some(*tests), compare) if tests else ""

    def word(self, name: str) -> str:
        """Return a node's name in conditions."""
        return self.calling.words[name]

    def _node(self, place: Place) -> Step:
        node = place.node
        condition = self.condition(place)
        answered = [by_people(node)] if isinstance(node.task, Ask) and self._options.prompts != "agent" else []
        return Step(
            name=title(node),
            id=self.ids[place.name],
            comments=(
                *about(node),
                *self._uncalled(node),
                *answered,
                *(self._when(node) if condition else ()),
                *transitions_from(node, self.jobs.routes.nodes),
            ),
            condition=condition,
            timeout=minutes(node, self._options),
            env=self._env([node]),
            run=shown_script(self.calling.table, [node.id]),
        )

    def _loop(self, place: Place) -> Step:
        nodes = [node for node in place.nodes if not isinstance(node.task, (Branch, End))]
        program = self.jobs.routes.program
        asked = "a person" if self._options.prompts != "agent" else "the agent"
        return Step(
            name=loop_title(nodes, program.groups),
            id=self.ids[place.name],
            comments=tuple(in_loop(nodes, self.jobs.routes.nodes, asked)),
            condition=self.condition(place),
            env=self._env(nodes),
            run=shown_script(self.calling.table, [node.id for node in nodes]),
        )

    def entry(self, place: Place) -> Step:
        """Return the step of a matrix job, which calls the agent of one entry with its secrets."""
        node = place.node
        env = {
            "RDC_CALL": lines_of(["entry", node.id]),
            "RDC_ENTRY": Expression("${{ matrix.entry }}"),
            **option_lines(options_for([node], self._options)),
            **self._entry_secrets(node),
        }
        return Step(
            name=title(node),
            id=self.ids[place.name],
            comments=(*about(node), *self._when(node), *transitions_from(node, self.jobs.routes.nodes)),
            timeout=minutes(node, self._options),
            env=env,
            run=shown_script(self.calling.table, [node.id]),
        )

    def _env(self, nodes: Sequence[Node]) -> dict[str, str]:
        secrets = self.secrets.of(*nodes)
        env = {"RDC_CALL": lines_of(["step", *(node.id for node in nodes)])}
        env |= option_lines(options_for(nodes, self._options))
        calling = [node for node in nodes if not isinstance(node.task, Ask | Gate) or self._options.prompts == "agent"]
        given = {node.id: [*self.secrets.of(node)] for node in calling}
        if secrets and any(len(names) < len(secrets) for names in given.values()):
            env["RDC_GIVEN"] = "".join(f"{name}: {' '.join(names)}".rstrip() + "\n" for name, names in given.items())
        return {**env, **masked(secrets)}

    def _entry_secrets(self, node: Node) -> dict[str, str]:
        """Return the secrets of a parallel step. Each is empty in jobs of entries that don't need it."""
        found = masked(self.secrets.of(node))
        entries = [self.secrets.of_entry(node, index) for index in range(len(agent_types(node)))]
        for name in self.secrets.of(node):
            wanting = [index for index, secrets in enumerate(entries) if name in secrets]
            if len(wanting) < len(entries):
                test = f"contains(fromJSON('{wanting}'), matrix.entry)"
                found[name] = Expression(f"${{{{ {test} && secrets.{self.secrets.stored[name]} || '' }}}}")
        return found

    def _uncalled(self, node: Node) -> Iterator[str]:
        """Yield a comment on an optional tool without a command."""
        task = node.task
        if isinstance(task, Tool) and task.optional and task.connection not in self._options.tools:
            yield comment(f"The option `tools` has no command for {task.connection}, so this step does nothing.")

    def _when(self, node: Node) -> Iterator[str]:
        """Yield comments on what leads to a node."""
        found = reasons(self.jobs.routes.nodes).get(node.id, [])
        for said in found[:_MOST_REASONS]:
            yield comment(f"if {said}")
        if found[_MOST_REASONS:]:
            yield f"or in {len(found) - _MOST_REASONS} more cases"


def reasons(nodes: Mapping[str, Node]) -> dict[str, list[str]]:
    """Return what leads to each node, for people: `review: REJECT`, `issue_type == "bug"`."""
    found: dict[str, dict[str, None]] = {}
    for node in nodes.values():
        words: dict[str, list[str]] = {}
        for edge in node.edges:
            said = found.setdefault(edge.target, {})
            tests = [test for test in edge.guard if isinstance(test, SlotTest)]
            if tests:
                said[" and ".join(f'{test.slot} {test.operator} "{test.text}"' for test in tests)] = None
            words.setdefault(edge.target, []).extend(_words(edge))
        for target, outcomes in words.items() if len(words) > 1 else ():
            if outcomes:
                found[target][f"{node.id}: {', '.join(dict.fromkeys(outcomes))}"] = None
    return {target: list(said) for target, said in found.items()}


def _words(edge: Edge) -> Iterator[str]:
    """Yield the outcomes that an edge needs, for people."""
    for test in edge.guard:
        if isinstance(test, OutcomeTest):
            yield test.word.upper() if test.word in {"pass", "fail"} else test.word


def calls_something(node: Node) -> bool:
    """Return whether a node calls an agent or a tool."""
    return isinstance(node.task, Agent | Tool | Parallel | Stage)
