"""The command line of a program: subcommands that start or continue a run, and their options."""

import os
import shlex
import sys
import time
import types
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Callable, Optional

from runtime_shim.engine.display import Display
from runtime_shim.engine.outcomes import ANY_HOST, Host
from runtime_shim.engine.private import naming
from runtime_shim.engine.program import (
    EXIT_COMPLETE,
    EXIT_INTERRUPTED,
    EXIT_REFUSED,
    EXIT_STOP,
    EXIT_WAITING,
    Table,
    UsageError,
)
from runtime_shim.engine.session import Kinds, Options, Session, Subcommands
from runtime_shim.engine.signals import Interrupted
from runtime_shim.engine.state import ENDED
from runtime_shim.engine.status import preview, status, steps
from runtime_shim.engine.texts import meant, one_line, words_of
from runtime_shim.operator.history import history
from runtime_shim.tasks.ask import answer


def run(session: Session) -> int:
    """Start a run, unless one is unfinished."""
    if session.options.dry_run:
        session.take()
        return session.display.say(preview(session))
    session.alone()
    old = session.read(begins=True)
    session.take()
    if old:
        session.store.archive(old.begin["run"], session.beside())
    session.store.open()
    session.store.append(session.state.begin)
    return session.go(resumed=False)


def resume(session: Session) -> int:
    """Continue a run."""
    session.alone()
    session.take(session.read())
    session.store.open()
    cwd, edition = session.state.begin["cwd"], session.host.edition
    if not os.path.isdir(cwd):
        raise UsageError(f"this run started in {cwd}, which does not exist; move the folder back")
    os.chdir(cwd)  # where it started
    if (old := session.state.begin.get("edition") or edition) != edition:
        session.display.rule(f"started with edition {old}, continues with {edition or 'rdc'}")
    if session.state.condition not in ENDED and not session.is_same(session.state):
        session.adopt()
    return session.go(resumed=True)


def open_run(session: Session) -> int:
    """Start a run, or take up the existing one, without running a step."""
    state, reopens = session.read_state(), any(each.reopens for each in session.extensions)
    is_over = not state or state.condition == "complete" or (state.condition == "stop" and not reopens)
    is_new = is_over and not any(session.each("is_due"))
    vars(session.options).update(only=[], command="run" if is_new else "resume")
    return run(session) if is_new else resume(session)


def step(session: Session) -> int:
    """Continue a run while it is in one of the places; report if it is elsewhere."""
    state: Any = session.read()
    nodes, order, places = session.program["nodes"], list(session.program["nodes"]), session.options.PLACE
    names = {name: {name, nodes[name].get("step")} for name in session.places}  # a stage is part of a step
    if unknown := {*places}.difference(*names.values()):
        hint = meant(min(unknown), session.places) or "; `steps` lists the steps"
        raise UsageError(f"there is no step {min(unknown)!a}{hint}")
    only = [name for name in names if names[name] & {*places}]
    vars(session.options).update(only=only, command="resume")
    is_stopped, what = state.condition == "stop", f"step {' '.join(places)}"
    at = state.finished[-1]["node"] if is_stopped and state.finished else state.node  # or where it failed
    if at in only and state.condition != "complete":
        return resume(session)
    session.state = state  # titles may show its counters
    is_later = at in order[order.index(only[-1]) :]
    if is_stopped and not (is_later and any(each.reopens for each in session.extensions)):
        session.display.rule(f"STOP {one_line(state.message)}".rstrip())
        return EXIT_STOP
    if is_later or state.condition == "complete":
        session.display.rule(f"{what} is completed")
        return EXIT_COMPLETE
    if state.condition != "waiting":
        raise UsageError(f"{what} cannot run yet; the run is at step {at}")
    session.display.rule(f"WAITING {session.label(at)}")
    return EXIT_WAITING


def reset(session: Session) -> int:
    """Archive a run, even a damaged one, unless its command still runs."""
    session.alone()
    name, left = time.strftime("damaged-%Y%m%dT%H%M%SZ", time.gmtime()), ""
    with suppress(UsageError, OSError):
        state = session.read_state()
        name, left = (state.begin["run"], state.left()) if state else ("empty", "")
    if left and state:
        raise UsageError(f"step {state.node}: {left}")
    session.display.rule(f"the run was archived as {session.store.archive(name, session.beside())}")
    return EXIT_COMPLETE


