"""Texts with references as strings with marks in them, for targets that fill in the values when they run (I6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import count

from compiler.ir.program import Node, map_texts, texts_of
from compiler.ir.texts import Reference, Text, text


class Marks:
    """The marks for the references of some texts.

    A mark is what the author wrote, such as `{N}`, as long as nothing else in these texts can be taken for it.
    """

    def __init__(self, texts: Iterable[Text]) -> None:
        self._texts = tuple(texts)
        references = dict.fromkeys(reference for item in self._texts for reference in item.references)
        self._marks = {reference: reference.written for reference in references}
        numbers = count(1)
        while not self._are_clear():
            number = next(numbers)
            self._marks = {reference: f"{{{number}.{place}}}" for place, reference in enumerate(references, 1)}

    def _are_clear(self) -> bool:
        """Whether a text with marks can be taken apart again, mark by mark."""
        marks = list(self._marks.values())
        if not all(marks) or len(marks) != len(set(marks)):
            return False
        return all(self._taken_apart(self.text(item)) == self._parts(item) for item in self._texts) if marks else True

    def _taken_apart(self, marked: str) -> list[str]:
        return [part for part in self._pattern.split(marked) if part]

    @property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(f"({'|'.join(map(re.escape, self._marks.values()))})")

    def _parts(self, written: Text) -> list[str]:
        return [part if isinstance(part, str) else self._marks[part] for part in written.parts]

    def text(self, written: Text) -> str:
        """A text with marks for its references."""
        return "".join(self._parts(written))

    @cached_property
    def references(self) -> Mapping[str, Reference]:
        """The references by their marks, in the order in which they stand in the texts."""
        return {mark: reference for reference, mark in self._marks.items()}


def marked(node: Node) -> tuple[Node, Marks]:
    """A node whose texts have marks in place of references, and the marks."""
    marks = Marks(texts_of(node))
    return (map_texts(node, lambda item: text(marks.text(item))), marks) if marks.references else (node, marks)
