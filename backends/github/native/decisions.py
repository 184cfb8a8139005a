"""A runbook divided at its questions into jobs: what they carry, and why questions cannot be native."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from backends.base import CallReason
from backends.common.templates import render
from backends.github.native.nodes import marked_title
from backends.github.native.shell import may_use
from backends.github.options.model import GithubOptions
from backends.github.options.steps import setting_of
from backends.github.workflow.filling import filled_with, is_set, value_expression, values_in, values_of
from backends.github.workflow.transitions import BINARY
from backends.github.yaml.model import Step, compare
from backends.github.yaml.scalar import evaluated
from backends.scheduling.condition import FALSE, expression
from backends.scheduling.plan import Plan, counters_read
from compiler.ir.edges import AtLeast, CounterTest, Reset, Set, counter_effects, may_follow
from compiler.ir.graph import between, reached_from, to_graph
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, Branch, End, Shell, Verdict

MOST_DECISIONS = 5  # how many decisions a workflow may have; with more, people no longer see where a run is

MOST_COPIES = 2  # how many parts may have the same step


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
    def sets(self) -> bool:
        """Whether a command of the part may set an output."""
        return any(may_use(command_of(node), "RDC_OUTPUT") for node in self.commands)

    @property
    def works(self) -> bool:
        """Whether the part has more than ends."""
        return bool(self.questions or self.commands)

    @property
    def path(self) -> list[Part]:
        """The part and the parts before it, backwards."""
        return [self]

    @property
    def source(self) -> Part | None:
        """The last part before it that has commands."""
        return next((one for one in self.path if one is not self and one.commands), None)


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
    for name, count in Counter(name for name, _ in {(part.after.id, part.count) for part in decided}).items():
        if count > 1:
            yield (index[name], f"step {name} comes after different numbers of decisions")
    for part in decided:
        yield from _counted(program, part)
    for name in (*values, *(declared.name for declared in program.inputs)):
        if name.lower() == "workspace" or name.lower().startswith("decide_"):
            yield (decided[0].after, f"{name} is also the name of an output of rdc's jobs")


def _counted(program: Program, part: Decided) -> Iterator[tuple[Node, str]]:
    initial = {counter.name: counter.initial for counter in program.counters}
    leading = between(to_graph(program), [program.entry], [part.after.id])
    edges = [edge for node in program.nodes if node.id in leading for edge in node.edges]
    effects = [effect for edge in edges for effect in counter_effects(edge.effects) if not isinstance(effect, Reset)]
    neutral = [one for one in effects if isinstance(one, Set | AtLeast) and one.value == initial[one.register]]
    changed = {effect.register for effect in effects if effect not in neutral}
    if changed & counters_read(part.program.nodes):
        yield (part.after, f"steps after the question of step {part.after.id} depend on a number from before")


def command_of(node: Node) -> str:
    """Return the command of a node; "" for none."""
    return str(node.task.command) if isinstance(node.task, Shell) else ""


LONGEST_NAME = 200  # characters of a job's name


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
    def _unsure(self) -> Sequence[str]:
        return [declared.name for declared in self.program.inputs if not is_set(declared)]

    @cached_property
    def outputs(self) -> Sequence[str]:
        """The names of the outputs."""
        return values_of(self.program)

    def may_be_set(self, part: Part) -> Sequence[str]:
        """Return the outputs that may be set in a part or before it: all or none, since scripts can set any of them."""
        return self.outputs if any(one.sets for one in part.path) else ()

    def variables(self, part: Part, steps: Iterable[Step]) -> dict[str, str]:
        """Return the inputs that are variables of a part's job: all that are always set, or only the shown ones."""
        if not isinstance(part, Decided):
            return {}
        sure = {name: value for name, value in self.inputs.items() if name not in self._unsure}
        return sure if part.commands else self.inputs_in(steps)

    def _before(self, part: Part) -> str:
        """Return the expression for the outputs of the last job that may have set some; "" for none."""
        return f"needs.{self.jobs[part.source]}.outputs" if part.source else ""

    def taken(self, part: Part) -> Iterator[Step]:
        """Yield the step that makes variables of values from before, but not of one that is unset."""
        env, before = {name: self.inputs[name] for name in self._unsure}, self._before(part)
        for name in self.outputs if before else ():
            env |= {each: evaluated(f"{before}.{each}") for each in (name, f"rdc_empty_{name}")}
        if env:
            names = [name for name in (*self._unsure, *self.outputs) if name in env]
            comments = ("Makes variables of the values from before. An unset one stays unset.",)
            run = render("github/values.sh", names=names, outputs=bool(before))
            yield Step("Take over the values", comments=comments, env=env, run=run)

    def handed_on(self, part: Part) -> dict[str, str]:
        """Return a part's values as outputs of its job."""
        outputs = [each for name in self.outputs for each in (name, f"rdc_empty_{name}")] if part.commands else []
        return {name: evaluated(f"env.{name}") for name in (*self.inputs, *outputs)}

    def shown(self, part: Part, *, own: bool = True) -> dict[str, str]:
        """Return outputs as expressions for messages in a part's own job, or in one before it that has no variables."""
        place = "env" if own and part.commands else self._before(part)
        return {name: value_expression(name, f"{{{{{name}}}}}", place) for name in self.outputs}

    def when(self, to: Decided) -> str:
        """Return the expression for when a run comes to the question in front of a part; `true` if it always does."""
        return expression(self.plans[to.above].flow.reached.get(to.after.id, FALSE), compare)

    def name(self, part: Part, node: Node) -> str:
        """Return the name of a job, which can have outputs of other jobs, but no variables (T-25)."""
        title, before = marked_title(node, longest=LONGEST_NAME), self._before(part)
        first = f"needs.{next(iter(self.jobs.values()))}.outputs" if isinstance(part, Decided) else ""
        places = dict.fromkeys(self.inputs, first) | dict.fromkeys(self.outputs, before)
        shown = {name: missing for name, missing in values_in(title).items() if places[name]}
        known = {name: value_expression(name, shown[name], places[name], is_brief=True) for name in shown}
        return filled_with(title, known)

    def inputs_in(self, steps: Iterable[Step]) -> dict[str, str]:
        """Return the inputs that the messages of some steps show."""
        text = " ".join(step.run for step in steps)
        return {name: value for name, value in self.inputs.items() if re.search(rf"\$\{{?{name}\b", text)}