COMMANDS: Subcommands = {
    "run": ("start a run", run),
    "resume": ("continue a run", resume),
    "retry": ("after STOP, run the step that failed last again", resume),
    "status": ("show the run's state and what to do next", status),
    "answer": ("answer the waiting step", answer),
    "steps": ("list the steps", steps),
    "open": ("start a run without running a step", open_run),
    "step": ("continue a run, but only through these steps", step),
    "reset": ("archive the run so that you can start over", reset),
    "history": ("list finished runs, or show or delete them", history),
}
# For each option: its subcommands, name, value (`...`: repeatable; `?`: a word that may be missing) and help.
OPTIONS: Options = (
    ("answer", "STEP", "", "the waiting step"),
    ("answer", "REPLY", "", "pass, fail, yes or no, or another reply that the step takes"),
    ("goto", "STEP", "", "the step, or a group of steps"),
    ("step", "PLACE", "...", "the steps to run"),
    ("history report", "RUN", "?", "the run; without it, `history` lists all, and `report` is about the current one"),
    ("all", "--state-dir", "DIR", "the state directory (default: .rdc/NAME)"),
    ("run resume", "--answers", "FILE", "read replies from FILE, one per line: REPLY or STEP REPLY"),
    ("run resume", "--rerun-interrupted", "", "run the interrupted command again"),
    ("run resume", "--assume", "WORD", "assume this outcome for the interrupted command"),
    ("run resume answer approve goto", "--events", "FILE", "append events to FILE as JSON lines"),
    ("run", "--dry-run", "", "show the path, but run and record nothing"),
    ("resume", "--adopt", "", "accept a run of another version"),
    ("status history", "--json", "", "print JSON"),
    ("history", "--prune", "N|AGE", "delete all but the newest N runs, or runs older than AGE (12h, 30d, 8w)"),
)
Argv = Optional[list[str]]
OptionValues = list[tuple[str, Any]]  # options, and the value of each
Execute = Callable[[Table, list[str], Host, Display, Kinds], int]
LIKE = {"open": "run", "step": "resume", "retry": "resume"}  # subcommands with the options of another


def options_of(command: str, options: Options) -> Options:
    """Return the options and positional words of a subcommand."""
    return tuple(option for option in options if {"all", command, LIKE.get(command)} & {*option[0].split()})


def read_words(words: list[Any], own: Options, options: Options, given: OptionValues, see: str) -> Any:  # a namespace
    """Return the options and words of a subcommand, in any order, after the `given` values."""
    found: Any = {name: [] if "..." in takes else None if takes else False for _, name, takes, _ in options}
    known = {name: takes for _, name, takes, _ in own}
    for name, each in given:
        found[name] = [*found[name], each] if "..." in known[name] else each
    due, rest = [name for name in known if name[0] != "-" and not found[name]], iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if due and not word.startswith("--"):
            name, value = due[0], word
            due = due["..." not in known[name] :]
        elif name not in known or (equals and not known[name]):
            raise UsageError(f"unknown argument {one_line(word)}{as_input(word, known) or meant(name, known)} {see}")
        elif not equals:
            value = next(rest, "--") if known[name] else True
            if known[name] and str(value).startswith("--"):
                raise UsageError(f"expected {known[name]} after {name} {see}")
        found[name] = [*found[name], value] if "..." in known[name] else value
    if missing := [name for name in due if not found[name] and known[name] != "?"]:
        raise UsageError(f"missing argument: {' '.join(missing)} {see}")
    return types.SimpleNamespace(**{name.strip("-").replace("-", "_"): found[name] for name in found})


def as_input(word: str, known: Iterable[str]) -> str:
    """Return how to give NAME=VALUE as an input; "" for other words and without inputs."""
    is_value = word.partition("=")[0].isidentifier() and "=" in word
    return f"; to set an input, write --input {shlex.quote(word)}" if is_value and "--input" in known else ""


def labels_of(own: Options) -> dict[str, str]:
    """Return the words and options of a subcommand as help shows them, each with its text."""
    return {f"[{name}]" if takes == "?" else f"{name} {takes}".strip(): text for _, name, takes, text in own}


