"""A runbook divided at its questions into jobs: what they carry, and why questions cannot be native."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from backends.base import CallReason
from backends.github.native.shell import may_use
from backends.github.options.model import GithubOptions
from backends.github.options.steps import setting_of
from backends.github.workflow.filling import as_written, filled_with, marked_title, quoted, values_of
from backends.github.workflow.transitions import BINARY
from backends.github.yaml.model import Step, compare
from backends.github.yaml.scalar import evaluated, label
from backends.scheduling.condition import FALSE, expression
from backends.scheduling.places import find_places
from backends.scheduling.plan import Plan, counters_read
from compiler.ir.edges import AtLeast, CounterTest, Reset, Set, counter_effects, may_follow
from compiler.ir.graph import between, reached_from, to_graph
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, Branch, End, Shell, Verdict
from compiler.text.regex import Regex
from runtime_shim.targets.naming import name_in_words

MOST_DECISIONS = 5  # how many decisions a workflow may have; with more, people no longer see where a run is

MOST_COPIES = 2  # how many parts may have the same step

_WRITES = Regex(
    r"""\b(?:echo|printf)\s+(?:'[^'\n=]*'\s+)?["']?([A-Za-z_]\w*)="""
    r"""(?:\$\{[^}\n]*\}|(?!\b(?:echo|printf)\b|\\n["']?\w+=|\s["']?\w+=|>>)[^}\n])*>>\s*"?\$\{?RDC_OUTPUT\b\}?"?"""
)
"""A line of a command that sets one output, and no other one."""


class Part(Struct, frozen=True, dict=True, eq=False):
    """The nodes of one job, up to the next questions."""

    program: Program

    @cached_property
    def questions(self) -> list[Node]:
        """The questions at which the part may end."""
        return [node for node in self.program.nodes if isinstance(node.task, Ask)]

    @cached_property
    def commands(self) -> list[Node]:
        """The nodes that run a command."""
        return [node for node in self.program.nodes if isinstance(node.task, Shell)]

    @property
    def works(self) -> bool:
        """Whether the part has more than ends."""
        return bool(self.questions or self.commands)

    @property
    def path(self) -> list[Part]:
        """The part and the parts before it, backwards."""
        return [self]


class Decided(Part, frozen=True, dict=True, eq=False):
    """A part that runs if reviewers of an environment say YES to the question `after`, at which the part `above` ends.

    `count` is the number of decisions with this environment on the way here, itself included.
    """

    above: Part
    after: Node
    environment: str
    count: int

    @property
    def path(self) -> list[Part]:
        """The part and the parts before it, backwards."""
        return [self, *self.above.path]


def divided(program: Program, options: GithubOptions) -> list[Part]:
    """Return the parts of a program, each after the part before it. They are a tree. It stops if there are too many."""
    index = program.index()
    found = [Part(_cut(program, index, program.entry))]
    for part in found:
        for node in part.questions if len(found) <= MOST_DECISIONS + 1 else ():
            own = setting_of(node, program, options, "approval_environment") or options.approval_environment
            same = [one for one in part.path if isinstance(one, Decided) and one.environment.lower() == own.lower()]
            after = index[node.id]
            found.append(Decided(_cut(program, index, _target(after, Verdict.PASS)), part, after, own, len(same) + 1))
    return found


def rejected(program: Program, question: Node) -> Program:
    """Return the program after a NO."""
    return _cut(program, program.index(), _target(question, Verdict.FAIL))


def _cut(program: Program, index: Mapping[str, Node], start: str) -> Program:
    """Return the program from a node up to the next questions, which lead nowhere here."""
    # Its rules are proven for the whole program, and name steps that aren't in this part.

    def onward(name: str) -> list[str]:
        node = index[name]
        return [] if isinstance(node.task, Ask) else [edge.target for edge in node.edges]

    names = reached_from([start], onward)
    nodes = (node for node in program.nodes if node.id in names)
    ends = (replace(node, edges=()) if isinstance(node.task, Ask) else node for node in nodes)
    return replace(program, entry=start, nodes=tuple(ends), jumps=(), rules=())


def _target(node: Node, word: str) -> str:
    return next(edge.target for edge in node.edges if may_follow(edge, word))


def obstacles(program: Program, options: GithubOptions, values: Sequence[str]) -> Iterator[CallReason]:
    """Yield why the questions of a simplified program without slots cannot be native; nothing if they can.

    `values` are the outputs that its commands may set.
    """
    asking = [node for node in program.nodes if isinstance(node.task, Ask)]
    questions = [node for node in asking if isinstance(node.task, Ask) and node.task.question in BINARY]
    found = [(node, clause) for node in questions for clause in _of_question(program, node)]
    for node, clause in found or (_of_parts(program, options, values) if asking and asking == questions else ()):
        yield CallReason(node.origin.path, node.origin.span, clause)


def _of_question(program: Program, node: Node) -> Iterator[str]:
    index = program.index()
    targets = [edge.target for edge in node.edges]
    if node.id in reached_from(targets, lambda name: [edge.target for edge in index[name].edges]):
        yield f"step {node.id} asks in a loop"
        return
    if any(isinstance(test, CounterTest) for edge in node.edges for test in edge.guard):
        yield f"the transitions of step {node.id} depend on a counter"
        return
    no = rejected(program, node).nodes
    if not all(isinstance(one.task, Branch) or (isinstance(one.task, End) and one.task.result == "stop") for one in no):
        yield f"step {node.id} continues after NO"


def _of_parts(program: Program, options: GithubOptions, values: Sequence[str]) -> Iterator[tuple[Node, str]]:
    parts = divided(program, options)
    index = program.index()
    first = next(node for node in program.nodes if isinstance(node.task, Ask))
    if len(parts) > MOST_DECISIONS + 1:
        yield (first, f"the document has more than {MOST_DECISIONS} decisions")
        return
    copies = Counter(node.id for part in parts for node in (*part.commands, *part.questions))
    for name, count in copies.items():
        if count > MOST_COPIES:
            yield (index[name], f"step {name} would be in more than {MOST_COPIES} jobs")
    decided = [part for part in parts if isinstance(part, Decided)]
    numbers = Counter(name for name, _ in {(part.after.id, part.count) for part in decided})
    for name, count in numbers.items():
        if count > 1:
            yield (index[name], f"step {name} comes after different numbers of decisions")
    for part in decided:
        yield from _counted(program, part)
    yield from _of_values(program, decided, values)


def _counted(program: Program, part: Decided) -> Iterator[tuple[Node, str]]:
    initial = {counter.name: counter.initial for counter in program.counters}
    leading = between(to_graph(program), [program.entry], [part.after.id])
    edges = [edge for node in program.nodes if node.id in leading for edge in node.edges]
    effects = [effect for edge in edges for effect in counter_effects(edge.effects) if not isinstance(effect, Reset)]
    neutral = [one for one in effects if isinstance(one, Set | AtLeast) and one.value == initial[one.register]]
    changed = {effect.register for effect in effects if effect not in neutral}
    if changed & counters_read(part.program.nodes):
        yield (part.after, f"steps after the question of step {part.after.id} depend on a number from before")


def _of_values(program: Program, parts: Sequence[Decided], names: Sequence[str]) -> Iterator[tuple[Node, str]]:
    for part in dict.fromkeys(one for to in parts for one in to.path) if names else ():
        for place in find_places(part.program):
            if place.kind == "loop":
                yield (place.node, f"step {place.node.id} is in a loop of a document with outputs")
    for name in (*names, *(declared.name for declared in program.inputs)):
        if name.lower() == "workspace" or name.lower().startswith("decide_"):
            yield (parts[0].after, f"{name} is also the name of an output of rdc's jobs")
    for name in names:
        writers = [node for node in program.nodes if name in written_by(node)]
        if len(writers) > 1:
            yield (writers[1], f"several steps set the output {name}")


def written_by(node: Node) -> set[str]:
    """Return the outputs that a command sets by name: `echo "NAME=$value" >> "$RDC_OUTPUT"`."""
    return set(_WRITES.findall(command_of(node)))


def setters(program: Program) -> Mapping[str, frozenset[str]]:
    """Return the nodes that may set each output: they name it, or only the file; if none does, any other program."""
    nodes = {node.id: command_of(node) for node in program.nodes if command_of(node)}
    unnamed = {name for name, text in nodes.items() if len(_WRITES.findall(text)) < text.count("RDC_OUTPUT")}
    others = unnamed or {name for name, text in nodes.items() if may_use(text, "RDC_OUTPUT")}
    found = {name: {node.id for node in program.nodes if name in written_by(node)} for name in values_of(program)}
    return {name: frozenset(named | unnamed or others) for name, named in found.items()}


def command_of(node: Node) -> str:
    """Return the command of a node; "" for none."""
    return str(node.task.command) if isinstance(node.task, Shell) else ""


_LONGEST_NAME = 200


class Carried(Struct, frozen=True, dict=True):
    """The values of a workflow, and the ids of its jobs: `jobs` run parts, and `decisions` decide whether they run."""

    program: Program
    jobs: Mapping[Part, str]
    decisions: Mapping[Decided, str]
    plans: Mapping[Part, Plan]

    @cached_property
    def inputs(self) -> Mapping[str, str]:
        """The inputs as outputs of the first job, which has checked them."""
        first = next(iter(self.jobs.values()))
        return {declared.name: evaluated(f"needs.{first}.outputs.{declared.name}") for declared in self.program.inputs}

    @cached_property
    def _setters(self) -> Mapping[str, frozenset[str]]:
        return setters(self.program)

    def _sets(self, part: Part, name: str) -> bool:
        return any(node.id in self._setters[name] for node in part.commands)

    def value(self, part: Part, name: str, before: str = "", *, own: bool = True) -> str:
        """Return an output as it is in a part: set by its steps before a node, or by the last job that sets it."""
        terms: list[str] = []
        for place in self.plans[part].places if own else ():
            if place.name == before:
                break
            if place.name in self._setters[name]:
                terms.insert(0, f"steps.{self.plans[part].ids.nodes[place.name]}.outputs.{name}")
        earlier = (one for one in part.path if one is not part and self._sets(one, name))
        return " || ".join([*terms, *(f"needs.{self.jobs[one]}.outputs.{name}" for one in earlier)])

    def shown(self, part: Part, *, own: bool = True) -> dict[str, str]:
        """Return outputs as expressions for messages. One without a value is in braces."""
        found = {name: (self.value(part, name, own=own), quoted(f"{{{{{name}}}}}")) for name in self._setters}
        return {name: evaluated(" || ".join(filter(None, terms))) for name, terms in found.items()}

    def set_by(self, part: Part) -> dict[str, str]:
        """Return the outputs that a part may set."""
        return {name: evaluated(self.value(part, name)) for name in self._setters if self._sets(part, name)}

    def when(self, to: Decided) -> str:
        """Return the expression for when a run comes to the question in front of a part; `true` if it always does."""
        return expression(self.plans[to.above].flow.reached.get(to.after.id, FALSE), compare)

    def title(self, node: Node) -> str:
        """Return a node's id and title, with marks."""
        known = self.program.index()[node.id]
        return label(name_in_words(known.id, marked_title(known, self.program)), _LONGEST_NAME)

    def name(self, part: Part, node: Node) -> str:
        """Return the name of a job, which can have outputs of other jobs, but no variables (T-25)."""
        is_first = not isinstance(part, Decided)
        inputs = {name: f"{{{{{name}}}}}" if is_first else value for name, value in self.inputs.items()}
        return filled_with(self.title(node), {**inputs, **self.shown(part, own=False)})

    def handed(self, part: Part, node: Node, step: Step) -> Step:
        """Return a node's step with outputs: as variables, in its name, and as `RDC_OUTPUT` if it may set some."""
        title, command = self.title(node), command_of(node)
        values = {name: self.value(part, name, node.id) for name in self._setters}
        env = {name: evaluated(value) for name, value in values.items() if value and may_use(command, name)}
        shown = {name: evaluated(value or quoted(f"{{{{{name}}}}}")) for name, value in values.items()}
        shown |= {name: evaluated(f"env.{name}") for name in self.inputs}
        sets = any(node.id in found for found in self._setters.values())
        run = f'export RDC_OUTPUT="$GITHUB_OUTPUT"\n{step.run.rstrip()}\n' if sets else step.run
        name = filled_with(title, shown) if step.name == label(as_written(title)) else step.name
        return replace(step, name=name, run=run, env={**env, **step.env})

    def inputs_in(self, steps: Iterable[Step]) -> dict[str, str]:
        """Return the inputs that the messages of some steps show."""
        text = " ".join(step.run for step in steps)
        return {name: value for name, value in self.inputs.items() if re.search(rf"\$\{{?{name}\b", text)}
