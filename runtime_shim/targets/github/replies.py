"""The workflow's input `answers` as a file of answers for the program."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from runtime_shim.engine.program import Table
from runtime_shim.targets.github.api import HaltError
from runtime_shim.tasks.answers import Answer, Reader, read_answers, take_answer

FREE = ("input", "select", "agent", "tool", "parallel", "stage")
JSON_START = r'\s*\{\s*["}]'  # a step's name may start with a brace too


def as_lines(program: Table, text: str) -> str:
    """Return answers one per line. GitHub's form has only one line, with semicolons between answers."""
    nodes = program["nodes"]
    if re.match(JSON_START, text):
        return _of_json(text)
    if any(node["task"] in FREE for node in nodes.values()):
        return "\n".join(_of_one_line(nodes, text) or re.split(r"\r\n|\r|\n", text))
    pieces = re.split(r"[,;](?:[ \t]|$)|[\r\n]", text, flags=re.MULTILINE)
    return "\n".join(pieces)


def _of_one_line(nodes: Table, text: str) -> list[str]:
    """Split one line at semicolons, if each part names a step."""
    pieces = [piece.strip() for piece in text.split(";")]
    are_named = all(any(piece.startswith(f"{name} ") for name in nodes) for piece in pieces)
    return pieces if len(pieces) > 1 and are_named and not re.search(r"[\r\n]", text) else []


def _of_json(text: str) -> str:
    """Return answers in JSON as lines."""
    try:
        pairs: Any = json.loads(text, object_pairs_hook=list)
        found = [(name, reply) for name, value in pairs for reply in (value if isinstance(value, list) else [value])]
    except (ValueError, RecursionError, TypeError) as error:
        raise HaltError("Answers", f"the answers look like JSON, but are not valid: {error}") from None
    for name, reply in found:
        if not isinstance(reply, str):
            raise HaltError("Answers", f"the answers of {name} must be a string or a list of strings")
    return written(Answer(number, name, reply) for number, (name, reply) in enumerate(found, 1))


def written(answers: Iterable[Answer]) -> str:
    """Return answers as lines of a file."""
    lines: list[str] = []
    for answer in answers:
        if answer.step is None:
            lines.append(answer.reply)
        elif re.search(r"[\r\n]", answer.reply):
            word = "END"
            while word in answer.reply.split("\n"):
                word += "_"
            lines += [f"{answer.step}<<{word}", answer.reply, word]
        else:
            lines.append(f"{answer.step} {answer.reply}")
    return "".join(f"{line}\n" for line in lines)


def left_over(program: Table, text: str, used: set[tuple[str, int]], digest: str, read: Reader, at: str) -> str:
    """Return the unused answers of an earlier run, without those for the step `at`, where one did not fit."""
    found = [
        answer for answer in read_answers("answers", text, program["nodes"], read) if (digest, answer.line) not in used
    ]
    if at:
        take_answer(found, at, program["nodes"][at]["task"] != "gate")
    return written(found)
