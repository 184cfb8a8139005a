"""Read a file of mocks: the answers of agents, tools and executors, by step and by tool, in order."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from rdc.atomic import stray_link
from runtime_shim.data.fitting import NUMBER
from runtime_shim.data.shared import read_json
from runtime_shim.engine.program import RefusedError
from runtime_shim.tasks.answers import read_text
from runtime_shim.tasks.exchange import Answered

KINDS = ("agents", "tools", "executors")
PLAYED = {"exit", "write", "evidence", "drr"}


class Play(NamedTuple):
    """An executor: its exit code, the files that it writes, the data that it hands over."""

    code: int
    files: dict[str, str]
    handed: dict[str, Any]


class Mocks(NamedTuple):
    """The answers in the file `path`: by kind, then by the name of a step or tool, in order."""

    path: str
    replies: dict[str, dict[str, list[Answered | Play]]]

    def due(self, kind: str, name: str, number: int, step: str) -> Answered | Play:
        """Return the answer to call `number`, counted from 0; raises `RefusedError` if it is missing."""
        replies = self.replies[kind].get(name, [])
        if number < len(replies):
            return replies[number]
        raise RefusedError(f"{step}: {self.path} has no answer number {number + 1} under {kind}: {name}")


def read_mocks(path: str) -> Mocks:
    """Return the mocks in a file, which must not be reached through a link out of the project."""
    if problem := stray_link(path):
        raise RefusedError(f"{path}: {problem}; remove the link")
    found = parse(path, read_text(path))
    if not isinstance(found, dict) or not set(found) <= {*KINDS, "//"}:
        known = ", ".join(f"`{kind}`" for kind in KINDS)
        raise RefusedError(f"{path}: a mock file may only have the keys {known}")
    return Mocks(path, {kind: _by_name(path, kind, found.get(kind) or {}) for kind in KINDS})


def _by_name(path: str, kind: str, found: object) -> dict[str, list[Answered | Play]]:
    if not isinstance(found, dict):
        raise RefusedError(f"{path}: `{kind}` needs a list of answers for each name")
    read: Callable[[str, object], Answered | Play] = _play if kind == "executors" else _reply
    listed = {name: replies if isinstance(replies, list) else [replies] for name, replies in found.items()}
    return {name: [read(f"{path}: {kind}: {name}", reply) for reply in replies] for name, replies in listed.items()}


def _reply(place: str, found: object) -> Answered:
    if isinstance(found, dict) and set(found) == {"fail"}:
        why = _reply(place, found["fail"]).answer.decode().split()
        return Answered(b"", " ".join(why) or "set by the mock file")
    if isinstance(found, (str, bool, int, float)):
        text = found if isinstance(found, str) else json.dumps(found)
        return Answered(text.encode("utf-8", "replace"), "")
    raise RefusedError(f"{place}: expected a string, or {{fail: why}}")


def _play(place: str, found: object) -> Play:
    if found in ("pass", "fail"):
        return Play(int(found == "fail"), {}, {})
    if not isinstance(found, dict) or not set(found) <= PLAYED:
        raise RefusedError(f"{place}: expected pass, fail, or some of {', '.join(sorted(PLAYED))}")
    code, files = str(found.get("exit", 0)), found.get("write") or {}
    if not re.fullmatch("[0-9]{1,3}", code) or int(code) > 255:
        raise RefusedError(f"{place}: exit: expected a number from 0 to 255")
    if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
        raise RefusedError(f"{place}: write: expected a string for each path")
    handed = {key: _numbered(found[name]) for key, name in (("evidence", "evidence"), ("drrs", "drr")) if name in found}
    return Play(int(code), files, handed)


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
    import yaml  # noqa: PLC0415 (few runs have mocks)

    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.BaseLoader)):
            raise RefusedError(f"{path}: aliases (*) are not supported; write the value again")
        return yaml.load(text, yaml.BaseLoader) or {}  # noqa: S506 (it only makes strings, lists and dicts)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else path
        raise RefusedError(f"{where}: not YAML: {getattr(error, 'problem', None) or error}") from None
