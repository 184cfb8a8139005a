"""A run: the loop that does one step after the other and records each before it goes on."""

import functools
import json
import os
import shlex
import sys
import time
import types
from collections.abc import Sequence
from typing import Any, Callable, Optional

from runtime_shim.engine.display import Display, question
from runtime_shim.engine.journal import Record
from runtime_shim.engine.lifecycle import Done, Extension, Host, Performer, Waiting
from runtime_shim.engine.program import EXIT_COMPLETE, EXIT_INTERRUPTED, EXIT_STOP, EXIT_WAITING, RefusedError, Table
from runtime_shim.engine.signals import Interrupted, Signals
from runtime_shim.engine.state import (
    ENDED,
    FORMAT,
    OURS,
    State,
    Store,
    differences,
    identified,
    utc_now,
    without_places,
)
from runtime_shim.engine.telling import Telling
from runtime_shim.engine.texts import duration, one_line, word_of
from runtime_shim.engine.walk import Move, advance, follow


class Session(Telling):
    """One call of a program: what the operator wants, the state that is kept, and the run that it is about."""

    signals: Signals
    answers: Any = ("", ())  # the digest of the file of answers, and what is left of it

    def __init__(
        self,
        program: Table,
        options: types.SimpleNamespace,
        display: Display,
        kinds: Sequence[type[Extension]],
        host: Host = Host(),  # noqa: B008 (it never changes)
    ) -> None:
        self.program, self.options, self.display, self.host = program, options, display, host
        self.kinds = {task: performer for kind in kinds for task, performer in kind.performers.items()}
        self.extensions, self.at = [kind(self) for kind in kinds], functools.cache(self._at)
        for prepare in self.at("prepare"):
            prepare()
        directory = (options.state_dir or os.path.join(OURS, program["name"])).rstrip("/") or "/"
        self.store = Store(directory, {"", *(kind.mode for kind in kinds)})
        self.is_interactive = display.is_terminal and sys.stdin.isatty()
        doing = [name for name, node in program["nodes"].items() if node["task"] in self.kinds]
        self.places = {name: f"{place}/{len(doing)}" for place, name in enumerate(doing, start=1)}
        self._began, self._done = time.monotonic(), 0
        self.identity = functools.cache(lambda: identified(program, self.through("identify", without_places(program))))

    def _at(self, moment: str) -> list[Callable[..., Any]]:
        """Return what the extensions do at a moment: their methods of this name, in order."""
        return [getattr(one, moment) for one in self.extensions if hasattr(one, moment)]

    def through(self, moment: str, value: Any, *about: object) -> Any:  # noqa: ANN401 (whatever they change)
        """Return what the extensions make of a value, one after the other."""
        for change in self.at(moment):
            value = change(*about, value)
        return value

    def gathered(self, moment: str, *about: object) -> list[Any]:
        """Return all that the extensions say of something."""
        return [each for say in self.at(moment) for each in say(*about)]

    def call(self, *words: str) -> str:
        """Return the command with which the operator calls a subcommand."""
        for called in self.at("call"):
            if instead := called(words):
                return str(instead)
        place: tuple[str, ...] = ("--state-dir", self.options.state_dir) if self.options.state_dir else ()
        for repeat in self.at("repeat"):
            place = repeat(words[0])
        return f"{self.options.prog} {' '.join(map(shlex.quote, [*words, *place]))}"

    def mask(self, text: str) -> str:
        """Return a text without what must not be kept or sent."""
        return str(self.through("mask", text))

    def told(self, done: Done, text: str) -> Done:
        """Return an outcome to which a text belongs."""
        for tell in self.at("told"):
            done = tell(done, text)
        return done

    # --- The state ---

    def alone(self) -> None:
        """Keep every other run away until this process ends."""
        if self.options.command != "run" and not os.path.exists(self.store.path):
            self.read()
        self.store.lock()

    def is_same(self, state: State) -> bool:
        """Tell whether a state belongs to this version of the program (R4)."""
        return bool(self.identity()["program"] == state.program)

    def read_state(self) -> Optional[State]:
        """Read the state without changing anything on disk."""
        state = self.store.read()
        for look in self.at("read") if state is not None else ():
            look(state)
        return state

    def read(self, begins: bool = False) -> Optional[State]:
        """Read the state; refuses that of another program (R4), and to begin beside a run."""
        old, about = self.read_state(), self.program
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
            choices = [f"to resume it:   {again}"] if old.node in self.places else []
            raise RefusedError(*choices, reset, f"an unfinished run stands at {old.node}{version}")
        if old.condition not in ENDED:
            raise self.of_another_version(old)
        return old

    def of_another_version(self, old: State) -> RefusedError:
        """Say what differs between the version of a run and this one."""
        how = f"to resume with this version all the same: {self.call('resume', '--adopt')}"
        found = differences(old.nodes, self.identity()["nodes"])
        return RefusedError(*found, how, "this run belongs to a different version of this program")

    def adopt(self) -> None:
        """Go on with another program than the run began with (R4), with counters and texts that both have."""
        old, new, condition = self.state.registers, self.program["registers"], self.state.condition
        if self.state.node not in self.places:
            raise RefusedError(f"the run stands at {self.state.node}, which this program does not have")
        if not self.performers[self.state.node].recovers:
            condition = "waiting"
        kept = {name: old[name] for name in {*new} & {*old} if isinstance(old[name], int) == isinstance(new[name], int)}
        stand = {"time": utc_now(), "condition": condition, "registers": {**new, **kept}}
        self.record({"kind": "adopt", **self.identity(), **stand})

    def beside(self) -> dict[str, str]:
        """Return what lies beside the journal and is archived with it, with the endings of the names there."""
        return {path: ending for look in self.at("beside") for path, ending in look().items()}

    def archive(self, name: str) -> str:
        """Archive the journal under a name, with what lies beside it."""
        return self.store.archive(name, self.beside())

    # --- The run ---

    def take(self, state: Optional[State] = None) -> None:
        """Be about a run, a new one if none is given; signals are held back from here on."""
        for prepare in self.at("before_run"):
            prepare(state)
        self.signals = Signals()
        self.display.gives_up = self.signals.has_come
        with self.signals.listening():  # a person is asked for inputs
            self.state = state or State(self._first_record())
        tasks = {name: self.program["nodes"][name]["task"] for name in self.places}
        performers = {task: self.kinds[task](self) for task in sorted(set(tasks.values()))}
        self.performers: dict[str, Performer] = {name: performers[task] for name, task in tasks.items()}
        self.ask = functools.partial(question, self.display, self.signals)
        with self.signals.listening():  # a pipe is waited for until its other end is opened
            for look in self.at("open"):
                look()
            if self.options.events is not None and not self.options.dry_run:
                self._events = os.open(self.options.events, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)

    def _first_record(self) -> Record:
        registers = {**self.program["registers"]}
        for look in self.at("registers"):
            registers.update(look())
        move = follow(self.program, {"go": self.program["entry"]}, registers)
        run = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.urandom(4).hex()}"
        where = {
            "time": utc_now(),
            "cwd": os.getcwd(),
            "registers": dict(move.registers),
            "node": move.node,
        }
        version = {"format": FORMAT, "edition": self.host.edition}
        record = {"kind": "begin", **version, "run": run, **self.identity(), **where, **self.stand(move)}
        found: Record = self.through("record", record)
        return found

    def is_over(self, name: str) -> bool:
        """Tell whether a call ends at a step: it is for another call, which names it (rule 1)."""
        return self.options.only is not None and name not in self.options.only

    def stand(self, move: Move, before: Optional[State] = None, begins: bool = True) -> Record:
        """Say what a run does where it moved."""
        node = self.program["nodes"][move.node]
        if node["task"] == "end":
            return {"condition": node["result"], "message": self.filled(node, "message", move.registers)}
        stand: Record = {"condition": "running" if begins and not self.is_over(move.node) else "ready"}
        if not self.kinds[node["task"]].recovers:
            stand["condition"] = "waiting"
        found: Record = self.through("stand", stand, move, before)
        return found

    def record(self, record: Record, sync: bool = True) -> None:
        """Write a record to the journal and take it into account."""
        record = self.through("record", record)
        self.store.append(record, sync)
        self.state.apply(record)
        try:
            for follow_up in self.at("written"):
                follow_up(record)
        except OSError:
            if record["kind"] == "done":  # what the run has just come to has not begun
                self.rest()
            raise

    def emit(self, event: str, is_between: bool = False, **fields: object) -> None:
        """Append an event for machines."""
        fields = {"step" if key == "node" else key: value for key, value in fields.items()}
        try:
            for tell in self.at("event"):
                tell(event, fields)
            if self.options.events is not None:
                about = {"event": event, "time": utc_now(), "run": self.state.begin["run"], **fields}
                self.display.put(json.dumps(self.through("record", about)) + "\n", self._events)
        except OSError as error:
            if is_between:
                self.rest()
            if error.filename:
                raise
            raise RefusedError(f"{self.options.events}: cannot write the event {event}: {error.strerror}") from None

    def go(self, resumed: bool) -> int:
        """Walk to an end, or as far as possible, and return the exit code (R3)."""
        state = self.state
        for look in self.at("resumed") if resumed else ():
            look()
        self.emit("run_started", not resumed, name=self.program["name"], resumed=resumed)
        try:
            if resumed and state.condition == "running":
                self._take_up(state.node)
            while state.condition not in ENDED:
                if self.is_over(state.node):
                    step = f"step {' '.join(self.options.PLACE)} is completed"
                    self.display.rule(step if self.options.PLACE else f"run {state.begin['run']} is open")
                    return EXIT_COMPLETE
                self._do_next(state.node)
        except Waiting as reason:
            for look in self.at("waits"):
                look()
            return self._leave("waiting", EXIT_WAITING, *reason.args)
        except Interrupted:
            return self._leave("interrupted", EXIT_INTERRUPTED, f"to continue: {self.call('resume')}")
        return self._finish()

    def _finish(self) -> int:
        """Say how a run has ended."""
        for look in self.at("end"):
            look()
        state, done = self.state, self._done
        self.emit("run_finished", result=state.condition, message=state.message)
        if done:
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
            self.display.started(self.places[name], self.label(name), ["interrupted"])
            self.settle(name, done, 0.0)

    def _do_next(self, name: str, again: bool = False) -> None:
        self.heed()
        node, about, begun = self.program["nodes"][name], self.about(name), time.monotonic()
        details = [f"instance {'.'.join(map(str, about['instances'].values()))}"] if about["instances"] else []
        details += [f"attempt {about['attempt']}"] if about["attempt"] > 1 else []
        self.come_into(node.get("group", ""))
        self.display.started(self.places[name], self.label(name), details)
        self.emit("step_started", True, **about)
        perform = self.performers[name].perform
        for look in self.at("before_step"):
            perform = look(name) or perform
        if again or (self.state.condition != "running" and self.performers[name].recovers):
            self.record({"kind": "resume", "condition": "running", "time": utc_now()})
        done = perform(name, node)
        self._done += 1
        self.settle(name, done, time.monotonic() - begun)

    def settle(self, name: str, done: Done, seconds: float, begins: bool = True) -> None:
        """Record an outcome and where the run goes: one record (R1)."""
        move = advance(self.program, name, self.state.registers, done.outcome, done.verbs)
        result = {**self.about(name), "outcome": done.outcome, "how": done.how, "says": move.says}
        result.update(seconds=round(seconds, 3), next=move.node)
        stand = self.stand(move, self.state, begins and self.store.is_there())
        word = word_of(self.program["nodes"][name], done.outcome)
        try:
            self.record({"kind": "done", **result, "changed": move.changed, **stand, **(done.note or {})})
        except RefusedError as error:
            raise self._unrecorded(name, done.outcome, word, error) from None
        details = ", ".join(filter(None, [done.how, duration(seconds), one_line(move.says)]))
        self.display.line(f"    {self.display.paint(word, done.outcome)}  {self.display.paint(details, 'dim')}")
        self.emit("step_finished", True, **result)
        self.tell_passed(move)
        for look in self.at("after_step"):
            look(move)

    def _unrecorded(self, name: str, outcome: str, word: str, error: RefusedError) -> RefusedError:
        """Say what can be done about an outcome that is not on disk."""
        ended = f"{self.label(name)} ended with {word}"
        if not self.store.is_there():
            return self._vanished(f"{ended}, and this is lost: {error}")
        recovers = self.performers[name].recovers
        again = self.call("resume", "--assume", outcome) if recovers else self.call("answer", name, word.lower())
        return RefusedError(f"{ended}, but this could not be recorded ({error}); make room, then: {again}")

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
