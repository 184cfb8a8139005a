"""A run: the loop that runs one step after another and records each before the next."""

import functools
import os
import shlex
import sys
import time
from collections.abc import Sequence
from typing import Any, Callable, ClassVar, TypeVar

from runtime_shim.engine.display import Display, duration, question
from runtime_shim.engine.journal import Record, to_json
from runtime_shim.engine.outcomes import ANY_HOST, AnsweredElsewhere, Done, Host, Waiting
from runtime_shim.engine.program import EXIT_COMPLETE, EXIT_INTERRUPTED, EXIT_STOP, EXIT_WAITING, Table, UsageError
from runtime_shim.engine.signals import Interrupted, Signals
from runtime_shim.engine.state import (
    ENDED,
    FORMAT,
    OURS,
    State,
    Store,
    differences,
    identified,
    matched,
    problem_with,
    renamed,
    utc_now,
    without_places,
)
from runtime_shim.engine.texts import clean, one_line, word_of
from runtime_shim.engine.walk import Move, Registers, advance, attempt_of, filled, follow, instances_of


class Part:
    """A part of the runtime during one call of a program."""

    def __init__(self, session: "Session") -> None:
        self.session = session


class Performer(Part):
    """Runs the steps of one kind of task."""

    keys: tuple[str, ...]  # the settings that describe a step
    recovers = True  # whether an interrupted step needs a decision

    def perform(self, name: str, node: Table) -> Done:
        """Run a step and return its outcome."""
        raise NotImplementedError

    def recover(self, _name: str) -> "Done | None":
        """Return the outcome of an interrupted step, or None to run it again."""
        return None

    def preview(self, _name: str, _node: Table) -> Done:
        """Return the likely outcome of a step without running it."""
        return Done("pass", "assumed")

    @staticmethod
    def replies(_node: Table) -> list[str]:
        """Return the replies that a waiting step takes."""
        return []

    @staticmethod
    def names(name: str, _node: Table) -> list[str]:
        """Return the names that answer a waiting step."""
        return [name]

    def facts(self, _name: str, _node: Table) -> Table:
        """Return facts for `current_step` that the step's settings don't have."""
        return {}

    def is_named(self, said: str, name: str, node: Table) -> bool:
        """Return whether a word from the operator names a waiting step."""
        return said in self.names(name, node)

    def given(self, name: str, reply: str, _how: str) -> "Done | None":
        """Return the outcome that a reply gives a step; None if the step needs more replies."""
        raise UsageError(f"{name} does not take the reply {one_line(reply)}")


Subcommands = dict[str, tuple[str, Callable[[Any], int]]]
Options = tuple[tuple[str, str, str, str], ...]
Performers = dict[str, type[Performer]]


