"""Archived runs: list them, and delete old ones."""

import os
import re
import time
from collections.abc import Sequence

from runtime_shim.engine.journal import read_journal
from runtime_shim.engine.private import refuse_links
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import ENDED, State, replay
from runtime_shim.engine.status import condition_of
from runtime_shim.engine.texts import one_line

ARCHIVED = r"((run-)?[0-9T]{14,15}Z?-[0-9a-f]{8}|damaged-[0-9]{8}T[0-9]{6}Z|empty)(-2)*"  # a run's name
HOURS = {"h": 1, "d": 24, "w": 7 * 24}


def place_of(path: str, modes: Sequence[str], is_busy: bool = False) -> tuple[str, str, State]:
    """Return the condition of a journal's run, its place or message, and its whole state.

    Raises UsageError, OSError and IndexError if it cannot be read.
    """
    state = replay(read_journal(path)[0], path, modes)
    where = state.message if state.condition in ENDED else f"at {state.node}"
    return condition_of(state, is_busy).upper(), where, state


def told_run(session: Session, ended: float, path: str) -> str:
    """Return an archived run as a line."""
    when, name = time.strftime("%Y-%m-%d %H:%M", time.localtime(ended)), os.path.basename(path)
    try:
        word, where, state = place_of(path, session.store.modes)
    except (UsageError, OSError, IndexError):
        return f"{when}  DAMAGED  {name}"
    version = "this version" if session.is_same(state) else f"version {state.program[:8]}"
    return one_line(f"{when}  {word}  {name}  {version}  {where}")


def outdated(runs: list[tuple[float, str]], given: str) -> list[str]:
    """Return the journals to delete: all but the newest N, or those that ended longer ago than an age."""
    number = re.fullmatch(r"([0-9]{1,6})([hdw]?)", given)
    if not number:
        raise UsageError(f"--prune {given!a}: expected a number of runs to keep, or an age such as 12h, 30d or 8w")
    if not number[2]:
        return [path for _, path in runs[int(number[1]) :]]
    since = time.time() - int(number[1]) * HOURS[number[2]] * 3600
    return [path for ended, path in runs if ended < since]


def history(session: Session) -> int:
    """List archived runs, or delete some with all their files, the journals last."""
    import shutil

    folder = os.path.join(session.store.directory, "history")
    refuse_links(folder)
    files = os.scandir(folder) if os.path.isdir(folder) else ()
    journals = [file for file in files if re.fullmatch(ARCHIVED, file.name) and file.is_file(follow_symlinks=False)]
    runs = sorted(((file.stat().st_mtime, file.path) for file in journals), reverse=True)  # the newest first
    if session.options.prune is None:
        return session.display.say([told_run(session, *run) for run in runs] or ["There are no archived runs here."])
    gone = outdated(runs, session.options.prune)
    for path in gone:
        for kept in [file.path for file in os.scandir(folder) if file.path.startswith(f"{path}.")]:
            if os.path.isdir(kept) and not os.path.islink(kept):
                shutil.rmtree(kept)
            elif os.path.isfile(kept):
                os.unlink(kept)
        os.unlink(path)
    return session.display.say([f"Deleted {len(gone)} of {len(runs)} archived runs."])
