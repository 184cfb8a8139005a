"""Answer separate processes from a file of mocks. The answers are counted in a file beside it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from rdc.links import stray_link, unwritable_link
from rdc.plain_files import parse
from rdc.tools.request import read_request
from runtime_shim.contract.attempt import HANDED
from runtime_shim.contract.safe_paths import UnsafeError, write_inside
from runtime_shim.engine.program import RefusedError
from runtime_shim.operator.mocks import MocksByKind, Play, mocks_in, reply_to
from runtime_shim.tasks.answers import read_text
from runtime_shim.tasks.exchange import Answered

MOST_RUNS = 20
"""The number of runs that the file of counts remembers."""


def answer(path: str, given: bytes, environment: Mapping[str, str]) -> Answered:
    """Return the answer to a call from its environment and standard input; raises `RefusedError` if there is none."""
    if problem := stray_link(path):
        raise RefusedError(f"{path}: {problem}; remove the link")
    mocks = mocks_in(path, parse(path, read_text(path)))
    kind, name = _called(mocks, given, environment)
    if not name:
        raise RefusedError(f'RDC_STEP is not set; use this command in a run: --agent "rdc mock {path}"')
    number = _counted(Path(f"{path}.calls"), environment.get("RDC_RUN_ID", ""), f"{kind} {name}")
    reply: Answered | Play | None = reply_to(mocks, kind, name, number)
    if reply is None:
        step = environment.get("RDC_STEP", name)
        raise RefusedError(f"{step}: {path} has no answer number {number + 1} under {kind}: {name}")
    return _played(reply, environment) if isinstance(reply, Play) else reply


def _played(play: Play, environment: Mapping[str, str]) -> Answered:
    """Write the files of a mocked executor, and its handed-over data."""
    for path, text in play.files.items():
        try:
            write_inside(str(Path.cwd()), path, text.encode("utf-8", "replace"))
        except UnsafeError as error:
            raise RefusedError(str(error)) from None
    for key in play.handed.keys() & HANDED.keys():
        if file := environment.get(HANDED[key]):
            Path(file).write_text(json.dumps(play.handed[key]), encoding="utf-8")
    return Answered(b"", f"exit code {play.code}" if play.code else "")


def _called(mocks: MocksByKind, given: bytes, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the kind and name of the called mock. Agents have a type; tools and executors get JSON."""
    step = environment.get("RDC_STEP", "")
    if "RDC_AGENT_TYPE" in environment:
        return "agents", step
    request = read_request(given)
    if request is None:
        return ("executors" if step in mocks["executors"] else "agents"), step
    known = [name for name in mocks["tools"] if name.partition("/")[2] == request.tool]
    if len(known) > 1:
        raise RefusedError(f"{step}: several connections have the tool {request.tool}: {', '.join(known)}")
    return "tools", known[0] if known else f"CONNECTION/{request.tool}"


def _counted(path: Path, run: str, key: str) -> int:
    """Return the number of earlier answers in a run, and count this one."""
    if problem := unwritable_link(path):
        raise RefusedError(f"cannot write {path}: {problem}; remove the link")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    with os.fdopen(descriptor, "r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        counts: dict[str, dict[str, int]] = {}
        with suppress(ValueError):
            counts = json.loads(file.read())
        own = counts.pop(run, {})
        number = own.get(key, 0)
        kept = dict(list(counts.items())[1 - MOST_RUNS :])
        text = json.dumps({**kept, run: {**own, key: number + 1}})
        file.seek(0)
        file.write(text)
        file.truncate()
    return number
