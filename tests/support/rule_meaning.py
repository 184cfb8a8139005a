"""What rules mean: their sentences, read from the events of a run without a machine, and random rules and programs."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from compiler.analyses.domains import outcomes_by_node, valid_beginnings
from compiler.driver import compile_file
from compiler.ir.paths import Visit, visit
from compiler.ir.program import Program, without_jumps
from compiler.ir.rules import Event, Rule
from compiler.ir.semantics import Machine, State
from compiler.ir.tasks import IDLE, Ask, End, Gate, alphabet
from compiler.rules.model import Proof, Status
from tests.differential.case import compiled
from tests.differential.soak import FORMATS
from tests.differential.stepspec import document
from tests.support.process import ROOT

LONGEST = 12
"""In visits: the longest paths that are tried."""

ENDS = (Event("", "complete"), Event("", "stop"))
KINDS = ("before", "no", "after", "always", "most")

Events = tuple[Event, ...]


@dataclass(frozen=True)
class Sentence:
    """A sentence about three groups of events.

    before: `first` before `guarded`, again after `other`; no: no `guarded` after `first` until `other`; after: after
    `first`, always `other`; always: always `other`; most: `guarded` at most so many times.
    """

    kind: str
    guarded: Events
    first: Events = ()
    other: Events = ()
    most: int = 0
    scope: str = ""

    @property
    def rule(self) -> Rule:
        """The machine of the sentence (P-5)."""
        rule = Rule("r", str(self), self.guarded, scope=self.scope)
        if self.kind == "before":
            return replace(rule, opens=self.first, closes=self.other)
        if self.kind == "no":
            return replace(rule, opens=self.other, closes=self.first, is_open=True)
        if self.kind == "after":
            return replace(rule, opens=self.other, closes=self.first, is_open=True)
        return replace(rule, opens=self.other) if self.kind == "always" else replace(rule, most=self.most)

    def breach(self, events: Sequence[Event], place: int) -> bool:
        """Whether an event breaks the sentence, by the events before it."""
        if events[place] not in self.guarded:
            return False
        before = range(place)
        if self.kind == "most":
            return sum(events[one] in self.guarded for one in before) >= self.most
        if self.kind == "always":
            return not any(events[one] in self.other for one in before)
        if self.kind == "before":
            done = (one for one in before if events[one] in self.first)
            return not any(all(events[two] not in self.other for two in range(one + 1, place)) for one in done)
        triggers = (one for one in before if events[one] in self.first)
        return any(all(events[two] not in self.other for two in range(one, place)) for one in triggers)


History = tuple[tuple[Event, set[str]], ...]
"""The events of a run, each with the groups around its step."""


class Runs:
    """All runs of a program up to a length in visits, as far as they are few."""

    def __init__(self, program: Program, most: int = 1500) -> None:
        self.program = without_jumps(program)
        self.machine = Machine(self.program)
        self.outcomes, self.tries_all = outcomes_by_node(self.program)
        self.groups = {node.id: {*self.program.around(node.group)} for node in self.program.nodes}
        self.layers: list[list[tuple[State, History]]] = []
        starts = [self.machine.start(given) for given in valid_beginnings(self.program)]
        layer = [(state, self._start(state)) for state in starts]
        self.is_whole = False
        while layer and len(self.layers) <= LONGEST and sum(map(len, self.layers)) + len(layer) <= most:
            self.layers.append(layer)
            layer = [item for at in layer for item in self._onward(*at)]
        self.is_whole = not layer

    @property
    def bound(self) -> int:
        """The length up to which all runs are known."""
        return len(self.layers) - 1

    def shortest(self, sentence: Sentence) -> int | None:
        """The fewest visits after which a run breaks a sentence."""
        for length, layer in enumerate(self.layers):
            if any(self.breaks(sentence, state, events) for state, events in layer):
                return length
        return None

    def breaks(self, sentence: Sentence, state: State, events: History) -> Event | None:
        """The event among the last ones of a run that breaks a sentence."""
        expired: list[History] = [(*events, (Event("", "stop"), set()))] if self._may_expire(state) else []
        for happened in (events, *expired):
            for run in _scoped(happened, sentence.scope):
                for place in range(len(run)):
                    if sentence.breach(run, place):
                        return run[place]
        return None

    def after(self, visits: Sequence[Visit], inputs: dict[str, str]) -> tuple[State, History]:
        """The state and the events of a run with these outcomes."""
        state = self.machine.start(inputs)
        events = self._start(state)
        for made in visits:
            assert state.node == made.step
            again, after = visit(self.machine, state, made.outcome)
            assert again == made
            events += self._events(state, made, after)
            state = after
        return state, events

    def _onward(self, state: State, events: tuple[tuple[Event, set[str]], ...]) -> Iterator[tuple[State, History]]:
        if self.machine.end(state) is None:
            for outcome in self.outcomes[state.node]:
                made, after = visit(self.machine, state, outcome)
                yield after, events + self._events(state, made, after)

    def _start(self, state: State) -> History:
        end = self.machine.end(state)
        return ((Event("", end.result), set()) if end else (Event(state.node), self.groups[state.node]),)

    def _events(self, state: State, made: Visit, after: State) -> History:
        inside = self.groups[state.node]
        settled = [Event(one.step, one.word) for edge in made.edges for one in edge.settles]
        return ((Event(made.step, made.outcome.word), inside), *((one, inside) for one in settled), *self._start(after))

    def _may_expire(self, state: State) -> bool:
        node = self.program.index()[state.node]
        fails = isinstance(node.task, Gate) or (
            isinstance(node.task, Ask) and node.task.question in ("pass_fail", "yes_no", "value")
        )
        return bool(node.settings.expire) and not fails and self.machine.end(state) is None


def _scoped(events: History, scope: str) -> Iterator[list[Event]]:
    """Yield the events of each run of an inclusion; those of the whole run without one."""
    if not scope:
        yield [event for event, _ in events]
        return
    run: list[Event] | None = None
    for event, around in events:
        is_start = bool(event.step) and not event.word
        if is_start and scope not in around and run is not None:
            yield run
            run = None
        if run is None and is_start and scope in around:
            run = []
        if run is not None and scope in around:
            run.append(event)
            if event.step == scope:
                yield run
                run = None
    if run is not None:
        yield run


def compare(runs: Runs, sentence: Sentence, proof: Proof) -> str:
    """How a proof differs from what the runs show; "" if it doesn't."""
    shortest = runs.shortest(sentence)
    if proof.status == Status.BROKEN:
        if shortest is not None and len(proof.visits) != shortest:
            return f"a path of {shortest} visits is shorter than {len(proof.visits)}"
        if shortest is None and (runs.is_whole or len(proof.visits) <= runs.bound):
            return f"no run breaks it after {len(proof.visits)} visits"
        state, events = runs.after(proof.visits, dict(proof.inputs))
        found = runs.breaks(sentence, state, events)
        return "" if found == proof.event else f"{proof.event} does not break it, {found} does"
    if shortest is not None and proof.status == Status.HOLDS:
        return f"a run breaks it after {shortest} visits"
    return "not proven, but all runs are known" if proof.status == Status.NOT_PROVEN and runs.tries_all else ""


