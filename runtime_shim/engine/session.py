"""A run: the loop that does one step after the other and records each before it goes on."""

import functools
import json
import os
import shlex
import sys
import time
import types
from typing import Any, Callable, NamedTuple, Optional

from runtime_shim.engine.dialog import question, word_of
from runtime_shim.engine.display import Display, clean, duration, one_line
from runtime_shim.engine.journal import Record
from runtime_shim.engine.late import load
from runtime_shim.engine.program import (
    EXIT_COMPLETE,
    EXIT_INTERRUPTED,
    EXIT_STOP,
    EXIT_WAITING,
    RefusedError,
    Table,
    differences,
    identified,
)
from runtime_shim.engine.signals import Interrupted, Signals
from runtime_shim.engine.state import ENDED, FORMAT, OURS, State, Store, utc_now
from runtime_shim.engine.walk import VERBS, Move, Registers, Verbs, advance, attempt_of, filled, follow, instances_of


class Done(NamedTuple):
    """What came of a step."""

    outcome: str
    how: str
    note: Optional[Record] = None
    verbs: Verbs = VERBS  # what the effects of its edge mean, where they have to do with more than counters


Perform = Callable[[str, Table], Done]


class Waiting(BaseException):
    """No error: the run cannot go on before somebody decides; the arguments say how, a line each."""


class Performer:
    """Does the steps of one kind of task. A module that knows a kind adds its class to PERFORMERS."""

    keys: tuple[str, ...]  # the texts that say what a step does
    recovers = True  # whether a step can be interrupted half done, so that somebody must decide (R2)

    def __init__(self, session: "Session") -> None:
        self.session = session

    def perform(self, name: str, node: Table) -> Done:
        """Do a step."""
        raise NotImplementedError

    def preview(self, _name: str, _node: Table) -> Done:
        """Say what would come of a step, without doing it."""
        return Done("pass", "assumed")

    def recover(self, name: str) -> Optional[Done]:
        """Decide about a step that was interrupted; None to run it again."""
        raise NotImplementedError

    @staticmethod
    def replies(_node: Table) -> list[str]:
        """Return the replies with which a step that waits is answered."""
        return []

    @staticmethod
    def names(name: str, _node: Table) -> list[str]:
        """Return the names under which a step that waits is answered."""
        return [name]

    def is_named(self, said: str, name: str, node: Table) -> bool:
        """Tell whether an operator's word names a step that waits."""
        return said in self.names(name, node)

    def given(self, name: str, reply: str, _how: str) -> Optional[Done]:
        """Read the reply to a step; None if the step needs further ones."""
        raise RefusedError(f"{name} takes no answer such as {one_line(reply)}")


PERFORMERS: dict[str, type[Performer]] = {}
BEGINNINGS: list[Callable[[Table, types.SimpleNamespace], Registers]] = []  # what registers a run begins with
OPENS: list[Callable[["Session"], None]] = []  # what modules read when a run is taken up
STANDS: list[Callable[[Table, Move, Optional[State], Record], Record]] = []  # what they know of where a run stands
ENTERS: list[Callable[["Session", Table], None]] = []  # what they show before a step is named
BEFORE: list[Callable[["Session", str], Optional[Perform]]] = []  # what they do before a step, or in its place
PASSES: list[Callable[["Session", Move], None]] = []  # what they show of the transition from a step to the next
TAKES: list[Callable[["Session", Optional[State]], None]] = []  # what they do before a run is taken up
RECORDS: list[Callable[["Session", Record], Record]] = []  # what they make of what is written down
EVENTS: list[Callable[["Session", str, Record], None]] = []  # what they do where something happens
WRITTEN: list[Callable[["Session", Record], None]] = []  # what they do once a record is on disk
HALTS: list[Callable[["Session"], str]] = []  # whether they end a call here, and what they say then
INSTEAD: list[Callable[["Session", tuple[str, ...]], str]] = []  # how else an operator calls the program
REPEATS: list[Callable[[types.SimpleNamespace, str], tuple[str, ...]]] = []  # the words that go on with a run
MASKS: list[Callable[[str], str]] = []  # what they take out of a text that is kept or sent
ENDS: list[Callable[["Session"], None]] = []  # what they do where a run has ended
TELLS: list[Callable[[Done, str], Done]] = []  # what they make of an outcome that has a text


