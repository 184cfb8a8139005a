"""Several runs of one document: each has a name and a place of its own; what a call was given is repeated (E12)."""

import os
import re
import types

from runtime_shim.engine.command_line import CHECKS, COMMANDS, OPTIONS, Subcommands
from runtime_shim.engine.display import one_line
from runtime_shim.engine.journal import read_journal
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import REPEATS
from runtime_shim.engine.state import ENDED, OURS, State, Store, replay

REPEATED: tuple[str, ...] = ("--agent", "--agent-for", "--tool", "--logs", "--log-limit", "--notify")
REPEATED += ("--agent-model", "--agent-timeout", "--agent-retries", "--mock")  # for: agent tool parallel
REPEATED += ("--executor", "--mock")  # for: contract


def choose_place(program: Table, options: types.SimpleNamespace) -> None:
    """Keep a run with a name apart; no program has a name with an @."""
    name = getattr(options, "as", None)
    if name is None:
        return
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        rule = "begin with a letter or digit, then use letters, digits, `.`, `_` and `-`, at most 64 characters"
        raise RefusedError(f"--as {one_line(name)!a}: {rule}")
    if options.state_dir:
        raise RefusedError("--as and --state-dir both say where the state is: give one of them")
    options.state_dir = os.path.join(OURS, f"{program['name']}@{name}")


def repeated(options: types.SimpleNamespace, command: str) -> tuple[str, ...]:
    """Return the words that a printed command repeats, so that it means this run and goes on as this call does."""
    found = ["--state-dir", options.state_dir] if options.state_dir else []
    if getattr(options, "as", None):
        found = ["--as", getattr(options, "as")]
    wanted = [(name, takes) for owners, name, takes, _ in OPTIONS if name in REPEATED and command in owners.split()]
    for option, takes in wanted if command != "run" else ():
        given = getattr(options, option[2:].replace("-", "_"), None) or []
        for value in given if isinstance(given, list) else [given]:
            found += [option, value] if takes else [option]
    return tuple(found)


def place_of(path: str, is_busy: bool = False) -> tuple[str, str, State]:
    """Return how the run of a journal stands, or went, and where.

    Raises RefusedError, OSError and IndexError where it cannot be read.
    """
    state = replay(read_journal(path)[0], path)
    if state.condition in ENDED:
        return state.condition.upper(), state.message, state
    word = "running" if is_busy else state.condition.replace("running", "interrupted")
    return word.upper(), f"at {state.node}", state


def list_runs(session: Subcommands) -> int:
    """Say where all runs of the document stand."""
    name, lines = session.program["name"], []
    for each in sorted(os.listdir(OURS)) if os.path.isdir(OURS) else []:
        own, _, label = each.partition("@")
        store = Store(os.path.join(OURS, each))
        if own != name or not os.path.lexists(store.path):
            continue
        try:
            word, where, state = place_of(store.path, store.is_busy())
            lines.append(f"{label or '-'}  {word}  {state.begin['run']}  {where}")
        except (RefusedError, OSError, IndexError):
            lines.append(f"{label or '-'}  DAMAGED  {store.path}")
    return session.display.say([one_line(line) for line in lines] or ["No run has begun here."])


def status(session: Subcommands) -> int:
    """Say where the run stands, or where all of them do."""
    if not session.options.all:
        return Subcommands.status(session)
    if session.options.state_dir or session.options.json or session.options.adopt:
        raise RefusedError("status --all takes no other options")
    return list_runs(session)


CHECKS.append(choose_place)
REPEATS.append(repeated)
COMMANDS["status"] = (COMMANDS["status"][0], status)
OPTIONS += [
    ("run resume status steps reset answer goto history", "--as", "NAME", "a run of its own beside others"),
    ("status", "--all", "", "all runs of the document, a line each"),
]
