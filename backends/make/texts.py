"""Texts of a document in a Makefile: as comments, which make never expands, whatever stands in them.

A block is `#> NAME`, the lines of the text each after `#| `, and `#<`. A line that ends with a backslash only continues
the comment, and the line that ends the block has none.
"""

from __future__ import annotations

from collections.abc import Iterator

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
