"""Answers of a file: which step each is for, and which are still to be given (M3)."""

import re
from collections.abc import Collection, Iterator
from typing import Callable, NamedTuple, Optional, Union

from runtime_shim.engine.program import RefusedError, Table, digest
from runtime_shim.engine.texts import MEANINGS

LARGEST_INPUT = 1 << 20  # bytes of a file with inputs
LARGEST = 16 * 1024 * 1024  # bytes of a file of answers; a pipe may have no end


class Answer(NamedTuple):
    """A line of the file; one without a step answers the next prompt that has no line of its own."""

    line: int
    step: Optional[str]
    reply: str


Problem = tuple[int, str]


def read_lines(text: str, nodes: dict[str, Table]) -> Iterator[Union[Answer, Problem]]:
    """Read `REPLY` and `STEP REPLY`, a line each; also what is wrong with a line."""
    for number, line in enumerate(text.split("\n"), start=1):
        *node, word = re.sub(r"(^|\s)#.*", "", line).strip().rsplit(None, 1) or [""]
        if not word:
            continue
        if word.lower() not in MEANINGS:
            yield number, "expected pass, fail, yes or no, alone or after a step"
        elif node and nodes.get(node[0], {}).get("task") != "ask":
            yield number, f"{node[0]} is not a step that asks"
        else:
            yield Answer(number, node[0] if node else None, word)


Reader = Callable[[str, dict[str, Table]], Iterator[Union[Answer, Problem]]]


def read_text(path: str, largest: int = LARGEST_INPUT) -> str:
    """Read a text file that the operator names."""
    with open(path, "rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise RefusedError(f"{path}: larger than {largest:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RefusedError(f"{path}: not UTF-8") from None


class Answers:
    """The answers of a file that are still to be given, in order: not those that the run has used."""

    def __init__(self, path: str, nodes: dict[str, Table], used: Collection[tuple[str, int]], read: Reader) -> None:
        text = read_text(path, LARGEST)
        self.digest = digest(text)
        self.is_another = bool(used) and self.digest not in dict(used)
        found = list(read(text, nodes))
        wrong = [f"{path}:{item[0]}: {item[1]}" for item in found if not isinstance(item, Answer)]
        if wrong:
            raise RefusedError(*wrong)
        answers = [item for item in found if isinstance(item, Answer)]
        self._left = [answer for answer in answers if (self.digest, answer.line) not in used]

    def take(self, node: str, is_asking: bool = True) -> Optional[Answer]:
        """Return the next answer for a step, its own before a common one."""
        for owner in (node, None)[: 1 + is_asking]:
            for index, answer in enumerate(self._left):
                if answer.step == owner:
                    return self._left.pop(index)
        return None
