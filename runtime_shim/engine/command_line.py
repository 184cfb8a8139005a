"""The command line of a program."""

import os
import shlex
import sys
import time
import types
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Optional

from runtime_shim.engine.display import Display
from runtime_shim.engine.lifecycle import Extension, Host, Options, Subcommands
from runtime_shim.engine.private import naming
from runtime_shim.engine.program import EXIT_COMPLETE, EXIT_INTERRUPTED, EXIT_REFUSED, RefusedError, Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.signals import Interrupted
from runtime_shim.engine.state import ENDED
from runtime_shim.engine.status import describe, preview, status_lines, steps_lines
from runtime_shim.engine.texts import BINARY


def run(session: Session) -> int:
    """Begin a run, unless one is under way."""
    if session.options.dry_run:
        session.take()
        return session.display.say(preview(session))
    session.alone()
    old = session.read(begins=True)
    session.take()
    if old is not None:
        session.store.archive(old.begin["run"], session.beside())
    session.store.open()
    session.store.append(session.state.begin)
    return session.go(resumed=False)


def resume(session: Session) -> int:
    """Go on with a run."""
    session.alone()
    session.take(session.read())
    session.store.open()
    os.chdir(session.state.begin["cwd"])  # M2: where the run was started from
    if (began := session.state.begin.get("edition", "")) != session.host.edition and began:
        session.display.rule(f"this run began with edition {began}, and continues with {session.host.edition or 'rdc'}")
    if session.state.condition not in ENDED and not session.is_same(session.state):
        session.adopt()
    return session.go(resumed=True)


def status(session: Session) -> int:
    """Say where the run stands."""
    import json

    is_busy = session.store.is_busy()  # asked first: a run that ends between the two has not been interrupted
    facts = describe(session, session.read() if os.path.exists(session.store.path) else None, is_busy)
    is_json = session.options.json
    return session.display.say([json.dumps(facts, indent=2)] if is_json else status_lines(session, facts))


def steps(session: Session) -> int:
    """List the steps."""
    return session.display.say(steps_lines(session))


def reset(session: Session) -> int:
    """Archive a run, a damaged one too."""
    session.alone()
    name = time.strftime("damaged-%Y%m%dT%H%M%SZ", time.gmtime())
    with suppress(RefusedError, OSError):
        state = session.read_state()
        name = state.begin["run"] if state is not None else "empty"
    session.display.rule(f"the run was archived as {session.store.archive(name, session.beside())}")
    return EXIT_COMPLETE


COMMANDS: Subcommands = {
    "run": ("begin a run", run),
    "resume": ("go on with a run", resume),
    "status": ("say where the run stands", status),
    "steps": ("list the steps", steps),
    "reset": ("archive the run, to begin anew", reset),
}
# The subcommands that have an option, its name, what it takes (`...`: several times), what it is for.
OPTIONS: Options = (
    ("run resume status steps reset answer", "--state-dir", "DIR", "where the state is kept"),
    ("run resume", "--answers", "FILE", "REPLY or STEP REPLY, a line each"),
    ("run resume", "--rerun-interrupted", "", "run the interrupted command again"),
    ("run resume", "--assume", "WORD", "the outcome of the interrupted command"),
    ("run resume answer", "--events", "FILE", "append what happens, as JSON lines"),
    ("run", "--dry-run", "", "show the path; do and record nothing"),
    ("resume status", "--adopt", "", "accept the state of another version"),
    ("status", "--json", "", "for machines"),
)


LIKE = {"open": "run", "step": "resume"}  # the subcommand whose options another one has


