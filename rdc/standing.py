"""The states of runs in this folder, from their state directories. These files are untrusted."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from backends.base import MARK
from runtime_shim.editions import EDITIONS
from runtime_shim.engine.private import at_once
from runtime_shim.engine.program import RefusedError
from runtime_shim.engine.state import OURS, Store
from runtime_shim.operator.history import place_of

ASKING = ("prompt", "reason")
"""The keys of questions in a program's table."""


def runs_here() -> list[dict[str, Any]]:
    """Return every run with a state in `.rdc`, by name, as plain data."""
    if os.path.islink(OURS) or not os.path.isdir(OURS):  # noqa: PTH114, PTH112 (paths as in the runtime)
        return []
    with os.scandir(OURS) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    return [_run(name) for name in names if os.path.lexists(os.path.join(OURS, name, "journal"))]  # noqa: PTH118


def _run(name: str) -> dict[str, Any]:
    run = {"name": name, "source": "", "state": "unreadable", "step": "", "question": "", "message": "", "next": []}
    path = f"{OURS}/{name}/journal"
    try:
        with open(path, "rb", opener=at_once) as file:
            is_of_make = file.read(6) == b"1 run "
            text = (b"1 run " + file.read()).decode(errors="replace") if is_of_make else ""
        found = _of_make(name, text) if is_of_make else _of_program(name, path)
    except OSError as error:
        return {**run, "message": f"{path}: {error.strerror}"}
    except RefusedError as error:
        return {**run, "message": str(error.args[-1])}
    except IndexError:
        return {**run, "message": f"{path}: the journal is damaged"}
    return {**run, **found}


def _of_program(name: str, path: str) -> dict[str, Any]:
    modes = {kind.mode for edition in EDITIONS.values() for kind in edition.kinds()}
    word, _, state = place_of(path, modes, Store(f"{OURS}/{name}").is_busy())
    run: dict[str, Any] = {"source": state.source, "state": word.lower(), "message": state.message}
    run["step"] = "" if word in ("COMPLETE", "STOP") else state.node
    program, _, label = name.partition("@")
    place = ["--as", label] if label else [] if program == state.name else ["--state-dir", f"{OURS}/{name}"]
    source, script = str(state.source), f"{state.name}.py"
    if not Path(source).is_file():
        is_ours = "/" not in script and MARK in _text(script)
        return {**run, "next": [shlex.join(["python3", script, "status", *place])] if is_ours else []}
    words = ["run", "--", source, "status", *place] if source.startswith("-") else ["run", source, "status", *place]
    # In a separate process, because modules that the program needs stay loaded. -P: imports nothing from this folder.
    called = [sys.executable, "-P", "-m", "rdc", *words, "--json"]
    told = subprocess.run(called, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603
    if told.returncode != 0:  # the document has changed, or needs options: that command shows the problem
        return {**run, "next": [shlex.join(["rdc", *words])]}
    facts = json.loads(told.stdout)
    asked = _asked(source, facts["step"]) if facts["state"] == "waiting" else ""
    question = ": ".join(filter(None, (facts["step_title"], asked)))
    return {**run, "state": facts["state"], "question": question if run["step"] else "", "next": facts["next"]}


def _asked(source: str, step: str) -> str:
    """Return the first line of a step's question from the document, because values may be secret."""
    from backends.python.table import table  # noqa: PLC0415 (the compiler is slow to import)
    from compiler.driver import compile_file  # noqa: PLC0415
    from compiler.passes import optimize  # noqa: PLC0415

    program = compile_file(source).program
    node = table(optimize(program))["nodes"].get(step, {}) if program else {}
    return next((line.strip() for key in ASKING for line in str(node.get(key, "")).splitlines() if line.strip()), "")


def _of_make(name: str, journal: str) -> dict[str, Any]:
    """Read the journal of a Makefile, and the Makefile beside it. make is not called."""
    records = [line.split(" | ")[0].split()[1:] for line in journal.splitlines() if " | " in line]
    if records[-1][0] == "over":
        return {"state": "complete" if "COMPLETE" in records[-1] else "stop"}
    step = next((words[1] for words in reversed(records) if words[0] in ("begin", "jump") and len(words) > 1), "")
    called, prefix, text = _makefile(f"{OURS}/{name}")
    node = re.escape(step)
    head = re.search(rf"^define \S*step_{node}\n(\S+) '(.*)'$", text, re.MULTILINE)
    asked = re.search(rf"^define \S*ask_{node}\n\s*(\S.*)$", text, re.MULTILINE)
    waits = records[-1][0] == "begin" and asked and not (head and head[1] in ("bash", "sh"))
    said = [*([head[2]] if head else []), *([asked[1]] if asked else [])]
    question = ": ".join(found.replace("'\\''", "'") for found in said)
    state = "running" if _is_locked(f"{OURS}/{name}/lock") else "waiting" if waits else "interrupted"
    following = [shlex.join([*called, f"{prefix}resume"])] if called and state != "running" else []
    return {"state": state, "step": step, "question": question, "next": following}


def _makefile(folder: str) -> tuple[list[str], str, str]:
    """Return the call of the Makefile with this state directory, the prefix of its targets, and its text."""
    usual = ("GNUmakefile", "makefile", "Makefile")
    for path in (*usual, *sorted(str(path) for path in Path().glob("*.mk"))):
        text = _text(path)
        match = re.search(rf"^(\S*)RDC_STATE := {re.escape(folder)}$", text, re.MULTILINE)
        if match and MARK in text:
            return ["make"] if path in usual else ["make", "-f", path], match[1], text
    return [], "", ""


def _text(path: str) -> str:
    """Return the text of a file, or ""."""
    return Path(path).read_text(encoding="utf-8", errors="replace") if Path(path).is_file() else ""


def _is_locked(lock: str) -> bool:
    """Return whether the process with a Makefile's lock exists. The link contains its number."""
    try:
        os.kill(int(os.readlink(lock).partition("-")[0]), 0)  # noqa: PTH115 (the link has no target)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True
