"""Files of answers, and the step that each answer is for."""

import re
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.texts import MEANINGS

LARGEST = 16 * 1024 * 1024  # bytes of answers; a pipe may have no end


class Answer(NamedTuple):
    """A line of the file. One without a step answers the next question that no other line names."""

    line: int
    step: "str | None"
    reply: str


AnswerIssue = tuple[int, str]
Reader = Callable[[str, dict[str, Table]], Iterator["Answer | AnswerIssue"]]


def read_lines(text: str, nodes: dict[str, Table]) -> "Iterator[Answer | AnswerIssue]":
    """Return the answers of `REPLY` and `STEP REPLY` lines, and problems with lines."""
    for number, line in enumerate(text.split("\n"), start=1):
        *step, reply = re.sub(r"(^|\s)#.*", "", line).strip().rsplit(None, 1) or [""]
        if reply.lower() not in ("", *MEANINGS):
            yield number, "expected pass, fail, yes or no, optionally after a step"
        elif step and nodes.get(step[0], {}).get("task") != "ask":
            yield number, f"{step[0]} takes no answer"
        elif reply:
            yield Answer(number, step[0] if step else None, reply)


def read_text(path: str, largest: int = 1 << 20) -> str:
    """Return the text of a file that the operator names, of at most so many bytes."""
    with open(path, "rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise UsageError(f"{path}: larger than {largest:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8") from None


def read_answers(path: str, text: str, nodes: dict[str, Table], read: Reader = read_lines) -> list[Answer]:
    """Return the answers of a file, or refuse it with all its problems."""
    found: list[Any] = list(read(text, nodes))
    if wrong := [f"{path}:{item[0]}: {item[1]}" for item in found if not isinstance(item, Answer)]:
        raise UsageError(*wrong)
    return found


def take_answer(left: list[Answer], step: str, is_asking: bool = True) -> "Answer | None":
    """Remove and return the next answer for a step; answers that name it come first."""
    found = next((answer for owner in (step, None)[: 1 + is_asking] for answer in left if answer.step == owner), None)
    if found is not None:
        left.remove(found)
    return found
