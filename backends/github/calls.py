"""The steps of nodes that the runtime does: each with its texts as people wrote them, and the secrets that it names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from backends.github.branching import conditions, reason
from backends.github.jobs import Part
from backends.github.nodes import about, as_file, fits_file, headings, in_loop, loop_title, title
from backends.github.options import GithubOptions, is_of_others
from backends.github.places import Place
from backends.github.prompts import Answers, by_people
from backends.github.question import heading
from backends.github.routes import RoutedParts
from backends.github.scalar import OPEN, Expression, comment, label
from backends.github.settings import StepSecrets, agent_types
from backends.github.step import PLAIN_SHELL, Step
from backends.marks import marked
from compiler.ir.answers import usual_seconds
from compiler.ir.program import Node
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Stage, Tool

RUNTIME = 'python3 -I "$RUNNER_TEMP/rdc/rdc.py"'
STEP_SHELL = 'bash -c "python3 -I \\"$RUNNER_TEMP/rdc/rdc.py\\" step \\"$GITHUB_ACTION\\" \\"$0\\"" {0}'
"""Runs a command by way of the runtime, which notes how it went and where the run goes on."""

LONGEST_TEXT = 100_000
"""Bytes of a text that is a variable of its step; a longer one stands in the program."""

LONGEST_ESCAPED = 15_000
"""The same for one with what would open an expression: it becomes one, of which GitHub takes 21,000 characters."""

FIRST_PAUSE = 2
"""Seconds before a call is made again; each further pause is twice as long."""

_MOST_REASONS = 5
_MINUTE = 60
_PATIENCE = 60
"""Seconds in which a process that is out of time is ended, and the step with it."""


def is_variable(text: str) -> bool:
    """Whether a text can be a variable of its step, where people can read it."""
    longest = LONGEST_ESCAPED if OPEN in text else LONGEST_TEXT
    return "\0" not in text and len(text.encode("utf-8", "replace")) <= longest and _is_unicode(text)


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def texts(written: Node) -> dict[str, str]:
    """The texts of a node that its step shows, by the ends of the variables that they stand in."""
    node, _ = marked(written)
    match node.task:
        case Shell(command=command):
            found = {"COMMAND": str(command)}
        case Agent(prompt=prompt):
            found = {"PROMPT": str(prompt)}
        case Ask(prompt=prompt, block=block):
            found = {"PROMPT": str(prompt), "BLOCK": str(block or "")}
        case Tool(arguments=arguments):
            found = {"ARGUMENTS": str(arguments)}
        case Parallel(entries):
            found = {f"PROMPT_{index}": str(entry.prompt) for index, entry in enumerate(entries)}
        case Gate(reason=reason):
            found = {"REASON": str(reason)}
        case Stage() | Branch() | End():
            found = {}
        case _:
            assert_never(node.task)
    return {name: text for name, text in found.items() if text and is_variable(text)}


def shown_constants(node: Node) -> dict[str, str]:
    """The fixed variables of a node (I25), if they can all be variables of its step."""
    can_be = all(not is_of_others(item.name) and is_variable(item.value) for item in node.constants)
    return {item.name: item.value for item in node.constants} if can_be else {}


def minutes(node: Node, options: GithubOptions) -> int:
    """After how many minutes GitHub is to end a node, a little later than the runtime does; 0 for never."""
    seconds = node.settings.timeout or usual_seconds(node.task)
    if isinstance(node.task, Agent | Parallel):
        seconds = (options.agent_seconds or seconds) * (options.agent_retries + 1)
        seconds += FIRST_PAUSE * (2**options.agent_retries - 1)
    return -(-(seconds + _PATIENCE) // _MINUTE) if seconds else 0


@dataclass(frozen=True)
class Calls:
    """Writes the places of a part as steps. `secrets` knows what each node gets, `asks` says who answers questions."""

    parts: RoutedParts
    part: Part
    secrets: StepSecrets
    asks: str
    options: GithubOptions

    def steps(self) -> Iterator[Step]:
        """The steps in order; ends have none."""
        here = [place for place in self.part.places if not self.parts.is_matrix(place)]
        routes = self.parts.routes
        found = headings(routes.program.groups, here)
        told = {routes.nodes[name].group for name in routes.routing}  # by the name of a routing step
        for place in here:
            if place.kind != "end":
                step = self._step(place)
                above = [found[node.id] for node in place.nodes if node.id in found and node.group not in told]
                yield replace(step, comments=(*above, *step.comments))

    def _step(self, place: Place) -> Step:
        step = Step(
            name="",
            id=self.parts.ids.nodes[place.name],
            condition=self.parts.condition(self.part, place),
            shell=PLAIN_SHELL,
        )
        if self.parts.is_gate(place):
            return self._gate(step, place.node)
        if place.kind == "branch":
            return self._branch(step, place.node)
        return self._loop(step, place) if place.kind == "loop" else self._node(step, place.node)

    def _branch(self, step: Step, node: Node) -> Step:
        """The routing step: the branches, and what leads to each, stand above it."""
        routes = self.parts.routes
        titles = {group.id: str(group.title) for group in routes.program.groups}
        name = heading(node.group, titles.get(node.group, ""))
        return replace(
            step,
            name=label(name if node.id == node.group else f"{name}: which branch"),
            comments=(*about(node), *conditions(node)),
            run=f"{RUNTIME} step {step.id}\n",
        )

    def _gate(self, step: Step, node: Node) -> Step:
        run = f"{RUNTIME} ask {step.id}\n"
        return replace(step, name=f"Ask: {title(node)}", comments=tuple(about(node)), env=_texts(node), run=run)

    def _node(self, step: Step, node: Node) -> Step:
        step = replace(
            step,
            name=title(node),
            comments=(*about(node), *self._answered(node), *(self._when(node) if step.condition else ())),
            timeout=minutes(node, self.options),
            env={**self._secrets([node]), **shown_constants(node), **_texts(node)},
            run=f"{RUNTIME} step {step.id}\n",
        )
        return self._native(step) if _stands_alone(node) else step

    def _answered(self, node: Node) -> Iterator[str]:
        if isinstance(node.task, Ask) and self.asks == Answers.answerer:
            yield by_people(node)

    def entry(self, place: Place) -> Step:
        """The step of a job of a matrix, which does one entry of a place, with the secrets that this one needs."""
        node, name = place.node, self.parts.ids.nodes[place.name]
        return Step(
            name=title(node),
            id=name,
            comments=(*about(node), *self._when(node)),
            timeout=minutes(node, self.options),
            shell=PLAIN_SHELL,
            env={
                **self._entry_secrets(node),
                **shown_constants(node),
                "RDC_ENTRY": Expression("${{ matrix.entry }}"),
                **_texts(node),
            },
            run=f'{RUNTIME} entry {name} "$RDC_ENTRY"\n',
        )

    def _native(self, step: Step) -> Step:
        """The command as it stands, which the shell of the step gives to the runtime."""
        env = dict(step.env)
        return replace(step, shell=STEP_SHELL, run=as_file(env.pop("RDC_COMMAND", "")), env=env)

    def _loop(self, step: Step, place: Place) -> Step:
        nodes = [node for node in place.nodes if not isinstance(node.task, (Branch, End))]
        several = len(nodes) > 1
        env = self._secrets(nodes)
        for node in nodes:
            env |= _texts(node, self.parts.ids.nodes[node.id] if several else "")
        routes = self.parts.routes
        comments = tuple(in_loop(nodes, routes.nodes, self.asks))
        return replace(
            step,
            name=loop_title(nodes, routes.program.groups),
            comments=comments,
            env=env,
            run=f"{RUNTIME} loop {step.id}\n",
        )

    def _when(self, node: Node) -> Iterator[str]:
        """What leads to a node, as a reader wants it."""
        routes = self.parts.routes
        branch = reason(routes.nodes, routes.routing, node.id)
        if branch:
            yield comment(branch)
            return
        found = routes.reasons.get(node.id, ())
        for said in found[:_MOST_REASONS]:
            yield comment(f"if {said}")
        if found[_MOST_REASONS:]:
            yield f"or in one of {len(found) - _MOST_REASONS} more cases"

    # --- Secrets ------------------------------------------------------------------------------------------------------

    def _secrets(self, nodes: Iterable[Node]) -> dict[str, str]:
        """The secrets that what some nodes call is given, and their names for the runtime, which masks their values."""
        found = self.secrets.of(*nodes)
        return {**found, "RDC_SECRETS": " ".join(found)} if found else {}

    def _entry_secrets(self, node: Node) -> dict[str, str]:
        """The secrets of a parallel step, each empty in the jobs of the entries that it is not for."""
        found = self._secrets([node])
        entries = [self.secrets.of_entry(node, index) for index in range(len(agent_types(node)))]
        for name in self.secrets.of(node):
            wanting = [index for index, secrets in enumerate(entries) if name in secrets]
            if len(wanting) < len(entries):
                test = f"contains(fromJSON('{wanting}'), matrix.entry)"
                found[name] = Expression(f"${{{{ {test} && secrets.{self.secrets.stored[name]} || '' }}}}")
        return found


def _stands_alone(node: Node) -> bool:
    """Whether a node is a command that can stand in its step: nothing is filled in, and a file holds it as it is."""
    if not isinstance(node.task, Shell) or any(node.task.command.references):
        return False
    command = str(node.task.command)
    return fits_file(command) and is_variable(command)


def _texts(node: Node, step: str = "") -> dict[str, str]:
    """The texts of a node by their variables.

    These are `RDC_PROMPT`, in a loop `RDC_PROMPT_review`, there of an entry `RDC_PROMPT_1_review`. The id of a step
    begins with a letter, so that no node has the variable of another one's entry.
    """
    return {"_".join(filter(None, ("RDC", key, step))): text for key, text in texts(node).items()}
