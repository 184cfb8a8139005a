"""The states of runs in this folder, from their state directories. These files are untrusted."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from backends.base import MARK
from compiler.project.project import is_root, project_around
from rdc.output.paths import output_name
from runtime_shim.editions import EDITIONS
from runtime_shim.engine.private import at_once
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.state import OURS, Store
from runtime_shim.operator.history import place_of

NEAR = 2
"""How many folders below this one to look for runs outside of a project."""


def runs_here() -> list[dict[str, Any]]:
    """Return every run of this project and this folder, by name, as plain data.

    Outside of a project, documents keep their runs in their own folders, so the nearest subfolders count too.
    """
    here = os.path.realpath(os.curdir)
    root = project_around(here).root
    folders = [os.path.relpath(root, here), os.curdir] if is_root(root) else _below(os.curdir, NEAR)
    return [run for folder in dict.fromkeys(map(os.path.normpath, folders)) for run in _runs(folder)]


def _below(folder: str, depth: int) -> Iterator[str]:
    """Yield a folder and its visible subfolders, to some depth."""
    yield folder
    with suppress(OSError), os.scandir(folder) as entries:
        names = sorted(one.name for one in entries if one.is_dir(follow_symlinks=False) and one.name[0] != ".")
        for name in names if depth else ():
            yield from _below(os.path.join(folder, name), depth - 1)  # noqa: PTH118 (as above)


def _runs(folder: str) -> Iterator[dict[str, Any]]:
    ours = os.path.normpath(os.path.join(folder, OURS))  # noqa: PTH118 (as above)
    if os.path.islink(ours) or not os.path.isdir(ours):  # noqa: PTH114, PTH112 (as above)
        return
    with os.scandir(ours) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    for name in names:
        if os.path.lexists(f"{ours}/{name}/journal"):
            yield _run(ours, name)
        elif name.endswith(".make") and os.path.lexists(f"{ours}/{name}/log"):
            yield {**_blank(ours, name), **_of_make(f"{ours}/{name}")}


def take_moved(directory: str, identity: Callable[[], Table]) -> None:
    """Rename the states of the same program, if its document no longer exists: it was moved to this one (R4)."""
    ours = os.path.dirname(directory)  # noqa: PTH120 (as above)
    if os.path.lexists(directory) or not os.path.isdir(ours):  # noqa: PTH112 (as above)
        return
    for each in sorted(os.listdir(ours)):  # noqa: PTH208 (as above)
        _, sign, label = each.partition("@")
        store, place = Store(f"{ours}/{each}", _modes()), f"{directory}{sign}{label}"
        try:
            state = store.read()
        except (UsageError, OSError, IndexError):
            continue
        is_gone = state is not None and not Path(os.path.dirname(ours), state.source).exists()  # noqa: PTH120
        is_free = not os.path.lexists(place) and not store.is_busy()
        if state and is_gone and is_free and state.program == identity()["program"]:
            os.rename(store.directory, place)  # noqa: PTH104 (as above)
            sys.stderr.write(f"rdc: {state.source!a} was moved: {store.directory} is now {place}\n")


def _modes() -> list[str]:
    return [kind.mode for edition in EDITIONS.values() for kind in edition.kinds()]


def _blank(ours: str, name: str) -> dict[str, Any]:
    """Return a run that can't be read."""
    shown = os.path.normpath(os.path.join(os.path.dirname(ours), name)) if ours[:2] != ".." else name  # noqa: PTH118, PTH120
    return {"name": shown, "source": "", "state": "unreadable", "step": "", "question": "", "message": "", "next": []}


def _run(ours: str, name: str) -> dict[str, Any]:
    run = _blank(ours, name)
    path = f"{ours}/{name}/journal"
    try:
        with open(path, "rb", opener=at_once):
            found = _of_program(ours, name)
    except OSError as error:
        return {**run, "message": f"{path}: {error.strerror}"}
    except UsageError as error:
        return {**run, "message": str(error.args[-1])}
    except IndexError:
        return {**run, "message": f"{path}: the journal is damaged"}
    return {**run, **found}


