"""What the nodes, counters and scopes of one inclusion of a document are called, and which counters it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import zip_longest

from msgspec import Struct, field
from msgspec.structs import replace

from compiler.frontends.rundown.beyond.visible import Visible
from compiler.frontends.rundown.link import Document
from compiler.frontends.rundown.syntax import (
    Complete,
    Dynamic,
    Goto,
    Identifier,
    Modifier,
    Step,
    Stop,
    Substep,
    Target,
    Transition,
    spell,
)
from compiler.ir.edges import Edge, Effect, Origin, Test, Written
from compiler.ir.program import Entering, Register, Variable
from compiler.ir.tasks import Verdict
from compiler.source import Span

_PASS, _FAIL = Verdict.PASS, Verdict.FAIL


class Arrival(Struct, frozen=True):
    """Where an edge leads, with what it does on the way and what the author wrote for it."""

    target: str
    effects: tuple[Effect, ...] = ()
    written: tuple[Written, ...] = ()
    origins: tuple[Origin, ...] = ()

    def edge(self, guard: tuple[Test, ...] = (), before: tuple[Effect, ...] = ()) -> Edge:
        """The edge that leads there; the effects `before` come first."""
        return Edge(guard, before + self.effects, self.target, self.written, self.origins)


class StepRef(Struct, frozen=True):
    """A step, or a substep of it, with what lowering asks of it again and again. `step_ref` makes one.

    `syntax` is its own part of the syntax tree. `label` is what people call it: `3`, `Cleanup`, `1.2`, `{N}.{n}`. A
    leaf has neither substeps nor runbooks. `passing` and `failing` are what the author wrote for the outcomes, if
    anything; `has_retry` says whether one of these counts, and `decisive` is the outcome of one child that decides the
    step's (M11): FAIL by default, PASS under PASS ANY / FAIL ALL.
    """

    step: Step
    substep: Substep | None
    syntax: Step | Substep
    label: str
    is_leaf: bool
    passing: Transition | None
    failing: Transition | None
    has_retry: bool
    decisive: Verdict

    def transition(self, verdict: Verdict) -> Transition | None:
        """What the author wrote for an outcome, if anything."""
        return self.passing if verdict is _PASS else self.failing


def step_ref(step: Step, substep: Substep | None = None) -> StepRef:
    """A step, or a substep of it."""
    syntax: Step | Substep = substep or step
    label = spell(step.id) if substep is None else f"{spell(step.id)}.{spell(substep.id)}"
    is_leaf = not syntax.runbooks and (substep is not None or not step.substeps)
    passing = failing = None
    has_retry, decisive, is_default = False, _FAIL, True
    for item in syntax.transitions:
        passes = item.word.passes
        if passes:
            passing = passing or item
        else:
            failing = failing or item
        has_retry = has_retry or item.retries > 0
        if item.modifier and is_default:
            is_optimistic = passes == (item.modifier is Modifier.ANY)
            decisive, is_default = _PASS if is_optimistic else _FAIL, False
    return StepRef(step, substep, syntax, label, is_leaf, passing, failing, has_retry, decisive)


class Frame(Struct, frozen=True, dict=True):
    """One inclusion of a document.

    `prefix` stands before its ids; `scope` is the runbook item's own id, also that of its group ("" for the outermost);
    `variables` are what surrounding dynamic steps make visible (M4), `visible` are its inputs and outputs; `complete`
    and `stop` are how the runbook around goes on when this one ends (M8), None for the outermost; `entering` is what an
    operator's jump into it does (E6).
    """

    document: Document
    prefix: str = ""
    scope: str = ""
    title: str = ""
    origin: Origin | None = None
    outer_group: str = ""
    variables: tuple[Variable, ...] = ()
    visible: Visible = field(default_factory=Visible)
    complete: Arrival | None = None
    stop: Arrival | None = None
    entering: tuple[Entering, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the document."""
        return self.document.runbook.steps

    def ref(self, step: Step, substep: Substep | None = None) -> StepRef:
        """A step of the document, or a substep of it."""
        return self._refs[step.id if substep is None else (step.id, substep.id)]

    @cached_property
    def _refs(self) -> dict[Identifier | tuple[Identifier, Identifier], StepRef]:
        found: dict[Identifier | tuple[Identifier, Identifier], StepRef] = {}
        for step in self.steps:
            found[step.id] = step_ref(step)
            for substep in step.substeps:
                found[step.id, substep.id] = step_ref(step, substep)
        return found

    @cached_property
    def by_id(self) -> dict[Identifier, Step]:
        """The steps by their identifiers."""
        return {step.id: step for step in self.steps}

    @cached_property
    def start(self) -> Step:
        """The step that a run begins with (M1): the first numbered one, `{N}`, else the first (V3)."""
        return next((step for step in self.steps if not isinstance(step.id, str)), self.steps[0])

    def next_numbered(self, step: Step) -> Step | None:
        """The next numbered step, or `{N}`, that stands after a step (M7)."""
        return self._followers.get(step.id)

    @cached_property
    def _followers(self) -> dict[Identifier, Step]:
        found: dict[Identifier, Step] = {}
        following: Step | None = None
        for step in reversed(self.steps):
            if following:
                found[step.id] = following
            following = following if isinstance(step.id, str) else step
        return found

    @cached_property
    def advanced(self) -> frozenset[Identifier]:
        """The steps whose `{n}` some GOTO NEXT advances."""
        targets = (target for _, target in self._jumps() if target.next and target.child is Dynamic.SUBSTEP)
        return frozenset(target.step for target in targets if target.step is not None)

    @cached_property
    def revisited(self) -> frozenset[Identifier]:
        """The steps that can be entered again with what their children did kept (M10, M12).

        This is done by a step's own jump to one of its children, and by the `X.{n}` forms from other steps.
        """
        found = set()
        for ref, target in self._jumps():
            inside = target.step == ref.step.id
            keeps = target.child is not None and (inside or target.child is Dynamic.SUBSTEP)
            if keeps and target.step is not None and not (inside and ref.substep):
                found.add(target.step)
        return frozenset(found)

    def _jumps(self) -> Iterator[tuple[StepRef, Target]]:
        for ref in self._refs.values():
            for transition in ref.syntax.transitions:
                if isinstance(transition.action, Goto):
                    yield ref, resolve_next(ref, transition.action.target)

    def at(self, span: Span) -> Origin:
        """A place in this document."""
        return Origin(self.document.source.name, span)

    def id(self, ref: StepRef) -> str:
        """The id of a step's node, or of its group."""
        return self.prefix + ref.label

    def runbook_ids(self, ref: StepRef) -> tuple[str, ...]:
        """The ids of the runbooks of a step's list; a path that stands there again gets its number."""
        return self._runbook_ids[ref.label]

    @cached_property
    def _runbook_ids(self) -> dict[str, tuple[str, ...]]:
        every = (step_ref(step, substep) for step in self.steps for substep in (None, *step.substeps))
        return {ref.label: tuple(_listed(self.id(ref), ref)) for ref in every if ref.syntax.runbooks}

    @property
    def step_counter(self) -> str:
        """The counter of the `{N}` step's instances (M12)."""
        return self.prefix + "{N}"

    def substep_counter(self, step: Step) -> str:
        """The counter of the instances of a step's `{n}` (M12)."""
        return f"{self.id(self.ref(step))}.{{n}}"

    def retries(self, ref: StepRef) -> str:
        """The counter of a step's retries (M9)."""
        return f"{self.id(ref)} retries"

    def mark(self, parent: StepRef, child: StepRef) -> str | None:
        """The counter that is 1 if the child's last outcome was the decisive one; None if nothing would ever read it.

        A child that yields a decisive outcome settles its parent at once, so a mark is read only where such an outcome
        can be followed by a sibling: after an explicit CONTINUE or GOTO, or where the step can be entered again with
        its children's outcomes kept. In a step without transitions only yielded outcomes count (M11).
        """
        if not parent.syntax.transitions:
            return None
        transition = child.transition(parent.decisive)
        goes_on = transition is not None and not isinstance(transition.action, Complete | Stop)
        return f"{self.id(child)} {_PAST[parent.decisive]}" if goes_on or parent.step.id in self.revisited else None

    def earlier_mark(self, parent: StepRef, child: StepRef) -> str | None:
        """The counter of earlier instances of `{n}` with the decisive outcome: each instance is a child of its own."""
        mark = self.mark(parent, child)
        is_dynamic = child.substep is not None and child.substep.id is Dynamic.SUBSTEP
        return f"{mark} before" if mark and is_dynamic and parent.step.id in self.advanced else None

    def is_marked(self, step: Step) -> bool:
        """Whether any child of a step has a mark, so that the step's outcome must be computed from marks."""
        return step.id in self._marked

    @cached_property
    def _marked(self) -> frozenset[Identifier]:
        return frozenset(
            step.id
            for step in self.steps
            if any(self.mark(self.ref(step), self.ref(step, substep)) for substep in step.substeps)
        )

    def substep(self, step: Step, child: Identifier) -> Substep:
        """A step's substep by its identifier."""
        return self._substeps[step.id, child][0]

    def next_sibling(self, ref: StepRef) -> Substep | None:
        """The substep that stands after a substep, if any."""
        return self._substeps[ref.step.id, ref.syntax.id][1]

    @cached_property
    def _substeps(self) -> dict[tuple[Identifier, Identifier], tuple[Substep, Substep | None]]:
        return {
            (step.id, substep.id): (substep, following)
            for step in self.steps
            for substep, following in zip_longest(step.substeps, step.substeps[1:])
        }

    def registers(self) -> Iterator[Register]:
        """All counters of this inclusion. Those of children and of `{n}` belong to the step's scope (M10)."""
        if Dynamic.STEP in self.by_id:
            yield Register(self.step_counter, self.scope, 1, "instance", self.step_counter)
        for step in self.steps:
            parent = self.ref(step)
            if parent.has_retry:
                yield Register(self.retries(parent), self.scope, 0, "retries", self.id(parent))
            for substep in step.substeps:
                yield from self._substep_registers(parent, self.ref(step, substep))

    def _substep_registers(self, parent: StepRef, child: StepRef) -> Iterator[Register]:
        scope = self.id(parent)
        if child.substep and child.substep.id is Dynamic.SUBSTEP:
            initial = 1 if parent.step is self.start else 0
            yield Register(self.substep_counter(parent.step), scope, initial, "instance", self.id(child))
        if child.has_retry:
            yield Register(self.retries(child), scope, 0, "retries", self.id(child))
        for name in (self.mark(parent, child), self.earlier_mark(parent, child)):
            if name:
                yield Register(name, scope, 0, "mark", self.id(child), parent.decisive.value)


_PAST = {Verdict.PASS: "passed", Verdict.FAIL: "failed"}


def resolve_next(ref: StepRef, target: Target) -> Target:
    """A target with a bare NEXT spelled out: it means the innermost dynamic step that it stands in (V10)."""
    if target.step is not None:
        return target
    child = Dynamic.SUBSTEP if ref.substep and ref.substep.id is Dynamic.SUBSTEP else None
    return replace(target, step=ref.step.id, child=child)


def _listed(base: str, ref: StepRef) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for reference in ref.syntax.runbooks:
        seen[reference.path] += 1
        again = f"~{seen[reference.path]}" if seen[reference.path] > 1 else ""
        yield f"{base}/{reference.path}{again}"
