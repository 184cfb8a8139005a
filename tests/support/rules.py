"""Programs with rules, and a model of them that reads each rule from the trace of a run, without a machine."""

from __future__ import annotations

import random
from collections.abc import Iterator

from msgspec import Struct, field

from compiler.ir.program import Node, Program
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import Ask
from compiler.ir.texts import text
from tests.support.runtime_programs import edge, node, program, sh

COMMAND = 'echo "$RDC_STEP" >> log; if [ -e kill ]; then rm kill; kill -9 $PPID; sleep 9; fi; [ ! -e "fail-$RDC_STEP" ]'
"""A command that fails if there is a file `fail-STEP`, and that kills the run if there is a file `kill`."""

ENDS = {"COMPLETE": Event("", "complete"), "STOP": Event("", "stop")}


class Happened(Struct, frozen=True):
    """An event in a trace, and whether it may open rules."""

    event: Event
    opens: bool = True


class Flow(Struct):
    """A run in the model: its place, its trace, and the event that is held, if any."""

    program: Program
    at: str
    trace: list[Happened] = field(default_factory=list)
    is_started: bool = False
    """Whether the run is in the step, and not before its start."""

    @property
    def next_event(self) -> Event:
        """The event before which the run is."""
        return ENDS.get(self.at, Event(self.at))

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self.at in ENDS and self.is_started

    def broken(self, event: Event) -> list[str]:
        """The rules that an event would break now."""
        return [rule.name for rule in self.program.rules if event in rule.guards and not self._allows(rule)]

    def _allows(self, rule: Rule) -> bool:
        if rule.most is not None:
            return sum(one.event in rule.guards for one in self.trace) < rule.most
        opened = [place for place, one in enumerate(self.trace) if one.event in rule.opens and one.opens]
        closed = [place for place, one in enumerate(self.trace) if one.event in rule.closes]
        return max([-1 if rule.is_open else -3, *opened]) >= max([-2, *closed])

    def enter(self) -> bool:
        """Start the step, or end the run; return False if a rule holds it."""
        if not self.is_started and not self.broken(self.next_event):
            self.trace.append(Happened(self.next_event))
            self.is_started = True
        return self.is_started

    def leave(self, word: str, *, is_assumed: bool = False) -> None:
        """Give the step an outcome, and move to the next one."""
        self.trace.append(Happened(Event(self.at, word), not is_assumed))
        self.at, self.is_started = target(self.program.index()[self.at], word), False


def target(one: Node, word: str) -> str:
    """Return where an outcome leads."""
    found = (edge.target for edge in one.edges for test in edge.guard if test.kind == "outcome" and test.word == word)
    return next(found)


def random_program(chance: random.Random) -> Program:
    """Return a program of commands and questions that only go forward, with rules."""
    names = [str(number) for number in range(1, chance.randint(4, 6))]
    nodes = []
    for place, name in enumerate(names):
        after = [*names[place + 1 :], "COMPLETE", "STOP"]
        ask = Ask("pass_fail", text("Well?"))
        task = ask if chance.random() < 0.4 else sh(COMMAND)
        failed = chance.choice(after)
        nodes.append(node(name, task, edge(after[0], "pass"), edge(failed, "fail")))
    rules = tuple(random_rule(chance, names, f"r{number}") for number in range(chance.randint(1, 3)))
    return program(*nodes, rules=rules)


def random_rule(chance: random.Random, names: list[str], name: str) -> Rule:
    """Return a rule with random events, of each of the four sentences."""
    happenings = [*map(Event, names), *(Event(one, word) for one in names for word in ("pass", "fail"))]
    some = tuple(chance.sample(happenings, chance.randint(1, 2)))
    others = tuple(chance.sample(happenings, chance.randint(1, 2)))
    starts = tuple(map(Event, chance.sample(names, chance.randint(1, 2))))
    match chance.randint(1, 4):
        case 1:
            closes = others if chance.random() < 0.5 else ()
            return Rule(name, "before", chance.choice([starts, (ENDS["COMPLETE"],)]), some, closes, needs="that")
        case 2:
            return Rule(name, "no after", starts, others if chance.random() < 0.5 else (), some, is_open=True)
        case 3:
            return Rule(name, "always", tuple(ENDS.values()), some, others, is_open=True)
        case _:
            return Rule(name, "at most", starts, most=chance.randint(1, 2))


def holds_alone(made: Program) -> bool:
    """Return whether all rules hold on each path without an operator's actions: few, as nothing repeats."""
    return not any(flow.broken(flow.next_event) for flow in paths(made, Flow(made, made.entry)))


def paths(made: Program, flow: Flow) -> Iterator[Flow]:
    """Yield the run before each event of each path, also after events that break a rule."""
    yield flow
    if flow.at in ENDS:
        return
    for word in ("pass", "fail"):
        trace = [*flow.trace, Happened(flow.next_event), Happened(Event(flow.at, word))]
        yield from paths(made, Flow(made, target(made.index()[flow.at], word), trace))
