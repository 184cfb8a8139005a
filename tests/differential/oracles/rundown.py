"""A direct interpreter of the model by rules M1 to M13; what E1 to E10 add is in `rundown_parts`.

It is written to be obviously right rather than fast: one method for each thing that the rules name, and no
graph, no registers, no guards. Nested runbooks are played by recursion.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from dataclasses import dataclass, field, replace

from compiler.ir.serialize import to_json
from tests.differential.case import OWN, Case, Json, Jump, compiled
from tests.differential.generate import rundown_model as model
from tests.differential.generate.hostile import CALL
from tests.differential.generate.rundown import LIMIT, Drawn, Outcomes
from tests.differential.oracles import rundown_parts as parts


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
    """Where the run stands: a step, and a child of it or None where the step has none.

    Where an operator's jump leads on into its list, `position` is that of the runbook, and `route` the rest. With
    `is_jumped`, an operator's jump ends here.
    """

    step: model.Step
    child: model.Substep | None = None
    position: int = 0
    route: parts.Route = ()
    is_jumped: bool = False

    @property
    def plain(self) -> _Place:
        return _Place(self.step, self.child)

    @property
    def body(self) -> model.Leaf | model.Runbooks:
        body = self.child.body if self.child else self.step.body
        assert isinstance(body, model.Leaf | model.Runbooks)
        return body

    @property
    def transitions(self) -> model.Transitions:
        return self.child.transitions if self.child else self.step.transitions


class JumpedError(Exception):
    """The operator takes the run to another step (E6)."""

    def __init__(self, landing: parts.Landing) -> None:
        super().__init__(landing.label)
        self.landing = landing


@dataclass
class Operator:
    """Who jumps: as soon as one can after so many visits, to the step with this number among those one can go to."""

    jumps: dict[int, int]
    steps: frozenset[str]
    """Where a run can come to."""

    def jump(self, recorder: parts.Recorder, main: parts.Landings, waiting: str) -> parts.Landing | None:
        """The jump that is due where the run waits, or where it has ended; each is made once."""
        due = [index for index in self.jumps if index <= len(recorder.visits)]
        if not due:
            return None
        pick = self.jumps.pop(min(due))
        able = [landing for landing in main if landing.leads_to in self.steps and landing.is_plain_from(waiting)]
        if not able or len(recorder.visits) >= recorder.limit:  # nothing could be visited after it
            return None
        landing = able[pick % len(able)]
        recorder.jumps.append(Jump(len(recorder.visits), waiting, landing.label))
        return landing


@dataclass
class _World:
    """What all runbooks of a run share."""

    files: model.Files
    recorder: parts.Recorder
    main: parts.Landings
    operator: Operator
    counts: Counter[str] = field(default_factory=Counter)

    def count(self, label: str, limit: model.Settings | None) -> None:
        """Count a visit of a step. One too many ends the whole run, also from within a nested runbook."""
        if limit is None or limit.visits is None:
            return
        self.counts[label] += 1
        if self.counts[label] > limit.visits:
            usual = f"step {label} reached its limit of {limit.visits} visit{'s' * (limit.visits > 1)}"
            raise parts.LimitError(("STOP", limit.then or usual))

    def may_jump(self, waiting: str) -> None:
        """Let the operator jump, where the run waits for an answer or has ended by STOP."""
        if landing := self.operator.jump(self.recorder, self.main, waiting):
            raise JumpedError(landing)


class _Run:
    """One run of one runbook, from its start to its end."""

    def __init__(
        self, runbook: model.Runbook, world: _World, prefix: str, file: str, outer: parts.Instances, scope: parts.Scope
    ) -> None:
        self.runbook = runbook
        self.world = world
        self.prefix = prefix
        self.file = file
        self.outer = outer
        self.scope = scope
        self.number = 1  # `{N}` is the first step run wherever it exists (M1, M12)
        self.memory = {step.ident: _Memory() for step in runbook.steps}

    # -- the path ------------------------------------------------------------------------------------------

    def play(self, route: parts.Route = ()) -> parts.End:
        """Walk to an end, from the start or from where an operator's jump leads."""
        where: _Place | parts.End = (
            self.land(None, route) if route else self.enter_by_header(model.first_step(self.runbook))
        )
        while True:
            stands = where if isinstance(where, _Place) else None
            try:
                if isinstance(where, _Place):
                    where = self.play_substep(where) if where.child else self.play_step(where)
                    continue
                if where[0] == "STOP" and not self.prefix:
                    self.world.may_jump("")
            except JumpedError as jumped:
                if not jumped.landing.frame.startswith(self.prefix):
                    raise
                where = self.land(stands, jumped.landing.route[self.prefix.count(".runbook.md") :])
            except parts.LimitError as limited:
                if self.prefix:
                    raise
                where = limited.args[0]
            else:
                return where

    def land(self, origin: _Place | None, route: parts.Route) -> _Place:
        """E6: do what a GOTO to the step would do from where the run stands; None is a place in no step."""
        (ident, child, position), *rest = route
        if position is None:
            return replace(self.jump(origin, model.Goto(ident, child)), is_jumped=True)
        step = next(step for step in self.runbook.steps if step.ident == ident)
        if origin is None or origin.step is not step:
            self.memory[ident].start_afresh()
        substep = next((each for each in step.children if each.ident == child), None)
        return _Place(step, substep, position, tuple(rest))

    def play_step(self, place: _Place) -> _Place | parts.End:
        """Play a step without substeps: its retries are of this visit (M9), since only a header leads in."""
        step, retries = place.step, 0
        while True:
            passed = self.outcome(place, retries)
            result = explicit_or_default(step.transitions, passed)
            if not isinstance(result, model.Retry):
                return self.act_for_step(step, result)
            if retries >= result.count:
                return self.act_for_step(step, result.then)
            retries += 1
            place = place.plain

    def play_substep(self, place: _Place) -> _Place | parts.End:
        """Play a substep: its outcome after all attempts, record, choice of edge, in this order (M13)."""
        assert place.child
        step, child, retries = place.step, place.child, 0
        while True:
            passed = self.outcome(place, retries)
            result = child.transitions.explicit(passed)
            if (
                isinstance(result, model.Retry) and retries < result.count
            ):  # if an operator leaves it, it has no outcome
                retries += 1
                place = place.plain
                continue
            self.record(step, child, passed)
            action = result.then if isinstance(result, model.Retry) else result
            return self.leave_substep(step, child, passed, action)

    def leave_substep(
        self, step: model.Step, child: model.Substep, passed: bool, action: model.Action | None
    ) -> _Place | parts.End:
        """M11: what follows from a child's outcome; an action of None is an outcome that is yielded."""
        if action is None:
            if passed == step.transitions.optimistic:  # a PASS under ANY, a FAIL under ALL: decided
                return self.finish_step(step, passed)
            return self.go_to_sibling(step, child)
        if not step.transitions.declared:
            self.forget(step, child)  # in a transparent step only yielded outcomes count
        if isinstance(action, model.Continue):
            return self.go_to_sibling(step, child)
        if isinstance(action, model.Goto):
            return self.jump(_Place(step, child), action)
        return self.end(_Place(step, child), action)

    def go_to_sibling(self, step: model.Step, child: model.Substep) -> _Place | parts.End:
        """M7: the next sibling in document order, named or numbered; after the last the step decides."""
        position = step.children.index(child) + 1
        if position < len(step.children):
            return _Place(step, step.children[position])
        return self.finish_step(step, self.aggregate(step))

    def aggregate(self, step: model.Step) -> bool:
        """M11: the step's outcome from the records of all children that were visited."""
        records = self.memory[step.ident].records.values()
        return any(records) if step.transitions.optimistic else all(records)

    def finish_step(self, step: model.Step, passed: bool) -> _Place | parts.End:
        """Fire the own transition of a step with substeps; its RETRY starts again at the first child (M9)."""
        memory = self.memory[step.ident]
        self.world.recorder.settle(self.prefix + step.ident, passed)
        result = explicit_or_default(step.transitions, passed)
        if not isinstance(result, model.Retry):
            return self.act_for_step(step, result)
        if memory.retries >= result.count:
            return self.act_for_step(step, result.then)
        memory.retries += 1
        memory.start_over()
        return _Place(step, step.children[0])

    def act_for_step(self, step: model.Step, action: model.Action) -> _Place | parts.End:
        if isinstance(action, model.Continue):
            return self.go_to_next_step(step)
        if isinstance(action, model.Goto):
            return self.jump(_Place(step), action)
        return self.end(_Place(step), action)

    def go_to_next_step(self, step: model.Step) -> _Place | parts.End:
        """M7: the next numbered step, or `{N}`, that stands after this one; past the last the runbook completes."""
        position = self.runbook.steps.index(step) + 1
        for later in self.runbook.steps[position:]:
            if later.is_numbered or later.ident == model.STEP_TEMPLATE:
                return self.enter_by_header(later)
        return ("COMPLETE", "")

    def end(self, place: _Place, action: model.Complete | model.Stop) -> parts.End:
        """M8."""
        return ("COMPLETE" if isinstance(action, model.Complete) else "STOP", self.filled(place, action.message))

    def filled(self, place: _Place, text: str) -> str:
        """M5, E1: a text with the placeholders of its step replaced."""
        return self.scope.filled(text, self.numbers(place))

    # -- entering ------------------------------------------------------------------------------------------

    def enter_by_header(self, step: model.Step) -> _Place:
        """M10: from the start, at the first child if there is one."""
        self.memory[step.ident].start_afresh()
        return _Place(step, step.children[0] if step.children else None)

    def jump(self, origin: _Place | None, target: model.Goto) -> _Place:
        """M10 and M12: find where a GOTO leads, with what it does to counters and records."""
        if target.step is None:
            assert origin
            target = self.resolve_bare_next(origin)
        step = next(step for step in self.runbook.steps if step.ident == target.step)
        if target.child is None:
            if target.advance:
                self.number += 1
            return self.enter_by_header(step)
        if target.child == model.CHILD_TEMPLATE:
            return self.jump_to_instance(step, target.advance)
        child = next(child for child in step.children if child.ident == target.child)
        if origin is None or origin.step is not step:
            self.memory[step.ident].start_afresh()
        return _Place(step, child)

    def resolve_bare_next(self, origin: _Place) -> model.Goto:
        """M12: NEXT alone advances the innermost dynamic step that its author stands in."""
        if origin.child and origin.child.ident == model.CHILD_TEMPLATE:
            return model.Goto(origin.step.ident, model.CHILD_TEMPLATE, advance=True)
        return model.Goto(model.STEP_TEMPLATE, advance=True)

    def jump_to_instance(self, step: model.Step, advance: bool) -> _Place:
        """`X.{n}` and `NEXT X.{n}`: keep all, but restart a step that was never entered (M10, M12)."""
        memory = self.memory[step.ident]
        if memory.instance == 0:
            return self.enter_by_header(step)
        if advance:
            memory.instance += 1
        return _Place(step, step.children[0])

    # -- outcomes ------------------------------------------------------------------------------------------

    def record(self, step: model.Step, child: model.Substep, passed: bool) -> None:
        """Keep a child's outcome; a later one of the same child, or instance, takes its place."""
        self.memory[step.ident].records[self.record_key(step, child)] = passed

    def forget(self, step: model.Step, child: model.Substep) -> None:
        """Keep no outcome of a child, as if it had not been visited."""
        del self.memory[step.ident].records[self.record_key(step, child)]

    def record_key(self, step: model.Step, child: model.Substep) -> tuple[str, int]:
        """A child, or an instance of it, each of which has a record of its own."""
        return child.ident, self.memory[step.ident].instance if child.ident == model.CHILD_TEMPLATE else 0

    def outcome(self, place: _Place, retries: int) -> bool:
        """The outcome of one attempt at a step that has no substeps."""
        body, label, recorder = place.body, self.label(place), self.world.recorder
        if isinstance(body, model.Runbooks):
            return self.play_list(place, body)
        if not retries and not place.is_jumped:  # M9: an attempt is no new visit, and an operator is not limited
            self.world.count(label, self.scope.limit(label))
        if not self.work(place, retries):
            return False
        index = len(recorder.visits)
        shown = "" if body.is_command or "{{" not in body.prompt else self.filled(place, body.prompt)
        beyond = self.scope.visit(body, self.around(place), retries + 1, index, shown)
        if not body.is_command:
            self.world.may_jump(label)
        arguments = tuple(parts.with_numbers(word, self.numbers(place)) for word in body.arguments)
        instances = self.instances(place)
        visit = parts.Visit(label, retries + 1, *instances, index, self.file, body.is_command, arguments, beyond)
        passed = recorder.ask(visit)
        self.scope.keep(beyond.values)
        if passed and beyond.asks:
            self.scope.keep([(beyond.asks, parts.value_of(visit))])
        return passed

    def work(self, place: _Place, retries: int) -> bool:
        """E15: an agent follows the text of a step, if the step has one; without an answer, the step fails."""
        leaf, step, label = place.body, place.child or place.step, self.label(place)
        assert isinstance(leaf, model.Leaf)
        text = "\n\n".join(self.filled(place, each) for each in (step.title, leaf.prompt) if each)
        beyond = self.scope.work(label, self.around(place), retries + 1, text)
        if beyond is None:
            return True
        index = len(self.world.recorder.visits)
        visit = parts.Visit(f"{label}/do", retries + 1, *self.instances(place), index, beyond=beyond, is_agent=True)
        return self.world.recorder.ask(visit)

    def play_list(self, place: _Place, runbooks: model.Runbooks) -> bool:
        """M11: each runbook yields its outcome, until the outcome of the whole is decided."""
        passed = self.play_runbooks(place, runbooks)
        self.world.recorder.settle(self.label(place), passed)
        return passed

    def play_runbooks(self, place: _Place, runbooks: model.Runbooks) -> bool:
        """The outcome of a list of runbooks, each of which has its own."""
        optimistic, route = place.transitions.optimistic, place.route
        for position in range(place.position, len(runbooks.paths)):
            path, name = runbooks.paths[position], model.inclusion(self.label(place), runbooks, position)
            nested = self.world.files[path]
            scope = self.scope.include(nested.declared, f"{name}/", (*self.around(place), name))
            run = _Run(nested, self.world, f"{name}/", path, self.instances(place), scope)
            passed = run.play(route)[0] == "COMPLETE"  # M8
            self.world.recorder.settle(name, passed)
            route = ()
            if passed == optimistic:
                return passed
        return not optimistic

    def around(self, place: _Place) -> tuple[str, ...]:
        """The names of what a place is in, the outermost first, with its own."""
        step = self.prefix + place.step.ident
        return (*self.scope.around, step, *((self.label(place),) if place.child else ()))

    def label(self, place: _Place) -> str:
        """The step's name, with the path by which its runbook was included before it."""
        return self.prefix + place.step.ident + (f".{place.child.ident}" if place.child else "")

    def own_instances(self, place: _Place) -> parts.Instances:
        """The instance numbers of the dynamic steps of this runbook that a place is in."""
        number = self.number if place.step.ident == model.STEP_TEMPLATE else None
        in_template = place.child is not None and place.child.ident == model.CHILD_TEMPLATE
        return number, self.memory[place.step.ident].instance if in_template else None

    def numbers(self, place: _Place) -> parts.Numbers:
        """The numbers that stand for placeholders in a place (M5)."""
        return dict(zip("Nn", self.own_instances(place), strict=True))

    def instances(self, place: _Place) -> parts.Instances:
        """M4: the innermost instance numbers; a nested runbook is inside the steps that include it."""
        number, instance = self.own_instances(place)
        outer_number, outer_instance = self.outer
        return (outer_number if number is None else number, outer_instance if instance is None else instance)