class Words(NamedTuple):
    """What the command line of a program takes."""

    prog: str
    commands: Subcommands
    options: Options

    def of(self, command: str) -> Options:
        """Return the options and words of a subcommand."""
        names = {command, LIKE.get(command, command)}
        return tuple(option for option in self.options if not names.isdisjoint(option[0].split()))

    def help(self, title: str, command: str) -> list[str]:
        """Return what the program, or one of its commands, tells of itself."""
        lines = [f"  {name:7} {text}" for name, (text, _) in self.commands.items()]
        if command in self.commands:
            lines = [f"  {name + ' ' + takes:32}{text}" for _, name, takes, text in self.of(command)]
        return [f"usage: {self.prog} {command} [OPTION]...", "", title, "", *lines]

    def read(self, command: str, words: list[str]) -> types.SimpleNamespace:
        """Read the options and words that follow a subcommand, in any order."""
        known = {name: takes for _, name, takes, _ in self.of(command)}
        found: dict[str, Any] = {name: None if takes else False for _, name, takes, _ in self.options}
        found.update({name: [] for _, name, takes, _ in self.options if "..." in takes})
        due = [name for name in known if name[0] != "-"]
        rest, see = iter(words), f"(see: {self.prog} {command} --help)"
        for word in rest:
            value: Any
            name, equals, value = word.partition("=")
            if due and not word.startswith("--"):
                name, value = due[0], word
                due = due if "..." in known[name] else due[1:]
            elif name not in known or (equals and not known[name]):
                raise RefusedError(f"unrecognized arguments: {word} {see}")
            elif not known[name]:
                value = True
            elif not equals:
                value = next(rest, "--")
                if value.startswith("--"):
                    raise RefusedError(f"argument {name}: expected {known[name]} {see}")
            found[name] = [*found[name], value] if "..." in known[name] else value
        if missing := [name for name in due if not found[name]]:
            raise RefusedError(f"the following arguments are required: {' '.join(missing)} {see}")
        options = {name.strip("-").replace("-", "_"): value for name, value in found.items()}
        return types.SimpleNamespace(**options, prog=self.prog, command=command, known=self.options)


def words_of_program(prog: str, kinds: Sequence[type[Extension]]) -> Words:
    """Return what the command line takes; an option that several parts have is there once."""
    commands = {**COMMANDS, **{name: each for kind in kinds for name, each in kind.commands.items()}}
    options = dict.fromkeys([*OPTIONS, *(option for kind in kinds for option in kind.options)])
    return Words(prog, commands, tuple(options))


def execute(program: Table, argv: list[str], host: Host, display: Display, kinds: Sequence[type[Extension]]) -> int:
    """Do what the subcommand says."""
    words, prog = words_of_program(host.prog, kinds), host.prog
    command = argv[0] if argv else ""
    if {"-h", "--help"} & set(argv if command in words.commands else argv[:1]):
        return display.say(words.help(program["title"], command if command in words.commands else "COMMAND"))
    if command not in words.commands:
        wrong = f"no command {command!a}" if argv else "no subcommand was given"
        raise RefusedError(f"{wrong}: there are {', '.join(words.commands)} (see: {prog} --help)")
    options = words.read(command, argv[1:])
    outcomes = {word for node in program["nodes"].values() for word in node.get("words", BINARY)}
    if options.assume and (options.rerun_interrupted or options.assume not in outcomes):
        raise RefusedError(f"--assume takes one of {', '.join(sorted(outcomes))}, and no --rerun-interrupted beside it")
    with naming("the current folder"):
        session = Session(program, options, display, kinds, host)
    try:
        return words.commands[command][1](session)
    except OSError as error:
        if str(error.filename).startswith(session.store.directory):
            error.strerror = f"{error.strerror}; choose another place with --state-dir"
        raise


def main(
    program: Table,
    extensions: Sequence[type[Extension]],
    argv: Optional[list[str]] = None,
    host: Host = Host(),  # noqa: B008 (it never changes)
) -> int:
    """Do what the command line says, with the extensions that suit the program; return the exit code."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # the next file that is opened would take its place
            setattr(sys, name, open(os.open(os.devnull, os.O_RDWR), "r+", encoding="utf-8"))  # noqa: SIM115
    is_direct = "/" in sys.argv[0] and os.access(sys.argv[0], os.X_OK)
    prog = host.prog or ("" if is_direct else "python3 ") + shlex.quote(sys.argv[0])
    kinds = [kind for kind in extensions if not hasattr(kind, "suits") or kind.suits(program)]
    with suppress(KeyboardInterrupt):
        words = sys.argv[1:] if argv is None else argv
        return _do(program, words, host._replace(prog=prog), Display(sys.stderr), kinds)
    return EXIT_INTERRUPTED


def _do(program: Table, argv: list[str], host: Host, display: Display, kinds: Sequence[type[Extension]]) -> int:
    try:
        return execute(program, argv, host, display, kinds)
    except RefusedError as refusal:
        *details, reason = refusal.args
    except BrokenPipeError:  # who reads the output has seen enough
        return EXIT_COMPLETE
    except OSError as error:
        details, reason = [], f"{error.filename}: {error.strerror}" if error.filename else str(error)
    except Interrupted:
        display.rule("INTERRUPTED before anything was done")
        return EXIT_INTERRUPTED
    for text in (*details, f"error: {reason}"):
        display.rule(text)
    return EXIT_INTERRUPTED if display.gives_up() else EXIT_REFUSED
