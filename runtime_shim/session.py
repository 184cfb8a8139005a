"""A run: the loop that does one unit after the other and records each before it goes on."""

import argparse
import os
import shlex
import sys
import time
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Callable, NamedTuple, Optional

from runtime_shim.answers import Answers
from runtime_shim.dialog import question, word_of
from runtime_shim.display import Display, clean, duration, one_line
from runtime_shim.events import Events
from runtime_shim.journal import Journal, Record, VanishedError
from runtime_shim.program import (
    EXIT_COMPLETE,
    EXIT_INTERRUPTED,
    EXIT_STOP,
    EXIT_WAITING,
    RefusedError,
    Table,
    program_hash,
    unit_digests,
)
from runtime_shim.signals import Interrupted, Signals
from runtime_shim.state import ENDED, State, utc_now
from runtime_shim.walk import (
    VERBS,
    Move,
    Registers,
    Verbs,
    advance,
    attempt_of,
    enter,
    filled,
    instances_of,
    nested_end,
)

RECENT = 12  # units that are told, if there are more


class Done(NamedTuple):
    """What came of a unit: its outcome, how it came about, and notes for the journal."""

    outcome: str
    how: str
    note: Optional[Record] = None
    verbs: Verbs = VERBS  # what the effects of its edge mean, where they have to do with more than counters


class Waiting(BaseException):
    """No error: the run cannot go on before somebody decides; the arguments say how, a line each."""


class Performer:
    """Does the units of one kind of task. A module that knows a kind adds its class to PERFORMERS."""

    keys: tuple[str, ...] = ("prompt", "block")  # the texts that say what a unit does
    recovers = False  # whether a unit can be interrupted half done, so that somebody must decide (R2)

    def __init__(self, session: "Session") -> None:
        self.session = session

    def perform(self, name: str, unit: Table) -> Done:
        """Do a unit."""
        raise NotImplementedError

    def rehearse(self, _name: str, _unit: Table) -> Done:
        """Say what would come of a unit, without doing it."""
        return Done("pass", "assumed")

    def recover(self, _name: str) -> Optional[Done]:
        """Decide about a unit that was interrupted; None to run it again."""
        return None

    @staticmethod
    def running(_notes: list[Record]) -> list[Record]:
        """Return the processes of a unit that was interrupted which go on without the run."""
        return []

    @staticmethod
    def replies(unit: Table) -> list[str]:
        """Return the replies with which a unit that waits is answered."""
        return [] if PERFORMERS[unit["task"]].recovers else ["pass", "fail"]

    @staticmethod
    def names(name: str, _unit: Table) -> list[str]:
        """Return the names under which a unit that waits is answered."""
        return [name]

    def given(self, name: str, reply: str, _how: str) -> Optional[Done]:
        """Read the reply to a unit; None if the unit needs further ones."""
        raise RefusedError(f"{name} takes no answer such as {one_line(reply)}")


PERFORMERS: dict[str, type[Performer]] = {}
STANDS: list[Callable[[Table, Move, Optional[State], Record], Record]] = []  # what modules know of where a run stands
BEFORE: list[Callable[["Session", str], Optional[Done]]] = []  # what they do before a unit, or in its place
OPTIONS: list[Callable[[Table, dict[str, argparse.ArgumentParser]], None]] = []  # what they add to the command line
BEGINNINGS: list[Callable[[Table, argparse.Namespace], Registers]] = []  # what registers are given when a run begins
REPLIES: list[Callable[[str], str]] = []  # where they take the reply of an `answer` from
TELLS: list[Callable[[Done, str], Done]] = []  # what they make of an outcome that has a text
FACTS: list[Callable[[Table, State], Table]] = []  # what they tell of a run in its status


def told(done: Done, text: str) -> Done:
    """Return an outcome to which a text belongs."""
    for look in TELLS:
        done = look(done, text)
    return done


def call_of(options: argparse.Namespace, *words: str) -> str:
    """Return the command with which the operator calls a subcommand of this program."""
    place = ("--state-dir", options.state_dir) if options.state_dir else ()
    return f"{options.prog} {shlex.join([*words, *place])}"


def first_record(program: Table, given: Optional[Registers] = None) -> Record:
    """Return the record with which a run of a program begins, with what registers were given."""
    move = enter(program, program["entry"], {**program.get("registers", {}), **(given or {})})
    return {
        "kind": "begin",
        "format": 2,
        "run": f"{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}-{os.urandom(4).hex()}",
        "time": utc_now(),
        "name": program["name"],
        "source": program["source"],
        "program": program_hash(program),
        "units": unit_digests(program),
        "cwd": os.getcwd(),  # noqa: PTH109
        "registers": dict(move.registers),
        "node": move.node,
        **where_it_stands(program, move, None),
    }


def where_it_stands(program: Table, move: Move, before: Optional[State], begins: bool = True) -> Record:
    """Return the fields that say what a run does at the node to which it moved from a state."""
    unit = program["units"][move.node]
    if unit["task"] == "end":
        return {"condition": unit["result"], "message": filled(unit, unit.get("message", ""), move.registers)}
    doing = "running" if begins else "ready"
    stand: Record = {"condition": doing if PERFORMERS[unit["task"]].recovers else "waiting"}
    for look in STANDS:
        stand = look(program, move, before, stand)
    return stand