def explicit_or_default(transitions: model.Transitions, passed: bool) -> model.Action | model.Retry:
    """M6: a step that is silent about an outcome continues on PASS and stops on FAIL."""
    explicit = transitions.explicit(passed)
    if explicit is not None:
        return explicit
    return model.Continue() if passed else model.Stop()


def walk_model(
    runbook: model.Runbook,
    files: model.Files,
    outcome_of: parts.OutcomeOf,
    limit: int,
    given: model.Given = model.NOTHING_GIVEN,
    operator: Operator | None = None,
) -> parts.Taken:
    """Take the path of a runbook, asking for the outcome of each visit; at most `limit` visits."""
    recorder = parts.Recorder(outcome_of, limit)
    world = _World(files, recorder, parts.Landings(runbook, files), operator or Operator({}, frozenset()))
    scope = parts.Scope(parts.Slots(given)).include(runbook.declared, "", ())
    end: parts.End | None
    try:
        end = _Run(runbook, world, "", "", (None, None), scope).play()
    except parts.CutOffError:
        end = None
    return parts.Taken(tuple(recorder.visits), end, given, tuple(recorder.jumps), tuple(recorder.settled))


OTHERS = 12
"""How many paths are looked at to find out which steps a run can come to."""


def walk(drawn: Drawn, limit: int = LIMIT) -> parts.Taken:
    operator = Operator(dict(drawn.jumps), _steps(drawn)) if drawn.jumps else None
    return walk_model(drawn.runbook, drawn.files, drawn.outcomes, limit, drawn.given, operator)


