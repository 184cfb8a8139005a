"""Files of mocks: what agents, tools and executors do in a mock run, by step and by tool, in order."""

import json
from typing import Any, Callable, NamedTuple, Optional

from runtime_shim.legacy.plain_yaml import PlainError, read_plain
from runtime_shim.legacy.program import RefusedError

KINDS = ("agents", "tools", "executors")
KIND_OF = {"agent": "agents", "tool": "tools"}  # by how the key of a call begins


class Reply(NamedTuple):
    """What is answered, or why that fails, "" if it does not."""

    text: str
    trouble: str = ""


Mocks = dict[str, dict[str, list[Any]]]
READ_AS: dict[str, Callable[[str, Any], Any]] = {"executors": lambda _place, found: found}
"""How the items of a kind are read: those of executors by who plays them."""


def mocks_in(path: str, text: str) -> Mocks:
    """Read the text of a file of mocks, in YAML or JSON; `path` is what the file is called."""
    try:
        found = json.loads(text) if text.lstrip().startswith("{") else read_plain(text)
    except PlainError as error:
        raise RefusedError(f"{path}:{error}") from None
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"{path}: not JSON: {error}") from None
    known = ", ".join(f"`{kind}`" for kind in KINDS)
    if not isinstance(found, dict) or not set(found) <= set(KINDS):
        raise RefusedError(f"{path}: a file of mocks has the keys {known}, and no others")
    return {kind: _by_name(path, kind, found.get(kind) or {}) for kind in KINDS}


def _by_name(path: str, kind: str, found: Any) -> dict[str, list[Any]]:  # noqa: ANN401 (any value of a file)
    if not isinstance(found, dict):
        raise RefusedError(f"{path}: `{kind}` has a list of answers for each name")
    read: Callable[[str, Any], Any] = READ_AS.get(kind, _reply)
    return {
        name: [read(f"{path}: {kind}: {name}", reply) for reply in _listed(replies)] for name, replies in found.items()
    }


def _listed(replies: Any) -> list[Any]:  # noqa: ANN401
    return replies if isinstance(replies, list) else [replies]


def _reply(place: str, found: Any) -> Reply:  # noqa: ANN401
    if isinstance(found, dict) and set(found) == {"fail"}:
        return Reply("", " ".join(_reply(place, found["fail"]).text.split()) or "as the mock says")
    if isinstance(found, str):
        return Reply(found)
    if isinstance(found, (bool, int, float)):
        return Reply(json.dumps(found))
    raise RefusedError(f"{place}: expected a string, or {{fail: why}}")


def reply_to(mocks: Mocks, kind: str, name: str, number: int) -> Optional[Any]:  # noqa: ANN401
    """Return the answer to a call, by its number from 0; None where there is none."""
    replies = mocks[kind].get(name, [])
    return replies[number] if number < len(replies) else None