def sentences(program: Program, chance: random.Random, number: int) -> Iterator[Sentence]:
    """Random sentences about the steps and groups of a program."""
    nodes = [node for node in program.nodes if type(node.task) not in IDLE]
    starts = [Event(node.id) for node in nodes]
    outcomes = [Event(node.id, word) for node in nodes for word in alphabet(node.task)]
    settled = {Event(one.step, one.word) for node in program.nodes for edge in node.edges for one in edge.settles}
    # Composed outcomes are few, and more likely to go wrong.
    every = [*starts, *outcomes, *sorted(settled, key=str) * 3]
    inclusions = [group.id for group in program.groups if group.kind == "runbook"]

    def some(known: Sequence[Event], most: int) -> Events:
        return tuple(chance.sample(known, min(len(known), chance.randint(1, most))))

    for _ in range(number):
        kind = chance.choice(KINDS)
        scope = chance.choice(inclusions) if inclusions and chance.random() < 0.4 else ""
        ends = (Event(scope, "pass"), Event(scope, "fail")) if scope else ENDS
        is_about_ends = kind in ("after", "always") or (kind in ("before", "no") and chance.random() < 0.3)
        guarded = (ends if kind in ("after", "always") else some(ends, 2)) if is_about_ends else some(starts, 3)
        other = some(every, 2) if kind in ("after", "always") or chance.random() < 0.5 else ()
        first = some(every, 3) if kind in ("before", "no", "after") else ()
        yield Sentence(kind, guarded, first, other, chance.choice((1, 1, 2, 2, 3, 9)), scope)


def random_program(name: str, seed: int) -> Program:
    """A random program of a format."""
    if name == "stepspec":
        return compiled({"a.stepspec.json": json.dumps(document(random.Random(seed)))})
    form = FORMATS[name]
    return form.case_of(form.draw(seed, "semantics")).compiled


@cache
def examples() -> tuple[Path, ...]:
    """The examples that are documents of any format."""
    patterns = ("*.runbook.md", "*/*.playbook.md", "*/*.workflow.yaml", "*/*.stepspec.*", "*/*.program.json")
    return tuple(sorted(path for pattern in patterns for path in (ROOT / "examples").glob(pattern)))


def example(path: Path) -> Program:
    """The program of an example."""
    found = compile_file(str(path)).program
    assert found is not None, path
    return found


def mutants(program: Program, chance: random.Random, number: int) -> Iterator[Program]:
    """Programs with one edge of a step that leads elsewhere, does nothing else, or comes first."""
    steps = [place for place, node in enumerate(program.nodes) if type(node.task) not in IDLE and node.edges]
    targets = [node.id for node in program.nodes if type(node.task) not in IDLE or isinstance(node.task, End)]
    for _ in range(number if steps else 0):
        place = chance.choice(steps)
        node = program.nodes[place]
        which = chance.randrange(len(node.edges))
        edge = node.edges[which]
        changed = chance.choice(
            (
                replace(edge, target=chance.choice(targets), settles=()),
                replace(edge, target=chance.choice(targets)),
                replace(edge, effects=()),
                replace(edge, settles=()),
            )
        )
        edges = (*node.edges[:which], changed, *node.edges[which + 1 :])
        yield replace(program, nodes=(*program.nodes[:place], replace(node, edges=edges), *program.nodes[place + 1 :]))
