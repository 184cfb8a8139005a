"""Answer instead of agents, tools and executors, in separate processes, from a file of mocks.

The file has answers by step and by tool, in order. A file beside it counts the answers of each run.
"""

import fcntl
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from compiler.reading.yaml import UnreadableError, load_texts
from rdc.calls.request import read_request
from rdc.output.write import stray_link, unwritable_link
from runtime_shim.engine.program import UsageError
from runtime_shim.io.answers import read_text
from runtime_shim.stepspec.attempt import HANDED
from runtime_shim.stepspec.safe_paths import UnsafeError, write_inside
from runtime_shim.tasks.exchange import Answered
from runtime_shim.values.fitting import NUMBER
from runtime_shim.values.inputs import read_json

KINDS = ("agents", "tools", "executors")
PLAYED = {"exit", "write", "evidence", "drr"}
MOST_RUNS = 20  # the number of runs that the file of counts remembers

Call = tuple[str, str, int]
"""The kind and name of an answer, and how many come before it."""


class MockExecutor(NamedTuple):
    """An executor: its exit code, the files that it writes, the data that it hands over."""

    code: int
    files: dict[str, str]
    handed: dict[str, Any]


class MockAnswers(NamedTuple):
    """The answers in the file `path`: by kind, then by the name of a step or tool, in order."""

    path: str
    replies: dict[str, dict[str, list[Answered | MockExecutor]]]

    def due(self, kind: str, name: str, number: int, step: str) -> Answered | MockExecutor:
        """Return the answer to call `number`, counted from 0; raises `UsageError` if it is missing."""
        replies = self.replies[kind].get(name, [])
        if number < len(replies):
            return replies[number]
        raise UsageError(f"{step}: {self.path} has no answer number {number + 1} under {kind}: {name}")


def read_mocks(path: str) -> MockAnswers:
    """Return the mocks in a file, which must not be reached through a link out of the project."""
    if problem := stray_link(path):
        raise UsageError(f"{path}: {problem}; remove the link")
    found = parse(path, read_text(path))
    if not isinstance(found, dict) or not set(found) <= {*KINDS, "//"}:
        known = ", ".join(f"`{kind}`" for kind in KINDS)
        raise UsageError(f"{path}: a mock file may only have the keys {known}")
    return MockAnswers(path, {kind: _by_name(path, kind, found.get(kind) or {}) for kind in KINDS})


def _by_name(path: str, kind: str, found: object) -> dict[str, list[Answered | MockExecutor]]:
    if not isinstance(found, dict):
        raise UsageError(f"{path}: `{kind}` needs a list of answers for each name")
    read: Callable[[str, object], Answered | MockExecutor] = _play if kind == "executors" else _reply
    listed = {name: replies if isinstance(replies, list) else [replies] for name, replies in found.items()}
    return {name: [read(f"{path}: {kind}: {name}", reply) for reply in replies] for name, replies in listed.items()}


def _reply(place: str, found: object) -> Answered:
    if isinstance(found, dict) and set(found) == {"fail"}:
        why = _reply(place, found["fail"]).answer.decode().split()
        return Answered(b"", " ".join(why) or "set by the mock file")
    if isinstance(found, (str, bool, int, float)):
        text = found if isinstance(found, str) else json.dumps(found)
        return Answered(text.encode("utf-8", "replace"), "")
    raise UsageError(f"{place}: expected a string, or {{fail: why}}")


def _play(place: str, found: object) -> MockExecutor:
    if found in ("pass", "fail"):
        return MockExecutor(int(found == "fail"), {}, {})
    if not isinstance(found, dict) or not set(found) <= PLAYED:
        raise UsageError(f"{place}: expected pass, fail, or some of {', '.join(sorted(PLAYED))}")
    code, files = str(found.get("exit", 0)), found.get("write") or {}
    if not re.fullmatch("[0-9]{1,3}", code) or int(code) > 255:
        raise UsageError(f"{place}: exit: expected a number from 0 to 255")
    if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
        raise UsageError(f"{place}: write: expected a string for each path")
    handed = {key: _numbered(found[name]) for key, name in (("evidence", "evidence"), ("drrs", "drr")) if name in found}
    return MockExecutor(int(code), files, handed)


