"""Mock runs: a file has the answers of agents, tools and executors, by step and by tool, in order (`--mock`)."""

import json
import re
from typing import Any, Callable, NamedTuple, Optional

from runtime_shim.data.fitting import NUMBER
from runtime_shim.data.shared import read_json
from runtime_shim.engine.lifecycle import Extension, Performers
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import one_line
from runtime_shim.tasks.answers import read_text
from runtime_shim.tasks.exchange import Answered
from runtime_shim.tasks.prompting import ANSWERS, PROMPTS, Prompting

KINDS = ("agents", "tools", "executors")
MocksByKind = dict[str, dict[str, list[Any]]]


def mocks_in(path: str, found: Any) -> MocksByKind:  # noqa: ANN401 (any JSON value)
    """Return the mocks in the content of the file `path`."""
    known = ", ".join(f"`{kind}`" for kind in KINDS)
    if not isinstance(found, dict) or not set(found) <= {*KINDS, "//"}:
        raise RefusedError(f"{path}: a mock file may only have the keys {known}")
    return {kind: _by_name(path, kind, found.get(kind) or {}) for kind in KINDS}


def _by_name(path: str, kind: str, found: Any) -> dict[str, list[Any]]:  # noqa: ANN401 (any value of a file)
    if not isinstance(found, dict):
        raise RefusedError(f"{path}: `{kind}` needs a list of answers for each name")
    read: Callable[[str, Any], Any] = play_in if kind == "executors" else _reply
    listed = {name: replies if isinstance(replies, list) else [replies] for name, replies in found.items()}
    return {name: [read(f"{path}: {kind}: {name}", reply) for reply in replies] for name, replies in listed.items()}


def _reply(place: str, found: Any) -> Answered:  # noqa: ANN401
    if isinstance(found, dict) and set(found) == {"fail"}:
        why = _reply(place, found["fail"]).answer.decode().split()
        return Answered(b"", " ".join(why) or "set by the mock file")
    if isinstance(found, (str, bool, int, float)):
        text = found if isinstance(found, str) else json.dumps(found)
        return Answered(text.encode("utf-8", "replace"), "")
    raise RefusedError(f"{place}: expected a string, or {{fail: why}}")


def reply_to(mocks: MocksByKind, kind: str, name: str, number: int) -> Optional[Any]:  # noqa: ANN401
    """Return the answer to call `number`, counted from 0; None if there is none."""
    replies = mocks[kind].get(name, [])
    return replies[number] if number < len(replies) else None


PLAYED = {"exit", "write", "evidence", "drr"}


class Play(NamedTuple):
    """An executor in a mock run: its exit code, the files it writes, the data it hands over."""

    code: int
    files: dict[str, str]
    handed: Table


def play_in(place: str, found: Any) -> Play:  # noqa: ANN401 (any value of a file)
    """Return the play of an executor."""
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
    """Return the data to hand over, with numbers; all values in YAML mock files are strings."""
    if isinstance(found, list):
        return [_numbered(one) for one in found]
    if not isinstance(found, dict):
        return found
    is_number = {key: re.fullmatch(NUMBER, str(found.get(key))) for key in ("reliability", "wlnk")}
    return {key: float(value) if is_number.get(key) else value for key, value in found.items()}


def reply_due(session: Session, mocks: MocksByKind, kind: str, name: str, number: int) -> Any:  # noqa: ANN401
    """Return the answer to a call; refuse if the file has none."""
    found = reply_to(mocks, kind, name, number)
    if found is None:
        session.rest()
        where = one_line(f"{kind}: {name}")
        wanted = f"{session.options.mock} has no answer number {number + 1} under {where}"
        raise RefusedError(f"{session.state.node}: {wanted}")
    return found


def answered_by(answered: Answered, performer: Prompting, name: str, given: str) -> Answered:
    """Show and keep an answer like a command's, unless the run was asked to end."""
    performer.session.heed()
    text = answered.answer.decode()
    if text:
        performer.show(text.rstrip("\n"))
    performer.keep(ANSWERS, name, text, performer.keep(PROMPTS, name, given))
    return answered


class MockRuns(Extension):
    """Mock runs from a `--mock` file."""

    mocked: Performers  # replacements by kind of task

    def before_run(self, _state: Optional[State]) -> None:
        """Let the file answer instead of commands."""
        session, path = self.session, self.session.options.mock
        if not path or session.options.command not in ("run", "resume"):
            return
        mocks = mocks_in(path, (session.host.parse or read_json)(path, read_text(path)))
        for task in {*self.mocked} & {*session.kinds}:
            session.kinds[task] = type("Mocked", (self.mocked[task], session.kinds[task]), {"mocks": mocks})
