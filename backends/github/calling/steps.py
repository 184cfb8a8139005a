"""The workflow steps for places of the document. Each one shows the task and calls the program."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from backends.github.calling.program import Calling
from backends.github.calling.remarks import about, in_loop
from backends.github.native.nodes import headings, loop_title, title
from backends.github.options.model import Caller, GithubOptions, named_command
from backends.github.options.steps import StepSecrets, agent_types
from backends.github.yaml.model import Limit, Step, compare
from backends.github.yaml.scalar import Alias, Expression
from backends.scheduling.condition import Condition, Literal, expression, some
from backends.scheduling.jobs import BEGIN, Jobs, Part
from backends.scheduling.places import Place
from compiler.ir.answers import usual_seconds
from compiler.ir.program import Node
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Stage, Tool
from runtime_shim.targets.github.script import shown_text
from runtime_shim.tasks.recipes import is_recipe

FIRST_PAUSE = 2  # seconds before a failed call is retried; each further pause is twice as long

CHECK, OPEN, CLOSE = AROUND = ("check", "open", "close")
"""The ids of the steps that call the program around those of the document."""

CALLS = Alias("*rdc")
"""The script of all steps that call the program. The first of them has the anchor."""

_MINUTE = 60
_PATIENCE = 60  # seconds for ending a process and its step after the time limit


def limit(node: Node, options: GithubOptions) -> Limit:
    """Return when GitHub ends a node, a little later than the program does."""
    each, why, calls, pauses = node.settings.timeout or usual_seconds(node.task), "timeout", 1, 0
    if isinstance(node.task, Agent | Parallel):
        each, calls = options.agent_seconds or each, options.agent_retries + 1
        why = "option agent-timeout" if options.agent_seconds else "limit of a call"
        pauses = FIRST_PAUSE * (2**options.agent_retries - 1)
    return limited(why, each, calls, pauses)


def limited(why: str, each: int, times: int, pauses: int) -> Limit:
    """Return a limit for a number of attempts, in minutes: a little longer than theirs. Its comment shows the sum."""
    if not each:
        return Limit()
    minutes, whole = -(-(each * times + pauses + _PATIENCE) // _MINUTE), -(-each * times // _MINUTE)
    spelled = f"{each // _MINUTE}m" if each % _MINUTE == 0 else f"{each}s"
    return Limit(minutes, f"{why} {spelled}{f' × {times}' if times > 1 else ''} + {minutes - whole}")


def lines_of(names: Iterable[str]) -> str:
    """Return names as a variable: on separate lines if one has a space."""
    found = list(names)
    return "".join(f"{name}\n" for name in found) if any(" " in name for name in found) else " ".join(found)


def shown(calling: Calling, names: Sequence[str]) -> dict[str, str]:
    """Return the variable with the text of a step; the program compares it."""
    name, text = shown_text(calling.table, names)
    return {name: f"{text}\n" if "\n" in text else text} if text else {}


def option_lines(options: Iterable[str]) -> dict[str, str]:
    """Return the variable with the program's options: each on a line, with its further lines indented."""
    lines = [option.replace("\n", "\n  ") for option in options]
    return {"RDC_OPTIONS": "\n".join(lines) + ("\n" if lines[1:] or "\n" in lines[0] else "")} if lines else {}


def masked(secrets: Mapping[str, str]) -> dict[str, str]:
    """Return secrets and a variable with their names. The program hides their values."""
    return {**secrets, "RDC_SECRETS": " ".join(secrets)} if secrets else {}


def options_for(nodes: Iterable[Node], options: GithubOptions) -> list[str]:
    """Return the program's options for calls in some nodes.

    The agent in `--agent` would also answer people's questions. So if there is a question, the agent is set for
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
            tests.append(Literal(step, "outputs.next", "==", self.calling.words[name]))
        return expression(some(*tests), compare) if tests else ""

    def _node(self, place: Place) -> Step:
        return replace(self._alone(place), condition=self.condition(place), env=self._env([place.node]))

    def _alone(self, place: Place) -> Step:
        node = place.node
        return Step(
            name=title(node),
            id=self.ids[place.name],
            comments=tuple(about(node, self.jobs.routes, self._options)),
            limit=limit(node, self._options),
            run=CALLS,
        )

    def _loop(self, place: Place) -> Step:
        nodes = [node for node in place.nodes if not isinstance(node.task, (Branch, End))]
        program = self.jobs.routes.program
        return Step(
            name=loop_title(nodes, program.groups),
            id=self.ids[place.name],
            comments=tuple(in_loop(nodes, self.jobs.routes, self._options)),
            condition=self.condition(place),
            env=self._env(nodes),
            run=CALLS,
        )

    def entry(self, place: Place) -> Step:
        """Return the step of a matrix job, which calls the agent of one entry with its secrets."""
        node = place.node
        env = {
            "CALL": lines_of(["entry", node.id]),
            **shown(self.calling, [node.id]),
            "RDC_ENTRY": Expression("${{ matrix.entry }}"),
            **option_lines(options_for([node], self._options)),
            **self._entry_secrets(node),
        }
        return replace(self._alone(place), env=env)

    def _env(self, nodes: Sequence[Node]) -> dict[str, str]:
        secrets = self.secrets.of(*nodes)
        names = [node.id for node in nodes]
        env = {"CALL": lines_of(["step", *names]), **shown(self.calling, names)}
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


def calls_something(node: Node) -> bool:
    """Return whether a node calls an agent or a tool."""
    return isinstance(node.task, Agent | Tool | Parallel | Stage)
