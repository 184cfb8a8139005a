"""A file of answers to prompts: a line each, `RESULT` or `UNIT RESULT`."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Optional

from runtime_shim.dialog import outcome_of
from runtime_shim.journal import Record
from runtime_shim.program import RefusedError, Table, digest

LARGEST = 16 * 1024 * 1024  # bytes of a file of answers; a pipe may have no end


class Answer(NamedTuple):
    """A line of the file; one without a unit answers the next prompt that has no line of its own."""

    line: int
    unit: Optional[str]
    outcome: str


class Answers:
    """The answers of a file that are still to be given, in order: not those that the run has used."""

    def __init__(self, path: str, units: dict[str, Table], finished: Iterable[Record]) -> None:
        with Path(path).open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise RefusedError(f"{path}: larger than {LARGEST:,} bytes: not a file of answers")
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise RefusedError(f"{path}: not UTF-8") from None
        self.digest = digest(text)
        used = {(record["answers"], record["line"]) for record in finished if "answers" in record}
        self.is_another = bool(used) and self.digest not in dict(used)
        self._left: list[Answer] = []
        wrong: list[str] = []
        for number, line in enumerate(text.split("\n"), start=1):
            words = re.sub(r"(^|\s)#.*", "", line).strip().rsplit(None, 1)
            if not words:
                continue
            outcome, unit = outcome_of(words[-1]), words[0] if len(words) == 2 else None
            if outcome is None:
                wrong.append(f"{path}:{number}: expected pass, fail, yes or no, alone or after a unit")
            elif unit is not None and units.get(unit, {}).get("task") != "ask":
                wrong.append(f"{path}:{number}: {unit} is not a unit that asks")
            elif (self.digest, number) not in used:
                self._left.append(Answer(number, unit, outcome))
        if wrong:
            raise RefusedError(*wrong)

    def take(self, unit: str) -> Optional[Answer]:
        """Return the next answer for a unit, its own before a common one, and use it up."""
        for owner in (unit, None):
            for index, answer in enumerate(self._left):
                if answer.unit == owner:
                    return self._left.pop(index)
        return None