def _numbered(found: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """Return the data to hand over, with numbers; all values in YAML mock files are strings."""
    if isinstance(found, list):
        return [_numbered(one) for one in found]
    if not isinstance(found, dict):
        return found
    is_number = {key: re.fullmatch(NUMBER, str(found.get(key))) for key in ("reliability", "wlnk")}
    return {key: float(value) if is_number.get(key) else value for key, value in found.items()}


def parse(path: str, text: str) -> Any:  # noqa: ANN401 (dicts, lists and strings)
    """Return the content of a file. Scalars of YAML are strings as written: `no` and 1.50 stay unchanged."""
    if text.lstrip().startswith("{"):
        return read_json(path, text)
    try:
        return load_texts(text) or {}
    except UnreadableError as error:
        raise UsageError(f"{path}:{error.line}: not YAML: {error}") from None


# --- Answers ----------------------------------------------------------------------------------------------------------


class MockResult(NamedTuple):
    """The command's exit code, output and message."""

    code: int
    output: bytes
    message: str


def mock_command(path: str | Path, *words: str) -> str:
    """Return the command that answers from a file of mocks, for `rdc run --mock` and `rdc test`."""
    return shlex.join([sys.executable, "-P", "-m", "rdc", "mock", str(path), *words])


def answer(path: str, given: bytes, environment: Mapping[str, str], call: Call | None = None) -> MockResult:
    """Return the answer to a call, by default from its environment and input; raises `UsageError` without one."""
    mocks = read_mocks(path)
    reply = _next(mocks, given, environment) if call is None else mocks.due(*call, call[1])
    if isinstance(reply, MockExecutor):
        try:
            return _played(reply, environment)
        except UnsafeError as error:
            raise UsageError(f"{environment.get('RDC_STEP', '')}: {path}: {error}") from None
    return MockResult(int(bool(reply.trouble)), reply.answer, reply.trouble)


def _played(play: MockExecutor, environment: Mapping[str, str]) -> MockResult:
    for path, text in play.files.items():
        write_inside(str(Path.cwd()), path, text.encode("utf-8", "replace"))
    for key in play.handed.keys() & HANDED.keys():
        if file := environment.get(HANDED[key]):
            Path(file).write_text(json.dumps(play.handed[key]), encoding="utf-8")
    return MockResult(play.code, b"", "")


def _next(mocks: MockAnswers, given: bytes, environment: Mapping[str, str]) -> Answered | MockExecutor:
    """Return the answer that follows those of earlier calls in the same run."""
    kind, name = _called(mocks, given, environment)
    if not name:
        raise UsageError(f'RDC_STEP is not set; use this command in a run: --agent "rdc mock {mocks.path}"')
    path, run, key = Path(f"{mocks.path}.calls"), environment.get("RDC_RUN_ID", ""), f"{kind} {name}"
    if problem := unwritable_link(path):
        raise UsageError(f"cannot write {path}: {problem}; remove the link")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    with os.fdopen(descriptor, "r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        counts: dict[str, dict[str, int]] = {}
        with suppress(ValueError):
            counts = json.loads(file.read())
        own = counts.pop(run, {})
        number = own.get(key, 0)
        reply = mocks.due(kind, name, number, environment.get("RDC_STEP", name))  # a missing one doesn't count
        recent = dict(list(counts.items())[1 - MOST_RUNS :])
        text = json.dumps({**recent, run: {**own, key: number + 1}})
        file.seek(0)
        file.write(text)
        file.truncate()
    return reply


def _called(mocks: MockAnswers, given: bytes, environment: Mapping[str, str]) -> tuple[str, str]:
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
        raise UsageError(f"{step}: several connections have the tool {tool}: {', '.join(known)}")
    return "tools", known[0] if known else f"CONNECTION/{tool}"
