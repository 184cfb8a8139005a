"""What executors do in a mock run, as a file of mocks says it."""

from typing import Any, NamedTuple

from runtime_shim.data.fitting import NUMBER
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.operator.mocks import READ_AS

PLAYED = {"exit", "write", "evidence", "drr"}


class Play(NamedTuple):
    """What an executor does in a mock run: its exit code, the files that it writes, what it hands over."""

    code: int
    files: dict[str, str]
    handed: Table


def play_in(place: str, found: Any) -> Play:  # noqa: ANN401 (any value of a file)
    """Read what an executor does."""
    if found in ("pass", "fail"):
        return Play(int(found == "fail"), {}, {})
    if not isinstance(found, dict) or not set(found) <= PLAYED:
        raise RefusedError(f"{place}: expected pass, fail, or some of {', '.join(sorted(PLAYED))}")
    code, files = str(found.get("exit", 0)), found.get("write") or {}
    if not code.isdecimal() or int(code) > 255:
        raise RefusedError(f"{place}: exit: expected a number from 0 to 255")
    if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
        raise RefusedError(f"{place}: write: expected a string for each path")
    handed = {key: _numbered(found[name]) for key, name in (("evidence", "evidence"), ("drrs", "drr")) if name in found}
    return Play(int(code), files, handed)


def _numbered(found: Any) -> Any:  # noqa: ANN401
    """Return what is handed over with its numbers: in files of mocks that are YAML every value is a text."""
    if isinstance(found, list):
        return [_numbered(one) for one in found]
    if not isinstance(found, dict):
        return found
    is_number = {key: NUMBER.fullmatch(str(found.get(key))) for key in ("reliability", "wlnk")}
    return {key: float(value) if is_number.get(key) else value for key, value in found.items()}


READ_AS["executors"] = play_in
