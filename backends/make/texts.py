"""A document's strings for people: in a Makefile's comments, and in a terminal."""

from __future__ import annotations

from backends import remarks


def comment(text: str) -> str:
    """Return a string for a comment: one line, only visible characters, not continued.

    It never ends with a backslash or a space, so make cannot join it with the next line.
    """
    return remarks.comment(text).rstrip("\\ ")


def visible(text: str) -> str:
    """Return a string for a terminal: one line, with `?` for control characters."""
    shown = " ".join(text.split())
    return shown if shown.isprintable() else "".join(c if c.isprintable() else "?" for c in shown)


def visible_lines(text: str) -> str:
    """Return a string of several lines for a terminal. Its spaces are kept."""
    lines = text.strip("\n").replace("\t", "    ").split("\n")
    return "\n".join(
        line if line.isprintable() else "".join(c if c.isprintable() else "?" for c in line) for line in lines
    )


FILTERS = (comment,)
"""The filters of the templates."""
