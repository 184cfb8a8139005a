"""Programs with rules, and a model of them that reads each rule from the trace of a run, without a machine."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field

from compiler.ir.program import Node, Program
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import Ask
from compiler.ir.texts import text
from tests.support.process import Result, Table
from tests.support.runtime_programs import edge, node, program, sh

COMMAND = 'echo "$RDC_STEP" >> log; if [ -e kill ]; then rm kill; kill -9 $PPID; exit 1; fi; [ ! -e "fail-$RDC_STEP" ]'
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
        task = ask if chance.random() < 0.3 else sh(COMMAND)
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


class Driven(Protocol):
    """A program in a folder, on any target, with the subcommands of the Python target."""

    path: Path

    def run(self, *words: str) -> Result:
        """Call a subcommand; exit code, last line and errors are those of the Python target."""

    def records(self) -> list[Table]:
        """Return the records of the run."""


class Trial:
    """A run of a random program, beside its model."""

    def __init__(self, seed: int, lay: Callable[[Program], Driven]) -> None:
        self.chance = random.Random(seed)
        self.made = random_program(self.chance)
        self.place, self.flow = lay(self.made), Flow(self.made, self.made.entry)
        self.is_proven, self.acted, self.holds = holds_alone(self.made), False, 0
        self.is_interrupted = self.kills = False

    def proceed(self, *words: str) -> None:
        """Start or continue the run, and compare how it stops."""
        self.expect(self.place.run(*words))

    def expect(self, result: Result) -> None:
        flow = self.flow
        while not flow.is_over and flow.enter():
            if flow.at in ("COMPLETE", "STOP"):
                break
            if isinstance(self.made.index()[flow.at].task, Ask):
                assert (result.code, result.last) == (75, f"rdc: WAITING {flow.at} Step {flow.at}"), result.err
                return
            if self.kills:
                self.kills, self.is_interrupted = False, True
                assert result.code == -9, result.err
                return
            flow.leave("fail" if (self.place.path / f"fail-{flow.at}").exists() else "pass")
        if flow.is_over:
            assert result.code == (0 if flow.at == "COMPLETE" else 1), result.err
            return
        self.held(result)

    def held(self, result: Result) -> None:
        """Compare a hold: its exit code, its rules and its place."""
        flow, self.holds = self.flow, self.holds + 1
        assert result.code == 75, (result.err, flow)
        what = "the run can't end" if flow.at in ("COMPLETE", "STOP") else f"{flow.at} can't start"
        for rule in self.made.rules:
            assert (f"{what}: rule {rule.name} " in result.err) == (rule.name in flow.broken(flow.next_event)), (
                result.err
            )
        assert result.last.startswith(f"rdc: WAITING {flow.at}"), result.err
        assert self.acted or not self.is_proven, "a proven rule holds a run that no operator has touched"

    def act(self) -> None:
        """Take a random action of an operator."""
        flow, chance = self.flow, self.chance
        for name in flow.program.index():
            path = self.place.path / f"fail-{name}"
            path.unlink(missing_ok=True)
            if chance.random() < 0.3:
                path.touch()
        self.kills = chance.random() < 0.5
        (self.place.path / "kill").unlink(missing_ok=True)
        if self.kills:
            (self.place.path / "kill").touch()
        if self.is_interrupted:
            self.decide()
        elif flow.is_over or chance.random() < 0.4:
            self.jump()
        elif flow.is_started:
            word = chance.choice(["pass", "fail"])
            before = flow.at
            flow.leave(word)
            answered = self.place.run("answer", before, word)
            assert answered.code == 0, answered.err
            self.proceed("resume")
        else:
            self.override()

    def decide(self) -> None:
        """Assume an outcome for the interrupted command, or run it again."""
        self.acted, self.is_interrupted = True, False
        word = self.chance.choice(["pass", "fail", ""])
        if word:
            self.flow.leave(word, is_assumed=True)
            self.proceed("resume", "--assume", word)
        else:
            self.flow.is_started = False
            self.proceed("resume", "--rerun-interrupted")

    def jump(self) -> None:
        """Go to a step: refused if a rule forbids it."""
        flow, name = self.flow, self.chance.choice([one.id for one in self.made.nodes if one.id.isdigit()])
        if flow.is_over and flow.at == "COMPLETE":
            return
        self.acted = True
        before = len(self.place.records())
        result = self.place.run("goto", name)
        broken = Flow(self.made, name, flow.trace).broken(Flow(self.made, name).next_event)
        assert result.code == (2 if broken else 0), (result.err, flow)
        if broken:
            assert len(self.place.records()) == before
            return
        flow.at, flow.is_started = name, False
        self.proceed("resume")

    def override(self) -> None:
        """Let the held event pass, with all rules that hold it."""
        flow, self.acted = self.flow, True
        broken = flow.broken(flow.next_event)
        flow.trace.append(Happened(flow.next_event, opens=False))
        flow.is_started = True
        words = [word for name in broken for word in ("--override", name)]
        if flow.at not in ("COMPLETE", "STOP") and not isinstance(self.made.index()[flow.at].task, Ask):
            if self.kills:
                self.kills, self.is_interrupted = False, True
                assert self.place.run("resume", *words, "--note", "so").code == -9
                return
            flow.leave("fail" if (self.place.path / f"fail-{flow.at}").exists() else "pass")
        self.proceed("resume", *words, "--note", "so")


def try_at_random(seed: int, lay: Callable[[Program], Driven], actions: int) -> None:
    """Run a random program with random actions, and compare each stop with the model."""
    trial = Trial(seed, lay)
    trial.proceed("run")
    for _ in range(actions):
        trial.act()
