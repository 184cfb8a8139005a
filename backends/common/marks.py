"""Replaces references in strings with marks, for targets that fill in values at run time (I6)."""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import count

from compiler.ir.program import Node, map_texts, texts_of
from compiler.ir.texts import Reference, Text, text

_Part = tuple[str, bool]
"""A part of a string, and whether it is a mark."""


class Marks:
    """The marks for the references in some strings.

    A mark is what the author wrote, such as `{N}`, or the register in braces, unless the strings contain it for another
    reason.
    """

    def __init__(self, texts: Iterable[Text]) -> None:
        self._texts = tuple(texts)
        references = dict.fromkeys(reference for item in self._texts for reference in item.references)
        self._marks = {reference: reference.written or f"{{{reference.register}}}" for reference in references}
        numbers = count(1)
        while not self._are_clear():
            number = next(numbers)
            self._marks = {reference: f"{{{number}.{place}}}" for place, reference in enumerate(references, 1)}

    def _are_clear(self) -> bool:
        marks = list(self._marks.values())
        if not all(marks) or any("\n" in mark for mark in marks) or len(marks) != len(set(marks)):
            return False
        if not marks:
            return True
        pattern = re.compile(f"({'|'.join(map(re.escape, marks))})")
        return all(_taken_apart(pattern, self.text(item)) == self._parts(item) for item in self._texts)

    def _parts(self, written: Text) -> list[_Part]:
        return [(part, False) if isinstance(part, str) else (self._marks[part], True) for part in written.parts]

    def text(self, written: Text) -> str:
        """Return a string with marks for its references."""
        return "".join(part for part, _ in self._parts(written))

    @cached_property
    def references(self) -> Mapping[str, Reference]:
        """The references by their marks, in the order of the strings."""
        return {mark: reference for reference, mark in self._marks.items()}


def _taken_apart(pattern: re.Pattern[str], marked: str) -> list[_Part]:
    """Split a string as targets do: from left to right, by the first mark that matches."""
    return [(part, place % 2 == 1) for place, part in enumerate(pattern.split(marked)) if part]


NO_MARKS = Marks(())


def marked(node: Node) -> tuple[Node, Marks]:
    """Return a node whose strings have marks instead of references, with the marks."""
    texts = texts_of(node)
    if not [part for item in texts for part in item.parts if not isinstance(part, str)]:  # faster than `any`
        return node, NO_MARKS
    marks = Marks(texts)
    return (map_texts(node, lambda item: text(marks.text(item))), marks) if marks.references else (node, marks)