def told(done: Done, text: str) -> Done:
    """Return an outcome to which a text belongs."""
    for look in TELLS:
        done = look(done, text)
    return done


def masked(text: str) -> str:
    """Return a text without what must not be kept."""
    for look in MASKS:
        text = look(text)
    return text


class Session:
    """One call of a program: what the operator wants, the state that is kept, and the run that it is about."""

    signals: Signals
    state: State
    answers: Any = None  # for: answered operator

    def __init__(self, program: Table, options: types.SimpleNamespace, display: Display) -> None:
        self.program, self.options, self.display = program, options, display
        self.store = Store((options.state_dir or os.path.join(OURS, program["name"])).rstrip("/") or "/")
        self.is_interactive = display.is_terminal and sys.stdin.isatty()
        doing = [name for name, node in program["nodes"].items() if node["task"] in PERFORMERS]
        self._places = {name: f"{place}/{len(doing)}" for place, name in enumerate(doing, start=1)}
        self._began, self._done, self.identity = time.monotonic(), 0, functools.cache(lambda: identified(program))

    def call(self, *words: str) -> str:
        """Return the command with which the operator calls a subcommand."""
        for called in INSTEAD:
            if instead := called(self, words):
                return instead
        place: tuple[str, ...] = ("--state-dir", self.options.state_dir) if self.options.state_dir else ()
        for repeat in REPEATS:
            place = repeat(self.options, words[0])
        return f"{self.options.prog} {' '.join(map(shlex.quote, [*words, *place]))}"

    def alone(self) -> None:
        """Keep every other run away until this process ends."""
        if self.options.command != "run" and not os.path.exists(self.store.path):
            self.read()
        self.store.lock()

    def is_same(self, state: State) -> bool:
        """Tell whether a state belongs to this version of the program (R4)."""
        return bool(self.identity()["program"] == state.program)

    def read(self, begins: bool = False) -> Optional[State]:
        """Read the state; refuses that of another program (R4), and to begin beside a run."""
        old, about = self.store.read(), self.program
        if old is None and not begins:
            raise RefusedError(f"no run has begun here ({self.store.directory}); begin one: {self.call('run')}")
        if old is None or (old.condition in ENDED if begins else self.options.adopt or self.is_same(old)):
            return old
        is_same, reset = self.is_same(old), f"to archive it:  {self.call('reset')}"
        again = self.call("resume", *["--adopt"][is_same:])
        key = "source" if old.source != about["source"] else "name"
        theirs, ours = getattr(old, key), about[key]
        if theirs != ours and not is_same:
            whose = f"the state in {self.store.directory} is that of {theirs} (run {old.begin['run']})"
            raise RefusedError(reset, f"{whose}, this is {ours}: use --state-dir, or archive it with reset")
        if begins:
            version = "" if is_same else ", of a different version of this program"
            choices = [f"to resume it:   {again}"] if old.node in self._places else []
            raise RefusedError(*choices, reset, f"an unfinished run stands at {old.node}{version}")
        if old.condition not in ENDED:
            found = differences(old.nodes, self.identity()["nodes"])
            how = f"to resume with this version all the same: {again}"
            raise RefusedError(*found, how, "this run belongs to a different version of this program")
        return old

    def take(self, state: Optional[State] = None) -> None:
        """Be about a run, a new one if none is given; signals are held back from here on."""
        is_resumed = state is not None and (state.condition == "running" or "mode" in state.begin)  # for: operator
        if is_resumed or self.is_interactive:  # for: operator
            load()
        for take in TAKES:
            take(self, state)
        self.state, self.signals = state or State(self._first_record()), Signals()
        self.display.gives_up = self.signals.has_come
        tasks = {name: self.program["nodes"][name]["task"] for name in self._places}
        performers = {task: PERFORMERS[task](self) for task in sorted(set(tasks.values()))}
        self.performers = {name: performers[task] for name, task in tasks.items()}
        self.ask = functools.partial(question, self.display, self.signals)
        with self.signals.listening():  # a pipe is waited for until its other end is opened
            for look in OPENS:
                look(self)
            if self.options.events is not None and not self.options.dry_run:
                self._events = os.open(self.options.events, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)

    def _first_record(self) -> Record:
        registers = {**self.program["registers"]}
        for look in BEGINNINGS:
            registers.update(look(self.program, self.options))
        move = follow(self.program, {"go": self.program["entry"]}, registers)
        run = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.urandom(4).hex()}"
        where = {"time": utc_now(), "cwd": os.getcwd(), "registers": dict(move.registers), "node": move.node}
        record = {"kind": "begin", "format": FORMAT, "run": run, **self.identity(), **where, **self._stand(move)}
        for write in RECORDS:
            record = write(self, record)
        return record

    def _stand(self, move: Move, before: Optional[State] = None, begins: bool = True) -> Record:
        """Say what a run does where it moved."""
        node = self.program["nodes"][move.node]
        if node["task"] == "end":
            return {"condition": node["result"], "message": self.filled(node, "message", move.registers)}
        stand: Record = {"condition": "running" if begins else "ready"}
        if not PERFORMERS[node["task"]].recovers:  # for: asked operator
            stand["condition"] = "waiting"
        for look in STANDS:
            stand = look(self.program, move, before, stand)
        return stand

    def adopt(self) -> None:
        """Go on with another program than the run began with (R4), with counters and texts that both have."""
        old, new, condition = self.state.registers, self.program["registers"], self.state.condition
        if self.state.node not in self._places:
            raise RefusedError(f"the run stands at {self.state.node}, which this program does not have")
        if not self.performers[self.state.node].recovers:  # for: asked operator
            condition = "waiting"
        kept = {name: old[name] for name in {*new} & {*old} if isinstance(old[name], int) == isinstance(new[name], int)}
        stand = {"time": utc_now(), "condition": condition, "registers": {**new, **kept}}
        self.record({"kind": "adopt", **self.identity(), **stand})

    def filled(self, node: Table, key: str, registers: Optional[Registers] = None) -> str:
        """Return a text of a step, whole."""
        text: str = node.get(key, "")
        if "placeholders" in node:  # for: placeholders
            text = filled(node, text, self.state.registers if registers is None else registers)
        return text

    def label(self, name: str) -> str:
        """Return a step's name and title as people read them."""
        return one_line(f"{name} {self.filled(self.program['nodes'][name], 'title')}")

    def texts(self, node: Table, key: str) -> list[str]:
        """Return a text of a step as the lines in which it is shown."""
        return [f"    {line}".rstrip() for line in clean(self.filled(node, key)).strip("\n").splitlines()]

    def record(self, record: Record, sync: bool = True) -> None:
        """Write a record to the journal and take it into account."""
        for look in RECORDS:
            record = look(self, record)
        self.store.append(record, sync)
        self.state.apply(record)
        for follow_up in WRITTEN:
            follow_up(self, record)

    def emit(self, event: str, is_between: bool = False, **fields: object) -> None:
        """Append an event for machines."""
        fields = {"step" if key == "node" else key: value for key, value in fields.items()}
        for tell in EVENTS:
            tell(self, event, fields)
        if self.options.events is None:
            return
        about = {"event": event, "time": utc_now(), "run": self.state.begin["run"], **fields}
        for look in RECORDS:
            about = look(self, about)
        try:
            self.display.put(json.dumps(about) + "\n", self._events)
        except OSError as error:
            if is_between:
                self.rest()
            raise RefusedError(f"{self.options.events}: cannot write the event {event}: {error.strerror}") from None

    def go(self, resumed: bool) -> int:
        """Walk to an end, or as far as possible, and return the exit code (R3)."""
        state = self.state
        self.emit("run_started", not resumed, name=self.program["name"], resumed=resumed)
        try:
            if resumed and state.condition == "running":
                self._take_up(state.node)
            while state.condition not in ENDED:
                for halts in HALTS:
                    if said := halts(self):
                        self.display.rule(said)
                        return EXIT_COMPLETE
                self._do_next(state.node)
        except Waiting as reason:
            return self._leave("waiting", EXIT_WAITING, *reason.args)
        except Interrupted:
            return self._leave("interrupted", EXIT_INTERRUPTED, f"to go on: {self.call('resume')}")
        for look in ENDS:
            look(self)
        self.emit("run_finished", result=state.condition, message=state.message)
        if done := self._done:
            self.display.line(f"{done} step{'s' * (done > 1)} run in {duration(time.monotonic() - self._began)}")
        self.display.rule(f"{state.condition.upper()} {one_line(state.message)}".rstrip())
        return EXIT_COMPLETE if state.condition == "complete" else EXIT_STOP

    def _leave(self, how: str, code: int, *hints: str) -> int:
        self.emit(f"run_{how}", node=self.state.node)
        for line in (*hints, f"{how.upper()} {self.label(self.state.node)}"):
            self.display.rule(line)
        return code

    def _take_up(self, name: str) -> None:
        """Go on at a step that was interrupted, as somebody decides."""
        done = self.performers[name].recover(name)
        if done is None:
            self._do_next(name, again=True)
        else:
            self.display.started(self._places[name], self.label(name), ["interrupted"])
            self.settle(name, done, 0.0)

    def _do_next(self, name: str, again: bool = False) -> None:
        self.heed()
        node, about, begun = self.program["nodes"][name], self._about(name), time.monotonic()
        details = [f"attempt {about['attempt']}"] if about["attempt"] > 1 else []
        if about["instances"]:  # for: variables
            details.insert(0, f"instance {'.'.join(map(str, about['instances'].values()))}")
        for enter in ENTERS:
            enter(self, node)
        self.display.started(self._places[name], self.label(name), details)
        self.emit("step_started", True, **about)
        perform: Perform = self.performers[name].perform
        for look in BEFORE:
            perform = look(self, name) or perform
        if again or (self.state.condition != "running" and self.performers[name].recovers):
            self.record({"kind": "resume", "condition": "running", "time": utc_now()})
        done = perform(name, node)
        self._done += 1
        self.settle(name, done, time.monotonic() - begun)

    def settle(self, name: str, done: Done, seconds: float, begins: bool = True) -> None:
        """Record an outcome and where the run goes: one record (R1)."""
        move = advance(self.program, name, self.state.registers, done.outcome, done.verbs)
        result = {**self._about(name), "outcome": done.outcome, "how": done.how, "says": move.says}
        result.update(seconds=round(seconds, 3), next=move.node)
        stand = self._stand(move, self.state, begins and self.store.is_there())
        word = word_of(self.program["nodes"][name], done.outcome)
        ended = f"{self.label(name)} ended with {word}"
        try:
            self.record({"kind": "done", **result, "changed": move.changed, **stand, **(done.note or {})})
        except RefusedError as error:
            if not self.store.is_there():
                raise self._vanished(f"{ended}, and this is lost: {error}") from None
            again = self.call("resume", "--assume", done.outcome)
            if not self.performers[name].recovers:  # for: asked operator
                again = self.call("answer", name, word.lower())
            raise RefusedError(f"{ended}, but this could not be recorded ({error}); make room, then: {again}") from None
        details = ", ".join(filter(None, [done.how, duration(seconds), one_line(move.says)]))
        self.display.line(f"    {self.display.paint(word, done.outcome)}  {self.display.paint(details, 'dim')}")
        self.emit("step_finished", True, **result)
        for look in PASSES:
            look(self, move)

    def heed(self) -> None:
        """Begin no step when the run was told to end, or when its state has vanished."""
        if self.signals.has_come():
            self.rest()
            raise Interrupted
        if not self.store.is_there():
            raise self._vanished(f"{self.store.loss}; {self.label(self.state.node)} was not begun")

    def rest(self) -> None:
        """Record that the step at which the run stands has not begun: nobody need decide about it."""
        if self.state.condition == "running" and not self.options.dry_run:
            self.record({"kind": "rest", "condition": "ready"})

    def _vanished(self, reason: str) -> RefusedError:
        """Say what can be done about a run without state."""
        return RefusedError(
            f"if the folder was moved, put it back, then: {self.call('resume')}",
            f"if it is lost, begin anew:                  {self.call('run')}",
            "to keep the state where no command of the run removes it, name another folder with --state-dir",
            reason,
        )

    def _about(self, name: str) -> Record:
        node, now = self.program["nodes"][name], self.state.registers
        about = {"node": name, "title": self.filled(node, "title"), "attempt": attempt_of(node, now), "instances": {}}
        about["instances"] = instances_of(node, now)  # for: variables
        return about
