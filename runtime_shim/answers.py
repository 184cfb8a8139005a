"""A file of answers to prompts: a line each, `RESULT` or `UNIT RESULT`."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple, Optional, Union

from runtime_shim.dialog import outcome_of
from runtime_shim.program import RefusedError, Table, digest

LARGEST = 16 * 1024 * 1024  # bytes of a file of answers; a pipe may have no end


class Answer(NamedTuple):
    """A line of the file; one without a unit answers the next prompt that has no line of its own."""

    line: int
    unit: Optional[str]
    reply: str


Mistake = tuple[int, str]


def read_lines(text: str, units: dict[str, Table]) -> Iterator[Union[Answer, Mistake]]:
    """Read `RESULT` and `UNIT RESULT`, a line each; also what is wrong with a line."""
    for number, line in enumerate(text.split("\n"), start=1):
        words = re.sub(r"(^|\s)#.*", "", line).strip().rsplit(None, 1)
        if not words:
            continue
        unit = words[0] if len(words) == 2 else None
        if outcome_of(words[-1]) is None:
            yield number, "expected pass, fail, yes or no, alone or after a unit"
        elif unit is not None and units.get(unit, {}).get("task") != "ask":
            yield number, f"{unit} is not a unit that asks"
        else:
            yield Answer(number, unit, words[-1])


READERS = [read_lines]  # the last one reads; a module that knows more forms than lines adds its own


class Answers:
    """The answers of a file that are still to be given, in order: not those of the lines that the run has used."""

    def __init__(self, path: str, units: dict[str, Table], used: Collection[tuple[str, int]]) -> None:
        with Path(path).open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise RefusedError(f"{path}: larger than {LARGEST:,} bytes: not a file of answers")
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise RefusedError(f"{path}: not UTF-8") from None
        self.digest = digest(text)
        self.is_another = bool(used) and self.digest not in dict(used)
        self._left: list[Answer] = []
        wrong: list[str] = []
        for found in READERS[-1](text, units):
            if not isinstance(found, Answer):
                number, problem = found
                wrong.append(f"{path}:{number}: {problem}")
            elif (self.digest, found.line) not in used:
                self._left.append(found)
        if wrong:
            raise RefusedError(*wrong)

    def take(self, unit: str, is_asking: bool = True) -> Optional[Answer]:
        """Return the next answer for a unit, its own before a common one if it asks, and use it up."""
        for owner in (unit, None)[: 1 + is_asking]:
            for index, answer in enumerate(self._left):
                if answer.unit == owner:
                    return self._left.pop(index)
        return None