def _of_program(ours: str, name: str) -> dict[str, Any]:
    word, _, state = place_of(f"{ours}/{name}/journal", _modes(), Store(f"{ours}/{name}").is_busy())
    run: dict[str, Any] = {"source": state.source, "state": word.lower(), "message": state.message}
    run["step"] = "" if word in ("COMPLETE", "STOP") else state.node
    program, _, label = name.partition("@")
    folder = os.path.abspath(os.path.dirname(ours))  # noqa: PTH100, PTH120 (as above)
    root = project_around(folder).root
    place = ["--as", label] if label else [] if program == state.name else ["--state-dir", f"{ours}/{name}"]
    script = output_name(str(state.source), ".py")
    source = os.path.relpath(os.path.join(root, str(state.source)))  # noqa: PTH118 (as above)
    if not Path(source).is_file():
        is_ours = ours == OURS and MARK in _text(script)
        return {**run, "next": [shlex.join(["python3", script, "status", *place])] if is_ours else []}
    place = place if root == folder else ["--state-dir", f"{ours}/{name}"]
    words = ["run", "--", source, "status", *place] if source.startswith("-") else ["run", source, "status", *place]
    # In a separate process, because modules that the program needs stay loaded. -P: imports nothing from this folder.
    called = [sys.executable, "-P", "-m", "rdc", *words, "--json"]
    told = subprocess.run(called, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603
    if told.returncode != 0:  # the document has changed, or needs options: that command shows the problem
        return {**run, "next": [shlex.join(["rdc", *words])]}
    facts = json.loads(told.stdout)
    question = ": ".join(filter(None, (facts["step_title"], facts.get("question"))))
    step = run["step"] if facts["state"] not in ("complete", "stop", "expired") else ""
    found = {"state": facts["state"], "step": step, "question": question if step else "", "next": facts["next"]}
    return {**run, **found}


def _of_make(folder: str) -> dict[str, Any]:
    """Read the state of a Makefile, and the Makefile beside it. make is not called."""
    words = dict(line.partition(" ")[::2] for line in _text(f"{folder}/run").splitlines())
    if not words:
        _, _, end = _text(f"{folder}/log").rpartition(", ")
        word, _, message = end.strip().partition(" ")
        return {"state": word.lower(), "message": message} if word in ("COMPLETE", "STOP") else {}
    step = words.get("at", "")
    called, text = _makefile(folder)
    asks = re.search(rf"^RDC_QUESTIONS :=(?:.* )?{re.escape(step)}(?: .*)?$", text, re.MULTILINE)
    title = re.search(rf"^title-{re.escape(step)} = \S+ ?(.*)$", text, re.MULTILINE)
    asked = re.search(rf"^define do-{re.escape(step)}\n\s*(\S.*)$", text, re.MULTILINE)
    state = "running" if _is_locked(f"{folder}/lock") else "waiting" if asks else "interrupted"
    said = (found[1].replace("$$", "$") for found in (title, asked) if found and asks)
    following = [shlex.join([*called, "resume"])] if called and state != "running" else []
    return {"state": state, "step": step, "question": ": ".join(filter(None, said)), "next": following}


def _makefile(folder: str) -> tuple[list[str], str]:
    """Return the call of the Makefile with this state directory, and its text."""
    usual = ("GNUmakefile", "makefile", "Makefile")
    for path in (*usual, *sorted(str(path) for path in Path().glob("*.mk"))):
        text = _text(path)
        if MARK in text and re.search(rf"^RDC_STATE := {re.escape(folder)}$", text, re.MULTILINE):
            return ["make"] if path in usual else ["make", "-f", path], text
    return [], ""


def _text(path: str) -> str:
    """Return the text of a file, or ""."""
    return Path(path).read_text(encoding="utf-8", errors="replace") if Path(path).is_file() else ""


def _is_locked(lock: str) -> bool:
    """Return whether the process with a Makefile's lock exists. The link contains its number."""
    try:
        os.kill(int(os.readlink(lock).partition("@")[0]), 0)  # noqa: PTH115 (the link has no target)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True