class Extension(Part):
    """Takes part in runs: a session calls these methods of all extensions, in the order of its edition.

    An extension has only those methods that it needs. `identify`, `brought`, `reply`, `given`, `with_text`,
    `condition_after`, `record`, `mask` and `worded` return their last argument, possibly changed, and the next
    extension gets the result. In the order of a call, they return or do this:

    - `from_caller(program, options, command, display)`, static: the options of a call by other means than words.
    - `worded(text)`, static: a text in the caller's terms.
    - `enter()`: lock the run to answer it, instead of `Session.alone`.
    - `prepare()`: check the options. `identify(nodes)`: the identity of this version's steps.
    - `read(state)`: check or change a state after it is read.
    - `before_run(state)`: prepare a call about a run; the state is None for a new run.
    - `registers()`: initial registers of a run. `open()`: read and open the files that the run needs.
    - `answers_in(text, nodes)`: the answers in a file with a richer format than the usual one.
    - `brought(files)`: the files of answers of this call, with their digests.
    - `scope()`: the part of a run that a file of answers belongs to, "" for all of it.
    - `resumed()`: record the changes that a resume makes. `is_due()`: whether these ended the run.
    - `holds()`: wait instead of the next step. `allowed()`: let an event pass that holds the run.
    - `answered(answer)`: act after an agent, a tool or an executor has answered. `above()`: lines above a question.
    - `before_step(name)`: prepare a step; a function to run instead of it, or None.
    - `variables(node, registers)`: environment variables for a step's process.
    - `reply(reply)`: the reply that a word means. `given(done)`: the outcome of a reply.
    - `with_text(text, done)`: an outcome with the text that belongs to it.
    - `condition_after(move, before, stand)`: the condition of a run after a move.
    - `record(record)`: the record or event to write. `written(record)`: act after a record is on disk.
    - `event(event, fields)`: report an event to others; record nothing.
    - `after_step(move)`: act after a step is recorded. `waits()`: record that a run starts waiting.
    - `end()`: act when a run has ended. `decided()`: act after a decision; lines to show below it.
    - `mask(text)`: a text without secrets. `call(words)`: another command for a subcommand, or "".
    - `repeat(command)`: the words that later calls about this run repeat.
    - `hint()`: a suffix for the command that continues an answered run.
    - `again(state)`: commands that continue a run that has ended, each with its purpose.
    - `may_retry(state)`: whether the failed step can run again.
    - `choices(state, condition)`: such commands that answer the step, instead of the usual ones.
    - `facts(state)`: facts for the status of a run. `described(state, facts)`: the whole status.
    - `lines(facts, record)`: status lines below a step, or above all steps for None.
    - `output(number, name)`: the end of the log of the step that ended N-th.
    - `beside()`: other files to archive with the journal: path to extension of the new name.
    """

    commands: ClassVar[Subcommands] = {}  # the help and function of each subcommand
    options: Options = ()  # subcommands, name, value and help
    performers: ClassVar[Performers] = {}  # by kind of task
    needs: tuple[str, ...] = ()  # kinds of tasks and keys of programs: others do not use this part
    folders: tuple[str, ...] = ()  # directories to archive with the journal
    builder: Any = None  # makes the table of documents that use only its words
    reopens = False  # whether a failed run continues at the failed step
    mode = ""  # a mode of runs that only this part can continue

    @classmethod
    def suits(cls, program: Table) -> bool:
        """Return whether a program uses this part."""
        tasks = {node["task"] for node in program["nodes"].values()}
        return not cls.needs or any(need in tasks or program.get(need) for need in cls.needs)

    @staticmethod
    def complete(table: Table) -> None:
        """Add defaults to the table of a program."""


Kinds = Sequence[type[Extension]]
"""The extensions that suit a program, in the order of its edition."""

Value = TypeVar("Value")
NOT_PASSED = ("fail", "failed", "none", "invalid", "ambiguous")  # outcomes of commands and agents


