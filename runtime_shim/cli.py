"""The command line of a program."""

import argparse
import errno
import json
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from functools import cached_property, partial
from pathlib import Path
from typing import Callable, NoReturn, Optional

from runtime_shim.dialog import BINARY, words_of
from runtime_shim.display import Display, clean
from runtime_shim.journal import Reading, VanishedError
from runtime_shim.output import put
from runtime_shim.program import (
    EXIT_COMPLETE,
    EXIT_INTERRUPTED,
    EXIT_REFUSED,
    RefusedError,
    Table,
    differences,
    naming,
    program_hash,
)
from runtime_shim.rehearsal import rehearse
from runtime_shim.report import describe, status_lines, steps_lines
from runtime_shim.session import BEGINNINGS, OPTIONS, PERFORMERS, REPLIES, Session, call_of, first_record
from runtime_shim.signals import Interrupted, Signals
from runtime_shim.state import ENDED, State, Store

NO_PLACE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ELOOP)


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        """Refuse wrong use."""
        raise RefusedError(f"{message} (see: {self.prog} --help)")


class Commandline:
    """The subcommands of a program, and what they share."""

    def __init__(self, program: Table, options: argparse.Namespace, display: Display) -> None:
        strange = {unit["task"] for unit in program["units"].values()} - {"branch", "end", *PERFORMERS}
        if strange:
            raise RefusedError(f"this program has units that nothing here can do: {', '.join(sorted(strange))}")
        self.program = program
        self.options = options
        self.display = display
        self._call = partial(call_of, options)
        self.store = Store(Path(options.state_dir or Path(".rdc", program["name"])))

    @cached_property
    def _hash(self) -> str:
        return program_hash(self.program)

    def execute(self) -> int:
        """Do what the subcommand says."""
        command: Callable[[], int] = getattr(self, self.options.command)
        with naming("the current folder"):
            os.getcwd()  # noqa: PTH109 (nothing can be done in one that was deleted)
        try:
            return command()
        except VanishedError as error:
            *details, reason = error.args
            raise RefusedError(
                *details,
                f"if the folder was moved, put it back, then: {self._call('resume')}",
                f"if it is lost, begin anew:                  {self._call('run')}",
                "to keep the state where no command of the run removes it, name another folder with --state-dir",
                reason,
            ) from None
        except OSError as error:
            if error.errno in NO_PLACE and self.store.involves(str(error.filename)):
                hint = "choose another place with --state-dir"
                raise RefusedError(f"{error.filename}: {error.strerror}; {hint}") from None
            raise

    def run(self) -> int:
        """Begin a run, unless one is under way."""
        if self.options.dry_run:
            return self._dry_run()
        with self._locked() as signals:
            old, reading = self.store.read()
            if old is not None and old.condition not in ENDED:
                self._check_document(old)
                is_same = old.program == self._hash
                words = ["resume", *([] if is_same else ["--adopt"]), *self._decision()]
                can_go_on = self.program["units"].get(old.node, {}).get("task") in PERFORMERS
                raise RefusedError(
                    *[f"to resume it:   {self._call(*words)}"][:can_go_on],
                    f"to archive it:  {self._call('reset')}",
                    f"an unfinished run stands at {old.node}"
                    + ("" if is_same else ", of a different version of this program"),
                )
            session = self._session(signals, self._beginning())
            if old is not None:
                self.store.archive(old.begin["run"])
                _, reading = self.store.read()
            session.journal = self.store.journal(reading)
            session.journal.append(session.state.begin)
            return session.go(resumed=False)

    def resume(self) -> int:
        """Go on with a run."""
        with self._locked() as signals:
            state, reading = self._known_state()
            session = self._session(signals, state)
            session.journal = self.store.journal(reading)
            os.chdir(state.begin["cwd"])  # M2: where the run was started from
            if state.condition not in ENDED and state.program != self._hash:
                session.adopt()
            return session.go(resumed=True)

    def answer(self) -> int:
        """Record the answer of the unit that waits."""
        unit, reply = self.options.unit, self.options.result
        for look in REPLIES:
            reply = look(reply)
        with self._locked() as signals:
            state, reading = self._known_state()
            if state.condition != "waiting":
                raise RefusedError("no unit waits for an answer")
            session = self._session(signals, state)
            performer = session.performer(state.node)
            if unit not in performer.names(state.node, self.program["units"][state.node]):
                raise RefusedError(f"{state.node} waits for an answer, {unit} does not")
            session.journal = self.store.journal(reading)
            done = performer.given(unit, reply, "answered")
            if done is not None:
                session.settle(state.node, done, 0.0, begins=False)
        self.display.rule(f"to go on: {self._call('resume')}")
        return EXIT_COMPLETE

    def status(self) -> int:
        """Say where the run stands."""
        state = None
        if self.store.path.exists():
            state, _ = self._known_state()
        facts = describe(self.program, state, self.store.is_busy(), self._call)
        if self.options.json:
            self._print([json.dumps(facts, indent=2)])
        else:
            self._print(status_lines(self.program, facts))
        return EXIT_COMPLETE

    def steps(self) -> int:
        """List the units."""
        self._print(steps_lines(self.program))
        return EXIT_COMPLETE

    def reset(self) -> int:
        """Archive a run, a damaged one too."""
        with self._locked():
            try:
                state, _ = self.store.read()
                name = state.begin["run"] if state is not None else "empty"
            except RefusedError:
                name = f"damaged-{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}"
            self.display.rule(f"the run was archived as {self.store.archive(name)}")
        return EXIT_COMPLETE

    def _dry_run(self) -> int:
        self.options.events = None
        with Signals() as signals:
            self.display.gives_up = signals.has_come
            session = self._session(signals, self._beginning())
        self._print(rehearse(session))
        return EXIT_COMPLETE

    def _beginning(self) -> State:
        given = {name: value for look in BEGINNINGS for name, value in look(self.program, self.options).items()}
        return State(first_record(self.program, given))

    def _session(self, signals: Signals, state: State) -> Session:
        return Session(self.program, self.options, self.display, signals, state)

    @contextmanager
    def _locked(self) -> Iterator[Signals]:
        if self.options.command != "run" and not self.store.path.exists():
            raise RefusedError(self._nothing())
        with Signals() as signals:
            self.display.gives_up = signals.has_come
            self.store.lock()
            try:
                yield signals
            finally:
                self.store.unlock()

    def _known_state(self) -> tuple[State, Reading]:
        """Read the state; refuses that of another program (R4)."""
        state, reading = self.store.read()
        if state is None:
            raise RefusedError(self._nothing())
        if state.program == self._hash or self.options.adopt:
            return state, reading
        self._check_document(state)
        if state.condition not in ENDED:
            raise RefusedError(
                *differences(state.units, self.program),
                f"to resume with this version all the same: {self._call('resume', '--adopt')}",
                "this run belongs to a different version of this program",
            )
        return state, reading

    def _check_document(self, state: State) -> None:
        """Refuse the state of another document: its runs are not this program's to go on with."""
        about = self.program
        if (state.source, state.name) != (about["source"], about["name"]) and state.program != self._hash:
            other, this = state.source, about["source"]
            if other == this:
                other, this = state.name, about["name"]
            raise RefusedError(
                f"to archive that run: {self._call('reset')}",
                f"the state in {self.store.directory} is that of {other} (run {state.begin['run']}), "
                f"this is {this}: use --state-dir, or archive it with reset",
            )

    def _nothing(self) -> str:
        return f"no run has begun here ({self.store.directory}); begin one: {self._call('run')}"

    def _decision(self) -> list[str]:
        """Return the options that decide about a unit that was interrupted, as they were given."""
        assume = ["--assume", self.options.assume] if self.options.assume else []
        return ["--rerun-interrupted"] if self.options.rerun_interrupted else assume

    def _print(self, lines: list[str]) -> None:
        encoding = sys.stdout.encoding or "utf-8"
        text = "".join(clean(line) + "\n" for line in lines)
        with naming("standard output"):
            put(sys.stdout, text.encode(encoding, "backslashreplace").decode(encoding), lambda: False)


