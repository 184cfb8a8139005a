"""Answer separate processes from a file of mocks. The answers are counted in a file beside it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from rdc.atomic import unwritable_link
from rdc.tools.mock_file import Mocks, Play, read_mocks
from rdc.tools.request import read_request
from runtime_shim.contract.attempt import HANDED
from runtime_shim.contract.safe_paths import UnsafeError, write_inside
from runtime_shim.engine.program import RefusedError
from runtime_shim.tasks.exchange import Answered

MOST_RUNS = 20
"""The number of runs that the file of counts remembers."""

Call = tuple[str, str, int]
"""The kind and name of an answer, and how many come before it."""


class Said(NamedTuple):
    """The command's exit code, output and message."""

    code: int
    output: bytes
    message: str


def answer(path: str, given: bytes, environment: Mapping[str, str], call: Call | None = None) -> Said:
    """Return the answer to a call, by default from its environment and input; raises `RefusedError` without one."""
    mocks = read_mocks(path)
    reply = _next(mocks, given, environment) if call is None else mocks.due(*call, call[1])
    if isinstance(reply, Play):
        try:
            return _played(reply, environment)
        except UnsafeError as error:
            raise RefusedError(f"{environment.get('RDC_STEP', '')}: {path}: {error}") from None
    return Said(int(bool(reply.trouble)), reply.answer, reply.trouble)


def _played(play: Play, environment: Mapping[str, str]) -> Said:
    """Write the files of a mocked executor, and its handed-over data."""
    for path, text in play.files.items():
        write_inside(str(Path.cwd()), path, text.encode("utf-8", "replace"))
    for key in play.handed.keys() & HANDED.keys():
        if file := environment.get(HANDED[key]):
            Path(file).write_text(json.dumps(play.handed[key]), encoding="utf-8")
    return Said(play.code, b"", "")


def _next(mocks: Mocks, given: bytes, environment: Mapping[str, str]) -> Answered | Play:
    """Return the answer that follows those of earlier calls in the same run."""
    kind, name = _called(mocks, given, environment)
    if not name:
        raise RefusedError(f'RDC_STEP is not set; use this command in a run: --agent "rdc mock {mocks.path}"')
    path, run, key = Path(f"{mocks.path}.calls"), environment.get("RDC_RUN_ID", ""), f"{kind} {name}"
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
        reply = mocks.due(kind, name, number, environment.get("RDC_STEP", name))  # a missing one doesn't count
        kept = dict(list(counts.items())[1 - MOST_RUNS :])
        text = json.dumps({**kept, run: {**own, key: number + 1}})
        file.seek(0)
        file.write(text)
        file.truncate()
    return reply


def _called(mocks: Mocks, given: bytes, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the kind and name of the called mock. Agents have a type; tools and executors get JSON."""
    step = environment.get("RDC_STEP", "")
    if "RDC_AGENT_TYPE" in environment:
        return "agents", step
    request = read_request(given)
    if request is None:
        return ("executors" if step in mocks.replies["executors"] else "agents"), step
    tool = request.tool
    known = [name for name in mocks.replies["tools"] if tool in (name, name.partition("/")[2])]
    if len(known) > 1:
        raise RefusedError(f"{step}: several connections have the tool {tool}: {', '.join(known)}")
    return "tools", known[0] if known else f"CONNECTION/{tool}"
