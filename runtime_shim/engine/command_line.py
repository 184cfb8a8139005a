"""The command line of a program."""

from __future__ import annotations

import os
import shlex
import sys
import types
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Callable

from runtime_shim.engine.display import Display
from runtime_shim.engine.lifecycle import ANY_HOST, Extension, Host, Options, Subcommands
from runtime_shim.engine.private import naming
from runtime_shim.engine.program import EXIT_COMPLETE, EXIT_INTERRUPTED, EXIT_REFUSED, RefusedError, Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.signals import Interrupted
from runtime_shim.engine.status import status, steps
from runtime_shim.engine.subcommands import open_run, reset, resume, run, step
from runtime_shim.engine.texts import meant, one_line, words_of
from runtime_shim.operator.history import history
from runtime_shim.tasks.ask import answer

COMMANDS: Subcommands = {
    "run": ("start a run", run),
    "resume": ("continue a run", resume),
    "status": ("show the run's state and what to do next", status),
    "answer": ("answer the waiting step", answer),
    "steps": ("list the steps", steps),
    "open": ("start a run without running a step", open_run),
    "step": ("continue a run, but only through these steps", step),
    "reset": ("archive the run so that you can start over", reset),
    "history": ("list or delete archived runs", history),
}
# For each option: its subcommands, name, value (`...`: repeatable) and help.
OPTIONS: Options = (
    ("answer", "STEP", "", "the waiting step"),
    ("answer", "REPLY", "", "pass, fail, yes or no, or another reply that the step takes"),
    ("step", "PLACE", "...", "the steps to run"),
    ("all", "--state-dir", "DIR", "the state directory (default: .rdc/NAME)"),
    ("run resume", "--answers", "FILE", "read replies from FILE, one per line: REPLY or STEP REPLY"),
    ("run resume", "--rerun-interrupted", "", "run the interrupted command again"),
    ("run resume", "--assume", "WORD", "assume this outcome for the interrupted command"),
    ("run resume answer approve goto", "--events", "FILE", "append events to FILE as JSON lines"),
    ("run", "--dry-run", "", "show the path, but run and record nothing"),
    ("resume status", "--adopt", "", "accept a run of another version"),
    ("status", "--json", "", "print JSON"),
    ("history", "--prune", "N|AGE", "delete all but the newest N runs, or runs older than AGE (12h, 30d, 8w)"),
)
OptionValues = list[tuple[str, Any]]  # options, and the value of each
Execute = Callable[[Table, list[str], Host, Display, Sequence[type[Extension]]], int]
LIKE = {"open": "run", "step": "resume"}  # subcommands with the options of another


def options_of(command: str, options: Options) -> Options:
    """Return the options and positional words of a subcommand."""
    return tuple(option for option in options if {"all", command, LIKE.get(command)} & {*option[0].split()})


def read_words(words: list[str], own: Options, options: Options, given: OptionValues, see: str) -> Any:  # a namespace
    """Return the options and words of a subcommand, in any order. `given` values come first; the rest are unset."""
    found: Any = {name: [] if "..." in takes else None if takes else False for _, name, takes, _ in options}
    known = {name: takes for _, name, takes, _ in own}
    for name, each in given:
        found[name] = [*found[name], each] if "..." in known[name] else each
    due, rest = [name for name in known if name[0] != "-" and not found[name]], iter(words)
    for word in rest:
        value: Any
        name, equals, value = word.partition("=")
        if due and not word.startswith("--"):
            name, value = due[0], word
            due = due["..." not in known[name] :]
        elif name not in known or (equals and not known[name]):
            raise RefusedError(f"unknown argument {one_line(word)}{as_input(word, known) or meant(name, known)} {see}")
        elif not equals:
            value = next(rest, "--") if known[name] else True
            if known[name] and value.startswith("--"):
                raise RefusedError(f"expected {known[name]} after {name} {see}")
        found[name] = [*found[name], value] if "..." in known[name] else value
    if missing := [name for name in due if not found[name]]:
        raise RefusedError(f"missing argument: {' '.join(missing)} {see}")
    return types.SimpleNamespace(**{name.strip("-").replace("-", "_"): found[name] for name in found})


def as_input(word: str, known: Iterable[str]) -> str:
    """Return how to give NAME=VALUE as an input; "" for other words, or if the program has no inputs."""
    is_value = word.partition("=")[0].isidentifier() and "=" in word
    return f"; to set an input, write --input {shlex.quote(word)}" if is_value and "--input" in known else ""


def execute(program: Table, argv: list[str], host: Host, display: Display, kinds: Sequence[type[Extension]]) -> int:
    """Run a subcommand and return its exit code."""
    commands = {**COMMANDS, **{name: each for kind in kinds for name, each in kind.commands.items()}}
    options = tuple(dict.fromkeys([*OPTIONS, *(option for kind in kinds for option in kind.options)]))
    command, *words = argv or [""]
    own = options_of(command, options)
    if not argv or {"-h", "--help"} & {*argv}:
        lines = [f"  {name + ' ' + takes:32}{text}" for _, name, takes, text in own]
        if command not in commands:
            lines, command = [f"  {name:9} {text}" for name, (text, _) in commands.items()], "COMMAND"
        display.say([f"usage: {host.prog} {command} [OPTION]...", "", program["title"], "", *lines])
        if argv:
            return EXIT_COMPLETE
        raise RefusedError(f"missing subcommand; to start a run: {host.prog} run")
    if command not in commands:
        near = as_input(command, [name for _, name, *_ in options]) or meant(command, commands)
        known = f"{near or '; choose from ' + ', '.join(commands)} (see: {host.prog} --help)"
        raise RefusedError(f"unknown subcommand {one_line(command)}{known}")
    callers = [kind.from_caller for kind in kinds if hasattr(kind, "from_caller")]
    said = [pair for caller in callers for pair in caller(program, options, command, display)]
    given = read_words(words, own, options, said, f"(see: {host.prog} {command} --help)")
    vars(given).update(prog=host.prog, command=command, known=options, only=None)
    outcomes = sorted({word for node in program["nodes"].values() for word in words_of(node)})
    if given.assume and (given.rerun_interrupted or given.assume not in outcomes):
        raise RefusedError(f"use either --assume with one of {', '.join(outcomes)}, or --rerun-interrupted")
    with naming("the current directory"):
        session = Session(program, given, display, kinds, host)
    try:
        return commands[command][1](session)
    except OSError as error:
        if str(error.filename).startswith(session.store.directory):
            error.strerror = f"{error.strerror}; choose another directory with --state-dir"
        raise


def main(
    program: Table,
    extensions: Sequence[type[Extension]],
    argv: list[str] | None = None,
    host: Host = ANY_HOST,
    execute: Execute = execute,
) -> int:
    """Run the command line with the extensions that suit the program, and return the exit code."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # or the next opened file takes its place
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "r+", encoding="utf-8"))
    is_direct = "/" in sys.argv[0] and os.access(sys.argv[0], os.X_OK)
    prog = host.prog or ("" if is_direct else "python3 ") + shlex.quote(sys.argv[0])
    kinds = [kind for kind in extensions if kind.suits(program)]
    words, display = sys.argv[1:] if argv is None else argv, Display(sys.stderr)
    with suppress(KeyboardInterrupt):
        try:
            return execute(program, words, host._replace(prog=prog), display, kinds)
        except RefusedError as refusal:
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
        for text in texts:
            display.rule(text)
        return EXIT_INTERRUPTED if display.gives_up() else EXIT_REFUSED
    return EXIT_INTERRUPTED