class Session:
    """One run of a program by one process, which holds the lock."""

    def __init__(
        self, program: Table, options: argparse.Namespace, display: Display, signals: Signals, state: State
    ) -> None:
        self.program = program
        self.options = options
        self.display = display
        self.signals = signals
        self.state = state
        self.journal: Optional[Journal] = None
        self.is_interactive = display.is_terminal and sys.stdin is not None and sys.stdin.isatty()
        tasks = {unit["task"] for unit in program["units"].values()}
        self._performers = {task: PERFORMERS[task](self) for task in sorted(tasks & PERFORMERS.keys())}
        doing = [name for name, unit in program["units"].items() if unit["task"] in PERFORMERS]
        self._places = {name: f"{place}/{len(doing)}" for place, name in enumerate(doing, start=1)}
        self.answers: Optional[Answers] = None
        with signals.listening():  # a pipe is waited for until its other end is opened
            if options.answers is not None:
                self.answers = Answers(options.answers, program["units"], state.used)
            self.events = Events(options.events, state.begin["run"], signals.has_come)
        if self.answers is not None and self.answers.is_another:
            display.rule(f"{options.answers}: not the answers used before; all of its lines count as unused")
        self._began = time.monotonic()
        self._done = 0
        self._group: Optional[str] = None

    @property
    def folder(self) -> Path:
        """The state directory, wherever the run has gone since it began."""
        if self.journal is None:
            raise RefusedError("nothing is recorded in a dry run")
        return self.journal.folder

    def filled(self, unit: Table, key: str) -> str:
        """Return a text of a unit, whole."""
        return filled(unit, unit.get(key, ""), self.state.registers)

    def call(self, *words: str) -> str:
        """Return the command with which the operator calls a subcommand of this program."""
        return call_of(self.options, *words)

    def label(self, name: str) -> str:
        """Return a unit's name and title as people read them."""
        unit = self.program["units"][name]
        return one_line(f"{name} {filled(unit, unit['title'], self.state.registers)}")

    def texts(self, unit: Table, key: str) -> list[str]:
        """Return a text of a unit as the lines in which it is shown."""
        return [f"    {line}".rstrip() for line in clean(self.filled(unit, key)).strip("\n").splitlines()]

    def ask(self, text: str, choices: str) -> Optional[str]:
        """Put a question to the person at the terminal."""
        return question(self.display, self.signals, text, choices)

    def performer(self, name: str) -> Performer:
        """Return what does a unit."""
        return self._performers[self.program["units"][name]["task"]]

    def record(self, record: Record, sync: bool = True) -> None:
        """Write a record to the journal and take it into account."""
        if self.journal is not None:
            self.journal.append(record, sync)
        self.state.apply(record)

    def go(self, resumed: bool) -> int:
        """Walk to an end, or as far as possible, and return the exit code (R3)."""
        tell = self.events.emit if resumed else self._tell  # a unit that was interrupted has begun
        tell("run_started", name=self.program["name"], resumed=resumed)
        try:
            if resumed:
                self._take_up()
            while self.state.condition not in ENDED:
                self._do_next()
        except Waiting as reason:
            return self._leave("waiting", EXIT_WAITING, *reason.args)
        except Interrupted:
            return self._leave("interrupted", EXIT_INTERRUPTED, f"to go on: {self.call('resume')}")
        return self.end()

    def settle(self, name: str, done: Done, seconds: float, begins: bool = True) -> None:
        """Record the outcome of a unit together with where the run goes from there: one record (R1)."""
        move = advance(self.program, name, self.state.registers, done.outcome, done.verbs)
        about = self._about(name)
        result = {
            "outcome": done.outcome,
            "how": done.how,
            "says": move.says,
            "seconds": round(seconds, 3),
            "next": move.node,
        }
        begins = begins and (self.journal is None or self.journal.is_there())
        stand = where_it_stands(self.program, move, self.state, begins)
        word = word_of(self.program["units"][name], done.outcome)
        try:
            self.record({"kind": "done", **about, **result, "changed": move.changed, **stand, **(done.note or {})})
        except VanishedError as error:
            raise self._vanished(f"{self.label(name)} ended with {word}, and this is lost: {error}") from None
        except RefusedError as error:
            ended = f"{self.label(name)} ended with {word}, but this could not be recorded ({error})"
            recovers = self.performer(name).recovers
            again = ("resume", "--assume", done.outcome) if recovers else ("answer", name, word.lower())
            raise RefusedError(f"{ended}; make room, then: {self.call(*again)}") from None
        details = (done.how, duration(seconds), one_line(move.says))
        self.display.finished(word, done.outcome, [text for text in details if text])
        self._tell("unit_finished", **about, **result)
        for passed in move.passed:
            unit = self.program["units"][passed]
            if unit["task"] == "end":
                message = filled(unit, unit.get("message", ""), move.registers)
                self.display.line("    " + one_line(f"{nested_end(passed, unit)} {message}"))

    def end(self) -> int:
        """Say how the run ended."""
        state = self.state
        message = one_line(state.message)
        self.events.emit("run_finished", result=state.condition, message=state.message)
        if self._done:
            units = "1 unit" if self._done == 1 else f"{self._done} units"
            self.display.line(f"{units} run in {duration(time.monotonic() - self._began)}")
        self.display.rule(f"{state.condition.upper()} {message}".rstrip())
        return EXIT_COMPLETE if state.condition == "complete" else EXIT_STOP

    def _take_up(self) -> None:
        name, condition = self.state.node, self.state.condition
        if condition == "running":
            done = self.performer(name).recover(name)
            if done is not None:
                self.display.started(self._places[name], self.label(name), ["interrupted"])
                self.settle(name, done, 0.0)
                return
            self._begin()

    def _begin(self) -> None:
        self.record({"kind": "resume", "condition": "running", "time": utc_now()})

    def _do_next(self) -> None:
        name = self.state.node
        self.heed()
        about = self._about(name)
        instances = ".".join(map(str, about["instances"].values()))
        details = [f"instance {instances}"] if instances else []
        if about["attempt"] > 1:
            details.append(f"attempt {about['attempt']}")
        self._show_group(self.program["units"][name])
        self.display.started(self._places[name], self.label(name), details)
        self._tell("unit_started", **about)
        begun = time.monotonic()
        done = next(filter(None, (look(self, name) for look in BEFORE)), None)
        if self.state.condition == "ready" or (self.state.condition == "waiting" and self.performer(name).recovers):
            self._begin()
        if done is None:
            done = self.performer(name).perform(name, self.program["units"][name])
        self._done += 1
        self.settle(name, done, time.monotonic() - begun)

    def heed(self) -> None:
        """Begin no unit when the run was told to end, or when its state has vanished."""
        if self.signals.has_come():
            self.rest()
            raise Interrupted
        if self.journal is not None and not self.journal.is_there():
            with suppress(VanishedError):  # a folder that was moved away shall say so
                self.rest()
            raise self._vanished(f"{self.journal.loss}; {self.label(self.state.node)} was not begun")

    def _tell(self, event: str, **fields: object) -> None:
        """Emit an event between two units: if it cannot be written, the next unit has not begun."""
        try:
            self.events.emit(event, **fields)
        except RefusedError:
            self.rest()
            raise

    def rest(self) -> None:
        """Record that the unit at which the run stands has not begun: nobody need decide about it."""
        if self.state.condition == "running":
            self.record({"kind": "rest", "condition": "ready"})

    def _vanished(self, reason: str) -> VanishedError:
        """Say what is known of a run without state, for the person who has to begin it anew."""
        units, finished = self.program["units"], self.state.finished
        told = [f"{record['unit']} {word_of(units.get(record['unit'], {}), record['outcome'])}" for record in finished]
        done = f"what had finished before: {', '.join(told[-RECENT:])}"
        return VanishedError(*[done][: len(told)], reason)

    def _show_group(self, unit: Table) -> None:
        """Show what a step with substeps says when the run comes into it."""
        group = unit.get("group")
        if group and group != self._group:
            step = self.program["groups"][group]
            self.display.line(self.display.paint(one_line(f"{group} {' '.join(self.texts(step, 'title'))}"), "bold"))
            for line in self.texts(step, "prompt"):
                self.display.line(self.display.paint(line, "dim"))
        self._group = group

    def _about(self, name: str) -> Record:
        unit, registers = self.program["units"][name], self.state.registers
        return {
            "unit": name,
            "title": filled(unit, unit["title"], registers),
            "attempt": attempt_of(unit, registers),
            "instances": instances_of(unit, registers),
        }

    def _leave(self, how: str, code: int, *hints: str) -> int:
        self.events.emit(f"run_{how}", unit=self.state.node)
        for hint in hints:
            self.display.rule(hint)
        self.display.rule(f"{how.upper()} {self.label(self.state.node)}")
        return code

    def adopt(self) -> None:
        """Go on with a program that is not the one the run began with (R4)."""
        node, old, condition = self.state.node, self.state.registers, self.state.condition
        if node not in self._places:
            raise RefusedError(f"the run stands at {node}, which this program does not have")
        if not self.performer(node).recovers:
            condition = "waiting"
        elif condition == "waiting":  # it asked, and is a command now, which has not begun
            condition = "ready"
        registers = {**self.program.get("registers", {})}
        for name, new in registers.items():
            if isinstance(old.get(name, new), int) == isinstance(new, int):  # it is a counter, or a text, in both
                registers[name] = old.get(name, new)
        self.record(
            {
                "kind": "adopt",
                "time": utc_now(),
                "condition": condition,
                "registers": registers,
                "name": self.program["name"],
                "source": self.program["source"],
                "program": program_hash(self.program),
                "units": unit_digests(self.program),
            }
        )