def _steps(drawn: Drawn) -> frozenset[str]:
    """Steps that a run can come to without an operator."""
    outcomes = [Outcomes(seed=drawn.outcomes.seed + seed) for seed in range(OTHERS)]
    found = [walk_model(drawn.runbook, drawn.files, each, LIMIT, drawn.given) for each in outcomes]
    return frozenset(visit.label for taken in found for visit, _ in taken.visits)


def case_of(drawn: Drawn) -> Case:
    """The program that rdc makes of a runbook, what comes of its commands, and the path by the rules."""
    documents, taken = drawn.documents(command), walk(drawn)
    program = json.loads(to_json(compiled(documents)))
    replies: dict[str, list[Json]] = {}
    for visit, passed in taken.visits:
        if visit.is_command or visit.is_agent:
            called = visit.label if visit.is_agent else parts.logged(visit)
            replies.setdefault(called, []).append(parts.reply_to(visit, passed))
    given, secrets = dict(taken.given.inputs), dict(taken.given.secrets)
    return Case(program, given, replies, parts.trace_of(taken), secrets, documents)


def command(path: str, label: str, leaf: model.Leaf) -> str:
    """The code of a step: with the call where that stands in it, else made harmless as one quoted argument before it.

    `@` stands for the braces of `{N}`: as a placeholder it would be replaced by the instance (M5).
    """
    names = (parts.written_name(label), parts.written_name(path) or "-")
    call = f'sh "$YARDSTICK/visit{OWN}" {shlex.join(names)}'
    code = leaf.code or ""
    return code.replace(CALL, call) if CALL in code else f": {shlex.quote(code)}\n{call}"