class Session:
    """One call of a program: its options, its state directory, and its run.

    At many moments it calls the methods of its extensions, which `Extension` lists.
    """

    answers: Any = ("", ())  # digest of the file of answers, unused answers
    signals: Any = None
    lender, _group = "", ""  # who lends the lock of the run to this call; the group of the last step

    def __init__(self, program: Table, options: Any, display: Display, kinds: Kinds, host: Host = ANY_HOST) -> None:
        self.program, self.options, self.display, self.host = program, options, display, host
        self.kinds = {task: performer for kind in kinds for task, performer in kind.performers.items()}
        self.extensions = [kind(self) for kind in kinds]
        # The extensions' methods of a name, in order.
        self.at = functools.cache(lambda name: [getattr(one, name) for one in self.extensions if hasattr(one, name)])
        self.each("prepare")
        directory = (options.state_dir or os.path.join(host.home, OURS, program["name"])).rstrip("/") or "/"
        self.store = Store(directory, ("", *(kind.mode for kind in kinds)), bool(options.state_dir))
        self.is_interactive = display.is_terminal and sys.stdin.isatty()
        doing = [name for name, node in program["nodes"].items() if node["task"] in self.kinds]
        self.places = {name: f"{place}/{len(doing)}" for place, name in enumerate(doing, start=1)}
        self._began, self._done = time.monotonic(), 0
        self.identity = functools.cache(lambda: identified(program, self.through("identify", without_places(program))))
        if not options.state_dir or getattr(options, "as", None):
            host.moved(directory, self.identity)

    # --- The extensions ---

    def each(self, moment: str, *about: object) -> list[Any]:
        """Call a method of all extensions and return the results."""
        return [act(*about) for act in self.at(moment)]

    def gathered(self, moment: str, *about: object) -> list[Any]:
        """Return the items of all extensions' results in one list."""
        return [one for found in self.each(moment, *about) for one in found]

    def merged(self, moment: str, *about: object) -> Table:
        """Return the entries of all extensions' results in one table."""
        return {key: value for found in self.each(moment, *about) for key, value in found.items()}

    def through(self, moment: str, value: Value, *about: object) -> Value:
        """Pass a value through a method of all extensions, one after another."""
        for change in self.at(moment):
            value = change(*about, value)
        return value

    def call(self, *words: str) -> str:
        """Return the shell command for a subcommand of this program."""
        place = self.gathered("repeat", words[0]) or (("--state-dir", own) if (own := self.options.state_dir) else ())
        command = f"{self.options.prog} {' '.join(map(shlex.quote, [*words, *place]))}"
        return str(next(filter(None, self.each("call", words)), command))

    def mask(self, text: str) -> str:
        """Return a text without secrets."""
        return self.through("mask", text)

    def with_text(self, done: Done, text: str) -> Done:
        """Return an outcome with the text that belongs to it."""
        return self.through("with_text", done, text)

    # --- The state ---

    def alone(self) -> None:
        """Lock the state directory until this process ends."""
        if self.options.command != "run" and not os.path.exists(self.store.path):
            self.read()
        self.store.lock()

    def is_same(self, state: State) -> bool:
        """Return whether this version of the program made a state."""
        return bool(self.identity()["program"] == state.program)

    def read_state(self) -> "State | None":
        """Return the state, if any."""
        if (state := self.store.read()) is not None:
            self.each("read", state)
        return state

    def read(self, begins: bool = False) -> "State | None":
        """Return the state. Refuse that of another program, or to start beside an unfinished run."""
        old, about, reset = self.read_state(), self.program, f"to archive it:  {self.call('reset')}"
        if old is None and not (begins or self.options.command == "status"):
            where = "go to the folder where it started, or name its --state-dir"
            raise UsageError(f"no run has started here ({self.store.folder}); {where}")
        if old is None or (begins and old.condition in ENDED):
            return old
        is_same = self.is_same(old)
        mine, theirs = f"/{about['source']}", f"/{old.source}"
        if not (is_same or mine.endswith(theirs) or theirs.endswith(mine)):  # else the document or its root was moved
            found = f"{self.store.directory} has a run of {old.source} ({old.begin['run']})"
            raise UsageError(reset, f"{found}, not of {about['source']}; use --state-dir")
        if begins:
            choices = [] if self.unfit(old) else [f"to resume it:   {self.call('resume', *['--adopt'][is_same:])}"]
            version = "" if is_same else " of a different version of this program"
            raise UsageError(*choices, reset, f"an unfinished run{version} is at step {old.node}")
        if not (is_same or self.options.adopt or self.options.command == "status" or old.condition in ENDED):
            raise self.of_another_version(old)
        return old

    def of_another_version(self, old: State) -> UsageError:
        """Return the error for a run of another version, with the steps that differ."""
        verb = "retry" if self.options.command == "retry" else "resume"
        unfit, how = self.unfit(old), f"to {verb} with this version: {self.call(verb, '--adopt')}"
        how = f"{unfit}; restore the old version, or to archive it: {self.call('reset')}" if unfit else how
        found = differences(old.nodes, self.identity()["nodes"])
        return UsageError(*found, how, "this run belongs to a different version of this program")

    def names_in(self, state: State) -> dict[str, str]:
        """Return the names of a run's steps in this version; those of a specification never change."""
        mine: list[list[str]] = self.identity()["steps"]
        return {step[0]: step[0] for step in mine} if "stepspec" in self.program else matched(state.steps, mine)

    def unfit(self, state: State) -> str:
        """Return why this version of the program cannot continue a run, or ""."""
        if "stepspec" in self.program:
            is_known = state.node in self.places
            return "" if is_known else f"the run is at step {state.node}, which this program does not have"
        return problem_with(state, self.identity()["steps"], self.names_in(state))

    def adopt(self) -> None:
        """Continue a run with this version of the program, and keep the registers that both have."""
        state, new = self.state, self.program["registers"]
        if self.unfit(state):
            raise self.of_another_version(state)
        names = self.names_in(state)
        condition = state.condition if self.performers[names[state.node]].recovers else "waiting"
        old = {renamed(name, state, names): value for name, value in state.registers.items()}
        kept = {name: old[name] for name in {*new} & {*old} if isinstance(old[name], int) == isinstance(new[name], int)}
        now = {step[0]: names.get(step[0], f"{step[0]} (removed)") for step in state.steps}
        stand = {"time": utc_now(), "condition": condition, "registers": {**new, **kept}, "node": names[state.node]}
        self.record({"kind": "adopt", **self.identity(), **stand, "renamed": now})

    def beside(self) -> dict[str, str]:
        """Return the files to archive with the journal, each with its new extension."""
        return {**{name: name for each in self.extensions for name in each.folders}, **self.merged("beside")}

    # --- Texts for people, with the values of registers ---

    def filled(self, node: Table, key: str, registers: "Registers | None" = None) -> str:
        """Return a text of a step with its placeholders replaced."""
        return filled(node, node.get(key, ""), self.state.registers if registers is None else registers)

    def label(self, name: str) -> str:
        """Return a step's name and title on one line."""
        return one_line(f"{name} {self.filled(self.program['nodes'][name], 'title')}")

    def texts(self, node: Table, key: str) -> list[str]:
        """Return a text of a step as indented lines."""
        return [f"    {line}".rstrip() for line in clean(self.filled(node, key)).strip("\n").splitlines()]

    def about(self, name: str) -> Record:
        """Return the description of a step for records and events."""
        node, now = self.program["nodes"].get(name, {}), self.state.registers  # the program may have changed
        about = {"node": name, "title": self.filled(node, "title"), "attempt": attempt_of(node, now)}
        return {**about, "instances": instances_of(node, now)}

    def announce(self, name: str, *details: str) -> None:
        """Show the step that starts, after its group if that is a new one."""
        group = self.program["nodes"][name].get("group", "")
        if group not in ("", self._group):
            about = self.program["groups"][group]
            self.display.line(self.display.paint(one_line(f"{group} {self.filled(about, 'title')}"), "bold"))
            self.display.dim(self.texts(about, "prompt"))
        self._group, step = group, f"[{self.places[name]}] {self.display.paint(self.label(name), 'bold')}"
        self.display.line(f"{step} - {', '.join(details)}" if details else step)

    # --- The run ---

    def take(self, state: "State | None" = None) -> None:
        """Take up a run, or create one, and block signals from here on."""
        self.signals = self.signals or Signals()
        self.display.gives_up = self.signals.has_come
        with self.signals:  # questions and pipes can be interrupted
            self.each("before_run", state)
            self.state = state or State([self._first_record()])
            nodes, performer = self.program["nodes"], functools.cache(lambda task: self.kinds[task](self))
            self.performers: dict[str, Performer] = {name: performer(nodes[name]["task"]) for name in self.places}
            self.ask = functools.partial(question, self.display, self.signals)
            self.each("open")
            if self.options.events is not None and not self.options.dry_run:
                self._events = os.open(self.options.events, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)

    def _first_record(self) -> Record:
        """Return the first record of a run."""
        registers = {**self.program["registers"], **self.merged("registers")}
        move = follow(self.program, {"go": self.program["entry"]}, registers)
        run = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.urandom(4).hex()}"
        version = {"format": FORMAT, "edition": self.host.edition, "run": run, **self.identity()}
        where = {"time": utc_now(), "cwd": os.getcwd(), "registers": dict(move.registers), "node": move.node}
        return self.through("record", {"kind": "begin", **version, **where, **self.condition_after(move)})

    def is_over(self, name: str) -> bool:
        """Return whether this call ends before a step, which another call runs."""
        return self.options.only is not None and name not in self.options.only

    def condition_after(self, move: Move, before: "State | None" = None, begins: bool = True) -> Record:
        """Return the condition of a run after a move."""
        node = self.program["nodes"][move.node]
        if node["task"] == "end":
            return {"condition": node["result"], "message": self.filled(node, "message", move.registers)}
        is_begun = begins and not self.is_over(move.node)
        condition = ("ready", "running")[is_begun] if self.kinds[node["task"]].recovers else "waiting"
        return self.through("condition_after", {"condition": condition}, move, before)

    def record(self, record: Record, sync: bool = True) -> None:
        """Write a record to the journal and update the state."""
        record = self.through("record", {"time": utc_now(), **record})
        self.store.append(record, sync)
        self.state.apply(record)
        try:
            self.each("written", record)
        except OSError:
            if record["kind"] == "done":  # the next step has not started
                self.rest()
            raise

    def emit(self, event: str, is_between: bool = False, **fields: object) -> None:
        """Report an event to the extensions and append it to the events file."""
        fields = {"step" if key == "node" else key: value for key, value in fields.items()}
        try:
            self.each("event", event, fields)
            if self.options.events is not None:
                about = {"event": event, "time": utc_now(), "run": self.state.begin["run"], **fields}
                self.display.put(to_json(self.through("record", about)) + "\n", self._events)
        except OSError as error:
            if is_between:
                self.rest()
            if error.filename:
                raise
            raise UsageError(f"{self.options.events}: cannot write the event {event}: {error.strerror}") from None

    def go(self, resumed: bool) -> int:
        """Run steps to an end, or as far as possible, and return the exit code."""
        state = self.state
        if resumed:
            self.each("resumed")
        self.emit("run_started", not resumed, name=self.program["name"], resumed=resumed)
        try:
            if resumed and state.condition == "running":
                self._do_next(state.node, is_interrupted=True)
            while state.condition not in ENDED:
                if self.signals.has_come():
                    self.check_stop()
                if self.is_over(state.node):
                    step = f"step {' '.join(self.options.PLACE)} is completed"
                    self.display.rule(step if self.options.PLACE else f"run {state.begin['run']} is open")
                    return EXIT_COMPLETE
                self.each("holds")
                self._do_next(state.node)
        except Waiting as reason:
            self.each("waits")
            return self._leave("waiting", EXIT_WAITING, *reason.args)
        except Interrupted:
            return self._leave("interrupted", EXIT_INTERRUPTED, f"to continue: {self.call('resume')}")
        return self.finish()

    def finish(self) -> int:
        """Report the end of the run, and return the exit code."""
        self.each("end")
        self.emit("run_finished", result=self.state.condition, message=self.state.message)
        if done := self._done:
            self.display.line(f"{done} step{'s' * (done > 1)} run in {duration(time.monotonic() - self._began)}")
        self.display.rule(f"{self.state.condition.upper()} {one_line(self.state.message)}".rstrip())
        return EXIT_COMPLETE if self.state.condition == "complete" else EXIT_STOP

    def _leave(self, how: str, code: int, *hints: str) -> int:
        self.emit(f"run_{how}", node=self.state.node)
        self.display.rule(*hints, f"{how.upper()} {self.label(self.state.node)}")
        return code

    def _do_next(self, name: str, is_interrupted: bool = False) -> None:
        """Run a step; an interrupted one may need a decision first."""
        performer, begun = self.performers[name], time.monotonic()
        if is_interrupted and (decided := self.through("given", performer.recover(name))):
            self.announce(name, "interrupted")
            return self.settle(name, decided, 0.0)
        self.check_stop()
        about = self.about(name)
        details = [f"instance {'.'.join(map(str, about['instances'].values()))}"] if about["instances"] else []
        self.announce(name, *details, *([f"attempt {about['attempt']}"] if about["attempt"] > 1 else ()))
        self.emit("step_started", True, **about)
        perform = [performer.perform, *filter(None, self.each("before_step", name))][-1]
        if is_interrupted or (self.state.condition != "running" and performer.recovers):
            self.record({"kind": "resume", "condition": "running", "time": utc_now()})
        try:
            done = perform(name, self.program["nodes"][name])
        except AnsweredElsewhere:
            return None
        if self.state.condition == "running" and done.outcome in NOT_PASSED and self.signals.has_come():
            raise Interrupted  # it may not have failed by itself
        self._done += 1
        return self.settle(name, done, time.monotonic() - begun)

    def settle(self, name: str, done: Done, seconds: float, begins: bool = True) -> None:
        """Record an outcome and the move after it as one record."""
        move = advance(self.program, name, self.state.registers, done.outcome, done.verbs)
        result = {**self.about(name), "outcome": done.outcome, "how": done.how, "says": move.says}
        more = {key: value for key, value in (("remarks", done.remarks), ("settles", move.settled)) if value}
        result.update(seconds=round(seconds, 3), next=move.node, **more)
        is_there, word = self.store.is_there(), word_of(self.program["nodes"][name], done.outcome)
        after = self.condition_after(move, self.state, begins and is_there)
        ended = f"{self.label(name)} ended with {word}"
        try:
            self.record({"kind": "done", **result, "changed": move.changed, **after, **(done.note or {})})
        except UsageError as error:
            is_unknown = self.performers[name].recovers
            again = ("resume", "--assume", done.outcome) if is_unknown else ("answer", name, word.lower())
            how = f"free some space, then: {self.call(*again)}"
            raise UsageError(f"{ended}, but this could not be recorded ({error}); {how}") from None
        if not is_there:  # the record is in the moved directory
            raise self._lost(f"{ended}, but this is not recorded")
        details = ", ".join(filter(None, [done.how, duration(seconds), one_line(move.says)]))
        self.display.line(f"    {self.display.paint(word, done.outcome)}  {self.display.paint(details, 'dim')}")
        for remark in done.remarks:
            self.display.line(f"    {one_line(remark)}")
        self.emit("step_finished", True, **result)
        for inner in move.passed:
            if (node := self.program["nodes"][inner])["task"] == "end":  # of a nested document
                self.display.line("    " + one_line(f"{inner} {self.filled(node, 'message', move.registers)}"))
        self.each("after_step", move)

    def moved(self, name: str, move: Move, outcome: str, how: str) -> Record:
        """Return the record of a move that no run of the step decides, without its condition."""
        about = {"kind": "done", **self.about(name), "outcome": outcome, "how": how, "says": move.says}
        return {**about, "seconds": 0.0, "next": move.node, "time": utc_now(), "changed": move.changed}

    def check_stop(self) -> None:
        """Raise instead of starting a step if the run must stop or its state has vanished."""
        if self.signals.has_come():
            self.rest()
            raise Interrupted
        if not self.store.is_there():
            raise self._lost(f"{self.label(self.state.node)} was not started")

    def rest(self) -> None:
        """Record that the current step has not started, so no decision is needed."""
        if self.state.condition == "running" and not self.options.dry_run:
            self.record({"kind": "rest", "condition": "ready"})

    def _lost(self, what: str) -> UsageError:
        moved = f"if the directory was moved, move it back, then: {self.call('resume')}"
        lost = f"if it was deleted, start over: {self.call('run')}"
        reason = f"{self.store.directory} was removed or replaced during the run; {what}"
        return UsageError(moved, lost, "to keep it away from the run's commands, use --state-dir", reason)
