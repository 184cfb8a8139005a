"""Name the nodes, counters and scopes of one inclusion of a document, and list the counters it needs."""

from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Self

from msgspec import Struct, field
from msgspec.structs import replace

from compiler.frontends.rundown.link import Document
from compiler.frontends.rundown.syntax import (
    Complete,
    Declarations,
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
from compiler.ir.edges import Clear, Edge, Effect, Keep, Origin, StepOutcome, Test, Written
from compiler.ir.program import Counter, Entering, Slot, Variable, work_of
from compiler.ir.tasks import Value, Verdict
from compiler.text.source import Span


class Visible(Struct, frozen=True, dict=True):
    """A runbook's slots by name; commands can write those in `outputs`, and the surrounding runbook has no `added`."""

    slots: Mapping[str, str] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    added: tuple[Slot, ...] = ()

    @property
    def fresh(self) -> tuple[Clear, ...]:
        """The effects when a nested runbook starts: its own outputs are unset."""
        own = {self.slots[name] for name in self.outputs}
        return tuple(Clear(slot.name) for slot in self.added if slot.name in own)

    @cached_property
    def keeps(self) -> tuple[Keep, ...]:
        """The effects on each edge of a command: any command may write any output."""
        return tuple(Keep(self.slots[name], "output", name) for name in self.outputs)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The environment variables of commands."""
        return tuple(Variable(name, slot) for name, slot in self.slots.items())

    @cached_property
    def references(self) -> dict[str, str]:
        """The slots by their reference in text, such as `{{version}}`."""
        return {written(name): slot for name, slot in self.slots.items()}


def written(name: str) -> str:
    """Return the reference to an input or output, as written in text."""
    return f"{{{{{name}}}}}"


def visible(declared: Declarations, outer: Visible | None = None, prefix: str = "") -> Visible:
    """Return the inputs and outputs that a runbook can use.

    A name that the surrounding runbook declares too shares its slot. Other names get a slot that starts with `prefix`,
    with the input's default or unset.
    """
    shared = outer.slots if outer else {}
    slots = {name: shared.get(name, prefix + name) for name in declared.slots}
    # An input of the main runbook gets its value when a run starts (I8).
    defaults = {item.input.name: item.input.default for item in declared.inputs} if outer else {}
    added = tuple(Slot(slot, defaults.get(name)) for name, slot in slots.items() if name not in shared)
    return Visible(slots, tuple(declared.outputs), added)


_PASS, _FAIL = Verdict.PASS, Verdict.FAIL


class Arrival(Struct, frozen=True):
    """The target of an edge, with the effects on the way, the author's actions for it, and the outcomes it settles."""

    target: str
    effects: tuple[Effect, ...] = ()
    written: tuple[Written, ...] = ()
    origins: tuple[Origin, ...] = ()
    settles: tuple[StepOutcome, ...] = ()

    def edge(self, guard: tuple[Test, ...] = (), before: tuple[Effect, ...] = ()) -> Edge:
        """Return the edge to this target, with the effects `before` first."""
        return Edge(guard, before + self.effects, self.target, self.written, self.origins, self.settles)

    def settling(self, group: str, verdict: Verdict) -> Self:
        """Return the arrival if this outcome of a group leads to it; the group is inside all that it settles."""
        return replace(self, settles=(StepOutcome(group, verdict.value), *self.settles))


class StepRef(Struct, frozen=True):
    """A step or substep with the facts that lowering needs often; create it with `step_ref`.

    `syntax` is its part of the syntax tree, and `label` its name for people: `3`, `Cleanup`, `1.2`, `{N}.{n}`. A leaf
    has neither substeps nor runbooks. `transitions` are the author's. `has_retry` is true if one of them has a RETRY.
    `decisive` is the child outcome that alone decides the step's outcome: FAIL
    by default, PASS with PASS ANY or FAIL ALL.
    """

    step: Step
    substep: Substep | None
    syntax: Step | Substep
    label: str
    is_leaf: bool
    transitions: Mapping[Verdict, Transition]
    has_retry: bool
    decisive: Verdict


def step_ref(step: Step, substep: Substep | None = None) -> StepRef:
    """Return the reference to a step or to one of its substeps."""
    syntax: Step | Substep = substep or step
    label = spell(step.id) if substep is None else f"{spell(step.id)}.{spell(substep.id)}"
    is_leaf = not syntax.runbooks and (substep is not None or not step.substeps)
    transitions: dict[Verdict, Transition] = {}
    has_retry, decisive, is_default = False, _FAIL, True
    for item in syntax.transitions:
        passes = item.word.passes
        transitions.setdefault(_PASS if passes else _FAIL, item)
        has_retry = has_retry or item.retries > 0
        if item.modifier and is_default:
            is_optimistic = passes == (item.modifier is Modifier.ANY)
            decisive, is_default = _PASS if is_optimistic else _FAIL, False
    return StepRef(step, substep, syntax, label, is_leaf, transitions, has_retry, decisive)


def step_refs(steps: Iterable[Step]) -> Iterator[StepRef]:
    """Yield the references to steps and to their substeps, in document order."""
    return (step_ref(step, substep) for step in steps for substep in (None, *step.substeps))


class Frame(Struct, frozen=True, dict=True):
    """One inclusion of a document.

    `prefix` comes before its ids. `scope` is the id of the runbook item and its group, "" for the main document.
    `variables` come from surrounding dynamic steps (M4), and `visible` are its inputs and outputs. `complete` and
    `stop` are where the surrounding runbook continues after this one ends (M8), None for the main document. `entering`
    are the effects of an operator's jump into it (E6).
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
        """Return the reference to a step of the document or to one of its substeps."""
        return self.refs[step.id if substep is None else (step.id, substep.id)]

    @cached_property
    def refs(self) -> dict[Identifier | tuple[Identifier, Identifier], StepRef]:
        """The steps by identifier, and their substeps by both identifiers."""
        return {(ref.step.id, ref.substep.id) if ref.substep else ref.step.id: ref for ref in step_refs(self.steps)}

    @cached_property
    def by_id(self) -> dict[Identifier, Step]:
        """The steps by identifier."""
        return {step.id: step for step in self.steps}

    @cached_property
    def start(self) -> Step:
        """The first step of a run (M1): the first numbered step, `{N}`, or the first step (V3)."""
        return next((step for step in self.steps if not isinstance(step.id, str)), self.steps[0])

    @cached_property
    def followers(self) -> dict[Identifier, Step]:
        """The next numbered step or `{N}` after each step that has one (M7)."""
        found: dict[Identifier, Step] = {}
        following: Step | None = None
        for step in reversed(self.steps):
            if following:
                found[step.id] = following
            following = following if isinstance(step.id, str) else step
        return found

    @cached_property
    def advanced(self) -> frozenset[Identifier]:
        """The steps whose `{n}` a GOTO NEXT advances."""
        targets = (target for _, target in self._jumps() if target.next and target.child is Dynamic.SUBSTEP)
        return frozenset(target.step for target in targets if target.step is not None)

    @cached_property
    def revisited(self) -> frozenset[Identifier]:
        """The steps that a jump can enter again while their children's outcomes are kept (M10, M12).

        These jumps are a step's jump to one of its own children, and the `X.{n}` forms from other steps.
        """
        found = set()
        for ref, target in self._jumps():
            inside = target.step == ref.step.id
            keeps = target.child is not None and (inside or target.child is Dynamic.SUBSTEP)
            if keeps and target.step is not None and not (inside and ref.substep):
                found.add(target.step)
        return frozenset(found)

    def _jumps(self) -> Iterator[tuple[StepRef, Target]]:
        for ref in self.refs.values():
            for transition in ref.syntax.transitions:
                if isinstance(transition.action, Goto):
                    yield ref, resolve_next(ref, transition.action.target)

    @cached_property
    def asked(self) -> dict[str, Value]:
        """The values that questions ask for, by the step's label."""
        return {item.step: item.asks for item in self.document.runbook.declared.steps if item.asks}

    @cached_property
    def by_agents(self) -> frozenset[str]:
        """The labels of the steps that agents do."""
        return frozenset(item.step for item in self.document.runbook.declared.steps if item.by_agent)

    def at(self, span: Span) -> Origin:
        """Return a place in this document."""
        return Origin(self.document.source.name, span)

    def id(self, ref: StepRef) -> str:
        """Return the id of a step's node or group."""
        return self.prefix + ref.label

    def entry(self, ref: StepRef) -> str:
        """Return the node that an attempt at a leaf starts with: the work of its agent, or its own node (E15)."""
        return work_of(self.id(ref)) if ref.label in self.by_agents else self.id(ref)

    @cached_property
    def runbook_ids(self) -> dict[str, tuple[str, ...]]:
        """The ids of a step's runbooks, by the step's label; a repeated path gets a number."""
        return {ref.label: tuple(_listed(self.id(ref), ref)) for ref in step_refs(self.steps) if ref.syntax.runbooks}

    @property
    def step_counter(self) -> str:
        """The counter of the `{N}` step's instances (M12)."""
        return self.prefix + "{N}"

    def substep_counter(self, step: Step) -> str:
        """Return the name of the counter for a step's `{n}` instances."""
        return f"{self.id(self.ref(step))}.{{n}}"

    def retries(self, ref: StepRef) -> str:
        """Return the name of a step's retry counter (M9)."""
        return f"{self.id(ref)} retries"

    def mark(self, parent: StepRef, child: StepRef) -> str | None:
        """Return the counter that is 1 if the child's last outcome was decisive, or None if nothing reads it.

        A child with a decisive outcome settles its parent at once. So a mark is read only if a sibling can follow:
        after an explicit CONTINUE or GOTO, or if the step can be entered again with its children's outcomes. In a step
        without transitions, only outcomes that a child passes on count.
        """
        if not parent.syntax.transitions:
            return None
        transition = child.transitions.get(parent.decisive)
        goes_on = transition is not None and not isinstance(transition.action, Complete | Stop)
        return f"{self.id(child)} {_PAST[parent.decisive]}" if goes_on or parent.step.id in self.revisited else None

    def earlier_mark(self, parent: StepRef, child: StepRef) -> str | None:
        """Return the counter of earlier `{n}` instances with the decisive outcome; each is a separate child."""
        mark = self.mark(parent, child)
        is_dynamic = child.substep is not None and child.substep.id is Dynamic.SUBSTEP
        return f"{mark} before" if mark and is_dynamic and parent.step.id in self.advanced else None

    @cached_property
    def marked(self) -> frozenset[Identifier]:
        """The steps with a child that has a mark, so that marks decide the step's outcome."""
        return frozenset(
            step.id
            for step in self.steps
            if any(self.mark(self.ref(step), self.ref(step, substep)) for substep in step.substeps)
        )

    @cached_property
    def siblings(self) -> dict[str, StepRef]:
        """The substep after each substep that has one, by label."""
        families = ([self.ref(step, substep) for substep in step.substeps] for step in self.steps)
        return {ref.label: following for family in families for ref, following in pairwise(family)}

    def counters(self) -> Iterator[Counter]:
        """Yield all counters of this inclusion; counters of children and `{n}` belong to the step's scope (M10)."""
        if Dynamic.STEP in self.by_id:
            yield Counter(self.step_counter, self.scope, 1, "instance", self.step_counter)
        for step in self.steps:
            parent = self.ref(step)
            if parent.has_retry:
                yield Counter(self.retries(parent), self.scope, 0, "retries", self.id(parent))
            for substep in step.substeps:
                yield from self._substep_counters(parent, self.ref(step, substep))

    def _substep_counters(self, parent: StepRef, child: StepRef) -> Iterator[Counter]:
        scope = self.id(parent)
        if child.substep and child.substep.id is Dynamic.SUBSTEP:
            initial = 1 if parent.step is self.start else 0
            yield Counter(self.substep_counter(parent.step), scope, initial, "instance", self.id(child))
        if child.has_retry:
            yield Counter(self.retries(child), scope, 0, "retries", self.id(child))
        for name in (self.mark(parent, child), self.earlier_mark(parent, child)):
            if name:
                yield Counter(name, scope, 0, "mark", self.id(child), parent.decisive.value)


_PAST = {Verdict.PASS: "passed", Verdict.FAIL: "failed"}


def resolve_next(ref: StepRef, target: Target) -> Target:
    """Return a target with a bare NEXT resolved to the innermost dynamic step around it (V10)."""
    if target.step is not None:
        return target
    child = Dynamic.SUBSTEP if ref.substep and ref.substep.id is Dynamic.SUBSTEP else None
    return replace(target, step=ref.step.id, child=child)


def _listed(base: str, ref: StepRef) -> Iterator[str]:
    seen: Tally[str] = Tally()
    for reference in ref.syntax.runbooks:
        seen[reference.path] += 1
        again = f"~{seen[reference.path]}" if seen[reference.path] > 1 else ""
        yield f"{base}/{reference.path}{again}"
