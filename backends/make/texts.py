"""Texts of a document for people: in comments of the Makefile, and at a terminal."""

from __future__ import annotations

from backends import remarks


def comment(text: str) -> str:
    """A text that can stand in a comment for people: on one line, without what does not print, and not continued.

    It ends with neither a backslash nor a space, so that one comes to the end of a line nowhere.
    """
    return remarks.comment(text).rstrip("\\ ")


def visible(text: str) -> str:
    """A text as it is shown at a terminal: on one line, control characters as `?`."""
    shown = " ".join(text.split())
    return shown if shown.isprintable() else "".join(c if c.isprintable() else "?" for c in shown)


def visible_lines(text: str) -> str:
    """The same for a text of several lines, whose spaces are kept."""
    lines = text.strip("\n").replace("\t", "    ").split("\n")
    return "\n".join(
        line if line.isprintable() else "".join(c if c.isprintable() else "?" for c in line) for line in lines
    )
