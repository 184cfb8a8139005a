"""A file of answers to prompts: a line each, `REPLY` or `STEP REPLY`."""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple, Optional, Union

from runtime_shim.engine.dialog import MEANINGS
from runtime_shim.engine.program import RefusedError, Table, digest
from runtime_shim.engine.session import OPENS, Session

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


READERS = [read_lines]  # the last one reads; a module that knows more forms than lines adds its own


class Answers:
    """The answers of a file that are still to be given, in order: not those that the run has used."""

    def __init__(self, path: str, nodes: dict[str, Table], used: Collection[tuple[str, int]]) -> None:
        with open(path, "rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise RefusedError(f"{path}: larger than {LARGEST:,} bytes: not a file of answers")
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise RefusedError(f"{path}: not UTF-8") from None
        self.digest = digest(text)
        self.is_another = bool(used) and self.digest not in dict(used)
        found = list(READERS[-1](text, nodes))
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


def open_answers(session: Session) -> None:
    """Read the file of answers, if one was named."""
    path = session.options.answers
    if path is not None:
        session.answers = Answers(path, session.program["nodes"], session.state.used)
        if session.answers.is_another:
            session.display.rule(f"{path}: not the answers used before; all of its lines count as unused")


OPENS.append(open_answers)
