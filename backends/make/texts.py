"""Texts of a document in a Makefile: as comments, which make never expands, whatever stands in them.

A block is `#> NAME`, the lines of the text each after `#| `, and `#<`. A line that ends with a backslash only continues
the comment, and the line that ends the block has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.ir.texts import Reference, Text

LONGEST_COMMENT = 200


def block(name: str, text: str) -> Iterator[str]:
    """The lines that carry a text under a name, which is a plain identifier."""
    yield f"#> {name}"
    yield from (f"#| {line}" for line in text.split("\n"))
    yield "#<"


def comment(text: str) -> str:
    """A text that can stand in a comment for people: on one line, without what does not print, and not continued."""
    shown = "".join(character if character.isprintable() else " " for character in text[:LONGEST_COMMENT])
    return (shown + "…" if len(text) > LONGEST_COMMENT else shown).rstrip("\\")


def visible(text: str) -> str:
    """A text as it is shown at a terminal: on one line, control characters as `?`."""
    return "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))


def filled_block(name: str, text: Text, registers: Mapping[str, str]) -> Iterator[str]:
    """The lines that carry a text with references under a name; the driver fills it in, in one pass (I6).

    `#|` begins a line of the text, `#+` goes on with it, `#=` stands for a register's value. What follows `#&` counts
    only where a slot is set, what follows `#!` only where it is unset, up to `#.`.
    """
    yield f"#> {name}"
    yield from _literal(text.parts[0] if text.parts and isinstance(text.parts[0], str) else "", "|")
    for index, part in enumerate(text.parts):
        if isinstance(part, Reference):
            yield from _reference(part, registers[part.register])
        elif index:
            yield from _literal(part, "+")
    yield "#<"


def _literal(text: str, mark: str) -> Iterator[str]:
    first, *others = text.split("\n")
    yield f"#{mark} {first}"
    yield from (f"#| {line}" for line in others)


def _reference(reference: Reference, register: str) -> Iterator[str]:
    if not (reference.before or reference.after or reference.missing):
        yield f"#= {register}"
        return
    yield f"#& {register}"
    yield from _literal(reference.before, "+")
    yield f"#= {register}"
    yield from _literal(reference.after, "+")
    yield f"#! {register}"
    yield from _literal(reference.missing, "+")
    yield "#."