def help_lines(program: Table, command: str, prog: str, commands: Any, own: Options) -> list[str]:  # a dict
    """Return the help of a subcommand, or of the program."""
    labels = labels_of(own)
    lines = [f"  {label:32}{text}" for label, text in labels.items()]
    if command not in commands:
        lines, command = [f"  {name:9} {text}" for name, (text, _) in commands.items()], "COMMAND"
    usage = " ".join(["usage:", prog, command, *(label for label in labels if label[0] != "-"), "[OPTION]..."])
    return [usage, "", program["title"], "", *lines]


def execute(program: Table, argv: list[str], host: Host, display: Display, kinds: Kinds) -> int:
    """Run a subcommand and return its exit code."""
    commands = {**COMMANDS, **{name: each for kind in kinds for name, each in kind.commands.items()}}
    options = tuple(dict.fromkeys([*OPTIONS, *(option for kind in kinds for option in kind.options)]))
    command, *words = argv or [""]
    own = options_of(command, options) + (options_of("resume", options) if "--resume" in words else ())
    if not argv or {"-h", "--help"} & {*argv}:
        display.say(help_lines(program, command, host.prog, commands, own))
        if argv:
            return EXIT_COMPLETE
        raise UsageError(f"missing subcommand; to start a run: {host.prog} run")
    if command not in commands:
        near = as_input(command, [name for _, name, *_ in options]) or meant(command, commands)
        known = f"{near or '; choose from ' + ', '.join(commands)} (see: {host.prog} --help)"
        raise UsageError(f"unknown subcommand {one_line(command)}{known}")
    callers = [kind.from_caller for kind in kinds if hasattr(kind, "from_caller")]
    said = [pair for caller in callers for pair in caller(program, options, command, display)]
    given = read_words(words, own, options, said, f"(see: {host.prog} {command} --help)")
    vars(given).update(prog=host.prog, command=command, known=options, only=None)
    outcomes = sorted({word for node in program["nodes"].values() for word in words_of(node)})
    if given.assume and (given.rerun_interrupted or given.assume not in outcomes):
        near = "" if given.assume in outcomes else meant(given.assume, outcomes)
        raise UsageError(f"use either --assume with one of {', '.join(outcomes)}, or --rerun-interrupted{near}")
    with naming("the current directory"):
        session = Session(program, given, display, kinds, host)
    try:
        code = commands[command][1](session)
        if not given.resume or session.lender:
            return code
        vars(given).update(command="resume", by=None, note=None)  # they signed the answer
        return resume(session)
    except OSError as error:
        if command in ("run", "open") and str(error.filename).startswith(session.store.directory):
            error.strerror = f"{error.strerror}; choose another directory with --state-dir"
        raise


def main(program: Table, kinds: Kinds, argv: Argv = None, host: Host = ANY_HOST, execute: Execute = execute) -> int:
    """Run the command line with the extensions that suit the program, and return the exit code."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # or the next opened file takes its place
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "r+", encoding="utf-8"))
    is_direct = "/" in sys.argv[0] and os.access(sys.argv[0], os.X_OK)
    prog = host.prog or ("" if is_direct else "python3 ") + shlex.quote(sys.argv[0])
    kinds = [kind for kind in kinds if kind.suits(program)]
    words, display = sys.argv[1:] if argv is None else argv, Display(sys.stderr)
    with suppress(KeyboardInterrupt):
        try:
            return execute(program, words, host._replace(prog=prog), display, kinds)
        except UsageError as refusal:
            *details, reason = refusal.args
        except BrokenPipeError:  # the reader has seen enough
            return EXIT_COMPLETE
        except OSError as error:
            details, reason = [], f"{error.filename}: {error.strerror}" if error.filename else str(error)
        except Interrupted:
            display.rule("INTERRUPTED before anything ran")
            return EXIT_INTERRUPTED
        texts = [*details, f"error: {reason}"]
        for kind in kinds:
            texts = [*map(kind.worded, texts)] if hasattr(kind, "worded") else texts
        display.rule(*texts)
        return EXIT_INTERRUPTED if display.gives_up() else EXIT_REFUSED
    return EXIT_INTERRUPTED
