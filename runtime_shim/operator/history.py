"""Finished and archived runs: list them, show one, and delete old ones."""

import json
import os
import re
import time
from collections.abc import Sequence

from runtime_shim.engine.journal import read_journal
from runtime_shim.engine.private import refuse_links
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import ENDED, State, Store, replay
from runtime_shim.engine.status import condition_of, describe, status_lines
from runtime_shim.engine.texts import one_line
from runtime_shim.engine.times import readable

ARCHIVED = r"((run-)?[0-9T]{14,15}Z?-[0-9a-f]{8}|damaged-[0-9]{8}T[0-9]{6}Z|empty)(-2)*"  # a run's name
HOURS = {"h": 1, "d": 24, "w": 7 * 24}


def place_of(path: str, modes: Sequence[str], is_busy: bool = False) -> tuple[str, str, State]:
    """Return the condition of a journal's run, its place or message, and its whole state.

    Raises UsageError, OSError and IndexError if it cannot be read.
    """
    state = replay(read_journal(path)[0], path, modes)
    where = state.message if state.condition in ENDED else f"at {state.node}"
    return condition_of(state, is_busy).upper(), where, state


def found_run(session: Session, ended: float, path: str) -> Table:
    """Return an archived run, or the current one, as plain data."""
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ended))
    try:
        word, where, state = place_of(path, session.store.modes)
    except (UsageError, OSError, IndexError):
        return {"run": os.path.basename(path), "state": "damaged", "ended": when}
    version = "this version" if session.is_same(state) else f"version {state.program[:8]}"
    about = {"run": state.begin["run"], "state": word.lower(), "started": state.begin["time"], "ended": when}
    return {**about, "version": version, "where": where}


def outdated(runs: list[tuple[float, str]], given: str) -> list[str]:
    """Return the journals to delete: all but the newest N, or those older than an age."""
    number = re.fullmatch(r"([0-9]{1,6})([hdw]?)", given)
    if not number:
        raise UsageError(f"--prune {given!a}: expected a number of runs to keep, or an age such as 12h, 30d or 8w")
    if not number[2]:
        return [path for _, path in runs[int(number[1]) :]]
    since = time.time() - int(number[1]) * HOURS[number[2]] * 3600
    return [path for ended, path in runs if ended < since]


def archives(session: Session) -> list[tuple[float, str]]:
    """Return when each archived run ended, and its journal, the newest first."""
    folder = os.path.join(session.store.directory, "history")
    refuse_links(folder)
    files = os.scandir(folder) if os.path.isdir(folder) else ()
    journals = [file for file in files if re.fullmatch(ARCHIVED, file.name) and file.is_file(follow_symlinks=False)]
    return sorted(((file.stat().st_mtime, file.path) for file in journals), reverse=True)


def look_at(session: Session, run: "str | None") -> State:
    """Return the state of the current run, or of an archived one that the session then reads."""
    paths = {os.path.basename(path): path for _, path in archives(session)}
    if run in paths:
        session.store = Store(os.path.dirname(paths[run]), session.store.modes)
        session.store.path = paths[run]
    state = session.store.read()
    if state is None or run not in (None, False, state.begin["run"]):
        what = f"no run {one_line(run)} is here" if run else "no run has started here"
        raise UsageError(f"{what} ({session.store.directory}); `history` lists the runs")
    return state


def history(session: Session) -> int:
    """List finished runs, show one, or delete archived ones."""
    options, display, path = session.options, session.display, session.store.path
    if options.RUN:
        facts = {**describe(session, look_at(session, options.RUN), session.store.is_busy()), "next": []}
        return display.say([json.dumps(facts, indent=2)] if options.json else status_lines(session, facts))
    runs = archives(session)
    if options.prune is not None:
        return prune_runs(session, runs)
    now = [found_run(session, os.stat(path).st_mtime, path)] if os.path.isfile(path) else []
    found = [*(run for run in now if run["state"] in ENDED), *(found_run(session, *run) for run in runs)]
    if options.json:
        return display.say([json.dumps(found, indent=2)])
    rows = [(readable(run["ended"]), run["state"].upper(), run["run"], *[*run.values()][4:]) for run in found]
    return display.say([one_line("  ".join(row)) for row in rows] or ["No run has ended here."])


def prune_runs(session: Session, runs: list[tuple[float, str]]) -> int:
    """Delete old archived runs with all their files, the journals last."""
    import shutil

    gone = outdated(runs, session.options.prune)
    for path in gone:
        for kept in [file.path for file in os.scandir(os.path.dirname(path)) if file.path.startswith(f"{path}.")]:
            if os.path.isdir(kept) and not os.path.islink(kept):
                shutil.rmtree(kept)
            elif os.path.isfile(kept):
                os.unlink(kept)
        os.unlink(path)
    return session.display.say([f"Deleted {len(gone)} of {len(runs)} archived runs."])
