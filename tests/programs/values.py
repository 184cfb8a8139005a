"""What a command writes to RDC_OUTPUT (I9, I7), and the field of a JSON object in an answer (I19)."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from tests.programs.filling import WHITE

LONGEST_VALUE = 65_536


class MalformedError(Exception):
    """What was written to RDC_OUTPUT makes the outcome `fail`."""


def fits(value: str) -> bool:
    """Whether a value fits into a variable of the environment (I7)."""
    return len(value.encode()) <= LONGEST_VALUE and "\0" not in value


def values_of(content: str, names: Collection[str]) -> dict[str, str]:
    """The values in what was written; raises an error for anything that is not as I9 has it."""
    found: dict[str, str] = {}
    rest = content
    while rest:
        line, _, rest = rest.partition("\n")
        marks = {mark: line.find(mark) for mark in ("=", "<<") if mark in line}
        if not marks:
            raise MalformedError(line)
        mark = min(marks, key=lambda each: marks[each])
        name, _, value = line.partition(mark)
        if mark == "<<":
            value, rest = _heredoc(value, rest)
        if name not in names or not fits(value):
            raise MalformedError(line)
        found[name] = value
    return found


def _heredoc(word: str, rest: str) -> tuple[str, str]:
    """The value up to the line that is the word, and what comes behind."""
    lines = rest.split("\n")
    if not word or word not in lines:
        raise MalformedError(word)
    end = lines.index(word)
    return "\n".join(lines[:end]), "\n".join(lines[end + 1 :])


def extracted(answer: str, field: str) -> str:
    """The field of the last JSON object that has it, or the whole answer (I19). Every end is tried for every begin."""
    for begin in range(len(answer) - 1, -1, -1):
        if answer[begin] != "{":
            continue
        for end in range(begin + 1, len(answer)):
            if answer[end] == "}" and (found := _object(answer[begin : end + 1])) is not None:
                if field in found:
                    return _plain(found[field]).strip(WHITE)
                break
    return answer


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text, parse_constant=_refused)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _plain(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return "".join("\N{REPLACEMENT CHARACTER}" if _is_no_text(character) else character for character in text)


def _is_no_text(character: str) -> bool:
    """Whether no target could keep a character: NUL, and half of a pair of surrogates."""
    return character == "\0" or 0xD800 <= ord(character) < 0xE000
