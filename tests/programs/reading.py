"""How answers become words: one answer (I11, I12), and those of a parallel step (I14). Written with no regular
expression but the author's own: each place of a line is looked at in turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .cases import Json
from .filling import WHITE

LONGEST_ANSWER = 1_048_576


def answer_of(reply: Json, *, may_be_empty: bool = False) -> str | None:
    """What an agent or a tool has answered; None for no answer (I11, I13)."""
    if reply.get("hangs") or reply["exit"]:
        return None
    said: bytes = reply["answer"].encode("utf-8", "surrogateescape")
    answer = said.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}").strip(WHITE)
    if len(said) > LONGEST_ANSWER or not (answer or may_be_empty):
        return None
    return answer


def word_of(answer: str | None, reading: Json) -> str:
    """The word of an agent (I12), or what its having answered says where it has no keywords (I11)."""
    keywords = reading.get("keywords", [])
    if not keywords:
        return "fail" if answer is None else "pass"
    if answer is None:
        return "failed"
    answer = _shown(answer)
    found = _deciding(answer, keywords)
    only = next(iter(found)) if len(found) == 1 else None
    validation = reading.get("validation")
    matches = validation is None or re.search(validation, answer, re.IGNORECASE)
    if not matches and only not in reading.get("excused", []):
        return "invalid"
    if len(found) > 1:
        return "ambiguous"
    return only or "none"


def _deciding(answer: str, keywords: Sequence[str]) -> set[str]:
    """The keywords of the last line that has any, those in exact case if it has such.

    A line with others alone is contradicted by the last line that has some in exact case.
    """
    lines = answer.split("\n")
    exact = [set(_within(line, keywords, str.__eq__)) for line in lines]
    deciding = [number for number, line in enumerate(lines) if set(_within(line, keywords, _alike))]
    if not deciding:
        return set()
    last = deciding[-1]
    if exact[last]:
        return exact[last]
    earlier = [words for words in exact[:last] if words]
    return set(_within(lines[last], keywords, _alike)) | (earlier[-1] if earlier else set())


def _shown(answer: str) -> str:
    """An answer without the escape sequences of terminals: ESC, `[`, and all up to a final character."""
    first, *others = answer.split("\x1b[")
    shown = first
    for other in others:
        length = next((place for place, one in enumerate(other) if not " " <= one <= "?"), len(other))
        parameters = other[:length].rstrip(" !\"#$%&'()*+,-./")
        is_sequence = length < len(other) and "@" <= other[length] <= "~" and all(one >= "0" for one in parameters)
        shown += other[length + 1 :] if is_sequence else f"\x1b[{other}"
    return shown


def _alike(one: str, other: str) -> bool:
    return one == other or one.lower() == other.lower() or one.upper() == other.upper()


def _within(line: str, keywords: Sequence[str], same: object) -> Iterator[str]:
    """The keywords in a line from left to right; what one has taken is no part of another."""
    assert callable(same)
    place = 0
    while place < len(line):
        here = [word for word in keywords if _stands(word, line, place, same)]
        longest = max(here, key=len, default="")
        if longest:
            yield longest
        place += max(len(longest), 1)


def _stands(word: str, line: str, place: int, same: object) -> bool:
    assert callable(same)
    end = place + len(word)
    if end > len(line) or not all(same(a, b) for a, b in zip(word, line[place:end], strict=True)):
        return False
    return not (place and _is_word(line[place - 1])) and not (end < len(line) and _is_word(line[end]))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def joined(words: Sequence[str], task: Json) -> str:
    """The word of a parallel step whose entries have these words (I14)."""
    for unread in ("failed", "invalid", "ambiguous"):
        if unread in words:
            return unread
    for keyword in task.get("unanimous", []):
        if set(words) == {keyword}:
            return str(keyword)
    counting = [word for word in words if word != "none" and word not in task.get("unanimous", [])]
    failing = [word for word in counting if word in task.get("failing", [])]
    passing = [word for word in counting if word not in failing]
    if task.get("check", "all") == "any":
        return [*passing, *failing, "none"][0]
    if failing:
        return failing[0]
    return "ambiguous" if len(set(passing)) > 1 else [*passing, "none"][0]


def passed(answers: Sequence[str | None], task: Json) -> str:
    """The word of a parallel step without keywords (I14)."""
    enough = any if task.get("check", "all") == "any" else all
    return "pass" if enough(answer is not None for answer in answers) else "fail"
