"""Subcommands that start or continue a run, as far as it gets or step by step."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import Any

from runtime_shim.engine.program import EXIT_COMPLETE, EXIT_STOP, EXIT_WAITING, RefusedError
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import ENDED
from runtime_shim.engine.status import preview
from runtime_shim.engine.texts import meant, one_line


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
        raise RefusedError(f"this run started in {cwd}, which does not exist; move the folder back")
    os.chdir(cwd)  # where it started
    if (old := session.state.begin.get("edition") or edition) != edition:
        session.display.rule(f"started with edition {old}, continues with {edition or 'rdc'}")
    if session.state.condition not in ENDED and not session.is_same(session.state):
        session.adopt()
    return session.go(resumed=True)


def open_run(session: Session) -> int:
    """Start a run, or take up the existing one, without running a step."""
    state, reopens = session.read_state(), any(each.reopens for each in session.extensions)
    is_new = not state or state.condition == "complete" or (state.condition == "stop" and not reopens)
    vars(session.options).update(only=[], command="run" if is_new else "resume")
    return run(session) if is_new else resume(session)


def step(session: Session) -> int:
    """Continue a run while it is in one of the places; report to the caller if it is elsewhere."""
    state: Any = session.read()
    nodes, order, places = session.program["nodes"], list(session.program["nodes"]), session.options.PLACE
    names = {name: {name, nodes[name].get("step")} for name in session.places}  # a stage is part of a step
    if unknown := {*places}.difference(*names.values()):
        hint = meant(min(unknown), session.places) or "; `steps` lists the steps"
        raise RefusedError(f"there is no step {min(unknown)!a}{hint}")
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
        raise RefusedError(f"{what} cannot run yet; the run is at step {at}")
    session.display.rule(f"WAITING {session.label(at)}")
    return EXIT_WAITING


def reset(session: Session) -> int:
    """Archive a run, even a damaged one."""
    session.alone()
    name = time.strftime("damaged-%Y%m%dT%H%M%SZ", time.gmtime())
    with suppress(RefusedError, OSError):
        name = state.begin["run"] if (state := session.read_state()) else "empty"
    session.display.rule(f"the run was archived as {session.store.archive(name, session.beside())}")
    return EXIT_COMPLETE