def command_name() -> str:
    """Return the words by which this program was called."""
    script = sys.argv[0]
    direct = "/" in script and os.access(script, os.X_OK)
    return shlex.quote(script) if direct else f"python3 {shlex.quote(script)}"


def build_parser(program: Table, prog: str) -> Parser:
    """Describe the command line."""
    title = clean(program["title"])
    about = title.replace("%", "%%") if "%(prog)" in title else title  # only then argparse looks for `%`
    parser = Parser(prog=prog, description=about, allow_abbrev=False)
    parser.set_defaults(prog=prog, answers=None, events=None, adopt=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    added: dict[str, argparse.ArgumentParser] = {}
    is_binary = all(words_of(unit) == BINARY for unit in program["units"].values())
    choices = BINARY if is_binary else None  # words of a document are not shown here, and are checked later
    for name, text in (
        ("run", "begin a run"),
        ("resume", "go on with a run"),
        ("status", "say where the run stands"),
        ("answer", "answer the unit that waits"),
        ("steps", "list the units"),
        ("reset", "archive the run, to begin anew"),
    ):
        added[name] = commands.add_parser(name, help=text, description=f"{text}.", allow_abbrev=False)
        added[name].add_argument("--state-dir", metavar="DIR", help=f"default: .rdc/{program['name']}")
    for name in ("run", "resume"):
        added[name].add_argument("--answers", metavar="FILE", help="RESULT or UNIT RESULT, a line each")
        how = added[name].add_mutually_exclusive_group()
        how.add_argument("--rerun-interrupted", action="store_true", help="run the interrupted command again")
        how.add_argument(
            "--assume",
            choices=choices,
            metavar=None if is_binary else "WORD",
            help="the outcome of the interrupted command",
        )
    for name in ("run", "resume", "answer"):
        added[name].add_argument("--events", metavar="FILE", help="append what happens, as JSON lines")
    added["run"].add_argument("--dry-run", action="store_true", help="show the walk; do and record nothing")
    for name in ("resume", "status"):
        added[name].add_argument("--adopt", action="store_true", help="accept the state of another version")
    added["status"].add_argument("--json", action="store_true", help="for machines")
    added["answer"].add_argument("unit", metavar="UNIT")
    added["answer"].add_argument("result", metavar="RESULT", help="pass, fail, yes or no")
    for add in OPTIONS:
        add(program, added)
    return parser


def open_streams() -> None:
    """Open what was closed when the program was started: the next file that is opened would take its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def main(program: Table, argv: Optional[list[str]] = None, prog: Optional[str] = None) -> int:
    """Do what the command line says and return the exit code."""
    open_streams()
    try:
        return _do(program, Display(sys.stderr), argv, prog)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _do(program: Table, display: Display, argv: Optional[list[str]], prog: Optional[str]) -> int:
    details: list[str] = []
    try:
        parser = build_parser(program, prog or command_name())
        options = parser.parse_args(argv)
        if options.command is None:
            display.line(parser.format_help(), end="")
            parser.error("no subcommand was given")
        return Commandline(program, options, display).execute()
    except RefusedError as refusal:
        *details, reason = refusal.args
    except BrokenPipeError:  # who reads the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return EXIT_COMPLETE
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    except Interrupted:
        display.rule("INTERRUPTED before anything was done")
        return EXIT_INTERRUPTED
    except SystemExit as end:  # argparse has shown its help
        return end.code if isinstance(end.code, int) else EXIT_REFUSED
    for detail in details:
        display.rule(detail)
    display.rule(f"error: {reason}")
    return EXIT_REFUSED
