"""A direct interpreter of the model by rules M1 to M13 of the Rundown design.

It is written to be obviously right rather than fast: one method for each thing that the rules name, and no
graph, no registers, no guards. Nested runbooks are played by recursion.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from .model import (
    CHILD_TEMPLATE,
    STEP_TEMPLATE,
    Action,
    Complete,
    Continue,
    Files,
    Goto,
    Leaf,
    Retry,
    Runbook,
    Runbooks,
    Step,
    Stop,
    Substep,
    Transitions,
)
from .visits import CutOffError, End, Instances, OutcomeOf, Recorder, Walk


@dataclass
class _Memory:
    """What a run remembers of a step between visits.

    A record is kept for each child, and for each instance of a `{n}` child: True unless it failed.
    `instance` is the `{n}` counter; 0 says that the step was never entered.
    """

    records: dict[tuple[str, int], bool] = field(default_factory=dict)
    instance: int = 0
    retries: int = 0

    def start_over(self) -> None:
        """What a RETRY of the step does: it keeps the retry count (M10)."""
        self.records.clear()
        self.instance = 1

    def start_afresh(self) -> None:
        """What entering by the header does (M10)."""
        self.start_over()
        self.retries = 0


@dataclass(frozen=True)
class _Place:
    """Where the run stands: a step, and a child of it or None where the step has none."""

    step: Step
    child: Substep | None = None


class _Run:
    """One run of one runbook, from its start to its end."""

    def __init__(
        self, runbook: Runbook, files: Files, recorder: Recorder, prefix: str, file: str, outer: Instances
    ) -> None:
        self.runbook = runbook
        self.files = files
        self.recorder = recorder
        self.prefix = prefix
        self.file = file
        self.outer = outer
        self.number = 1  # `{N}` is the first step run wherever it exists (M1, M12)
        self.memory = {step.ident: _Memory() for step in runbook.steps}

    # -- the walk ------------------------------------------------------------------------------------------

    def play(self) -> End:
        """Walk from the start to an end."""
        where: _Place | End = self.enter_by_header(self.first_step())
        while isinstance(where, _Place):
            where = self.play_substep(where.step, where.child) if where.child else self.play_step(where.step)
        return where

    def first_step(self) -> Step:
        """M1: the first numbered step, or `{N}`; with named steps only, the first of them (V3)."""
        for step in self.runbook.steps:
            if step.is_numbered or step.ident == STEP_TEMPLATE:
                return step
        return self.runbook.steps[0]

    def play_step(self, step: Step) -> _Place | End:
        """Play a step without substeps: its retries are of this visit (M9), since only a header leads in."""
        assert isinstance(step.body, Leaf | Runbooks)
        retries = 0
        while True:
            passed = self.outcome(_Place(step), step.body, step.transitions, retries)
            result = explicit_or_default(step.transitions, passed)
            if not isinstance(result, Retry):
                return self.act_for_step(step, result)
            if retries >= result.count:
                return self.act_for_step(step, result.then)
            retries += 1

    def play_substep(self, step: Step, child: Substep) -> _Place | End:
        """Play a substep: outcome, record, choice of edge, in this order (M13)."""
        retries = 0
        while True:
            passed = self.outcome(_Place(step, child), child.body, child.transitions, retries)
            self.record(step, child, passed)
            result = child.transitions.explicit(passed)
            if isinstance(result, Retry) and retries < result.count:
                retries += 1
                continue
            action = result.then if isinstance(result, Retry) else result
            return self.leave_substep(step, child, passed, action)

    def leave_substep(self, step: Step, child: Substep, passed: bool, action: Action | None) -> _Place | End:
        """M11: what follows from a child's outcome; an action of None is an outcome that is yielded."""
        if action is None:
            if passed == step.transitions.optimistic:  # a PASS under ANY, a FAIL under ALL: decided
                return self.finish_step(step, passed)
            return self.go_to_sibling(step, child)
        if not step.transitions.declared:
            self.forget(step, child)  # in a transparent step only yielded outcomes count
        if isinstance(action, Continue):
            return self.go_to_sibling(step, child)
        if isinstance(action, Goto):
            return self.jump(_Place(step, child), action)
        return self.end(_Place(step, child), action)

    def go_to_sibling(self, step: Step, child: Substep) -> _Place | End:
        """M7: the next sibling in document order, named or numbered; after the last the step decides."""
        position = step.children.index(child) + 1
        if position < len(step.children):
            return _Place(step, step.children[position])
        return self.finish_step(step, self.aggregate(step))

    def aggregate(self, step: Step) -> bool:
        """M11: the step's outcome from the records of all children that were visited."""
        records = self.memory[step.ident].records.values()
        return any(records) if step.transitions.optimistic else all(records)

    def finish_step(self, step: Step, passed: bool) -> _Place | End:
        """Fire the own transition of a step with substeps; its RETRY starts again at the first child (M9)."""
        memory = self.memory[step.ident]
        result = explicit_or_default(step.transitions, passed)
        if not isinstance(result, Retry):
            return self.act_for_step(step, result)
        if memory.retries >= result.count:
            return self.act_for_step(step, result.then)
        memory.retries += 1
        memory.start_over()
        return _Place(step, step.children[0])

    def act_for_step(self, step: Step, action: Action) -> _Place | End:
        """Do what a step's own transition says."""
        if isinstance(action, Continue):
            return self.go_to_next_step(step)
        if isinstance(action, Goto):
            return self.jump(_Place(step), action)
        return self.end(_Place(step), action)

    def go_to_next_step(self, step: Step) -> _Place | End:
        """M7: the next numbered step, or `{N}`, that stands after this one; past the last the runbook completes."""
        position = self.runbook.steps.index(step) + 1
        for later in self.runbook.steps[position:]:
            if later.is_numbered or later.ident == STEP_TEMPLATE:
                return self.enter_by_header(later)
        return ("COMPLETE", "")

    def end(self, place: _Place, action: Complete | Stop) -> End:
        """M8."""
        return ("COMPLETE" if isinstance(action, Complete) else "STOP", self.filled(place, action.message))

    def filled(self, place: _Place, text: str) -> str:
        """M5: a text with the placeholders of its unit replaced."""
        number, instance = self.own_instances(place)
        if number is not None:
            text = re.sub(r"(?<!\$)\{N\}", str(number), text)
        if instance is not None:
            text = re.sub(r"(?<!\$)\{n\}", str(instance), text)
        return text

    # -- entering ------------------------------------------------------------------------------------------

    def enter_by_header(self, step: Step) -> _Place:
        """M10: afresh, at the first child if there is one."""
        self.memory[step.ident].start_afresh()
        return _Place(step, step.children[0] if step.children else None)

    def jump(self, origin: _Place, target: Goto) -> _Place:
        """M10 and M12: find where a GOTO leads, with what it does to counters and records."""
        if target.step is None:
            target = self.resolve_bare_next(origin)
        step = next(step for step in self.runbook.steps if step.ident == target.step)
        if target.child is None:
            if target.advance:
                self.number += 1
            return self.enter_by_header(step)
        if target.child == CHILD_TEMPLATE:
            return self.jump_to_instance(step, target.advance)
        child = next(child for child in step.children if child.ident == target.child)
        if origin.step is not step:
            self.memory[step.ident].start_afresh()
        return _Place(step, child)

    def resolve_bare_next(self, origin: _Place) -> Goto:
        """M12: NEXT alone advances the innermost dynamic unit that its author stands in."""
        if origin.child and origin.child.ident == CHILD_TEMPLATE:
            return Goto(origin.step.ident, CHILD_TEMPLATE, advance=True)
        return Goto(STEP_TEMPLATE, advance=True)

    def jump_to_instance(self, step: Step, advance: bool) -> _Place:
        """`X.{n}` and `NEXT X.{n}`: keep all, but enter afresh a step that was never entered (M10, M12)."""
        memory = self.memory[step.ident]
        if memory.instance == 0:
            return self.enter_by_header(step)
        if advance:
            memory.instance += 1
        return _Place(step, step.children[0])

    # -- outcomes ------------------------------------------------------------------------------------------

    def record(self, step: Step, child: Substep, passed: bool) -> None:
        """Keep a child's outcome; a later one of the same child, or instance, takes its place."""
        self.memory[step.ident].records[self.record_key(step, child)] = passed

    def forget(self, step: Step, child: Substep) -> None:
        """Keep no outcome of a child, as if it had not been visited."""
        del self.memory[step.ident].records[self.record_key(step, child)]

    def record_key(self, step: Step, child: Substep) -> tuple[str, int]:
        """A child, or an instance of it, each of which has a record of its own."""
        return child.ident, self.memory[step.ident].instance if child.ident == CHILD_TEMPLATE else 0

    def outcome(self, place: _Place, body: Leaf | Runbooks, transitions: Transitions, retries: int) -> bool:
        """The outcome of one attempt at a unit that has no substeps."""
        if isinstance(body, Runbooks):
            return self.play_list(place, body, transitions.optimistic)
        label, instances = self.label(place), self.instances(place)
        body = replace(body, said=tuple(self.filled(place, word) for word in body.said))
        return self.recorder.ask(body, label, retries + 1, instances, self.file)

    def play_list(self, place: _Place, runbooks: Runbooks, optimistic: bool) -> bool:
        """M11: each runbook yields its outcome, until the outcome of the whole is decided."""
        for position, path in enumerate(runbooks.paths):
            before = runbooks.paths[:position].count(path)
            suffix = f"~{before + 1}" if before else ""
            prefix = f"{self.label(place)}/{path}{suffix}/"
            nested = self.files[path]
            run = _Run(nested, self.files, self.recorder, prefix, path, self.instances(place))
            passed = run.play()[0] == "COMPLETE"  # M8
            if passed == optimistic:
                return passed
        return not optimistic

    def label(self, place: _Place) -> str:
        """The unit's name, with the way by which its runbook was included before it."""
        return self.prefix + place.step.ident + (f".{place.child.ident}" if place.child else "")

    def own_instances(self, place: _Place) -> Instances:
        """The instance numbers of the dynamic units of this runbook that a place is in."""
        number = self.number if place.step.ident == STEP_TEMPLATE else None
        in_template = place.child is not None and place.child.ident == CHILD_TEMPLATE
        return number, self.memory[place.step.ident].instance if in_template else None

    def instances(self, place: _Place) -> Instances:
        """M4: the innermost instance numbers; a nested runbook is inside the units that include it."""
        number, instance = self.own_instances(place)
        outer_number, outer_instance = self.outer
        return (
            outer_number if number is None else number,
            outer_instance if instance is None else instance,
        )


def explicit_or_default(transitions: Transitions, passed: bool) -> Action | Retry:
    """M6: a step that is silent about an outcome continues on PASS and stops on FAIL."""
    explicit = transitions.explicit(passed)
    if explicit is not None:
        return explicit
    return Continue() if passed else Stop()


def walk(runbook: Runbook, files: Files, outcome_of: OutcomeOf, limit: int) -> Walk:
    """Walk a runbook, asking for the outcome of each visit; at most `limit` visits."""
    recorder = Recorder(outcome_of, limit)
    end: End | None
    try:
        end = _Run(runbook, files, recorder, "", "", (None, None)).play()
    except CutOffError:
        end = None
    return Walk(tuple(recorder.visits), end)
