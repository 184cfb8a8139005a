"""Counters in strings, such as `{N}`: marks that the driver replaces when it uses a string."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from msgspec.structs import replace

from backends.marks import Marks
from compiler.ir.texts import Part, Reference, Text, joined
from compiler.regex import Regex

_FIT = Regex("[A-Za-z_{}<>]+")
"""The driver replaces marks one after the other. A number never creates a mark without digits."""


class Numbers:
    """The marks for counters in some strings: the author's own, if the driver can replace them."""

    def __init__(self, texts: Iterable[Text]) -> None:
        self._texts = [_bare(text) for text in texts if not text.is_plain]
        if not self._texts:
            self._written: dict[Reference, str] = {}
            return
        references = dict.fromkeys(found for text in self._texts for found in text.references)
        self._written = {found: found.written for found in references}
        lengths = count(1)
        while not self._is_clear():
            length = next(lengths)
            self._written = {found: f"{{{_letters(place) * length}}}" for place, found in enumerate(references)}

    def _is_clear(self) -> bool:
        marks = list(self._written.values())
        if not all(map(_FIT.fullmatch, marks)) or any(a != b and a in b for a in marks for b in marks):
            return False
        return set(Marks(map(self._marked, self._texts)).references) == set(marks)

    def _marked(self, text: Text) -> Text:
        """Return a string with marks instead of references."""
        parts = (part if isinstance(part, str) else replace(part, written=self._written[part]) for part in text.parts)
        return Text(tuple(parts))

    def text(self, text: Text) -> str:
        """Return a string with marks instead of counters."""
        return str(self._marked(_bare(text))) if self._written and not text.is_plain else str(text)

    @property
    def marks(self) -> Mapping[str, str]:
        """The counters by their marks."""
        return {mark: found.register for found, mark in self._written.items()}


NO_NUMBERS = Numbers(())


def _bare(text: Text) -> Text:
    """Return a string whose references contain only numbers. A counter is never unset."""
    return joined([part for each in text.parts for part in _parts(each)])


def _parts(part: Part) -> Iterator[Part]:
    if isinstance(part, str):
        yield part
        return
    yield part.before
    yield Reference(part.register, part.written)
    yield part.after


def _letters(number: int) -> str:
    return chr(ord("a") + number % 26) * (number // 26 + 1)
