"""Texts of a document as Python source: as string literals, and within comments."""

from __future__ import annotations

LONGEST_COMMENT = 200


def literal(value: object, indent: int = 0) -> str:
    """A value as a Python expression that stands at `indent` blanks; a text of several lines has a literal for each.

    `repr` escapes whatever does not print, the marks that reverse a text's direction included, so that what a reviewer
    sees is what runs.
    """
    if isinstance(value, str):
        return _text(value, indent) if "\n" in value else _quoted(value)
    if isinstance(value, list):
        return _enclosed("[", [literal(item, indent + 4) for item in value], "]", indent)
    if isinstance(value, dict):
        return _enclosed(
            "{", [f"{literal(key)}: {literal(item, indent + 4)}" for key, item in value.items()], "}", indent
        )
    return repr(value)


def _enclosed(opening: str, items: list[str], closing: str, indent: int) -> str:
    """Items on one line, or on a line for each where one of them has several."""
    if not any("\n" in item for item in items):
        return opening + ", ".join(items) + closing
    inner = " " * (indent + 4)
    return opening + "\n" + "".join(f"{inner}{item},\n" for item in items) + " " * indent + closing


def _text(text: str, indent: int) -> str:
    lines = text.split("\n")
    inner = " " * (indent + 4)
    parts = [_quoted(line + "\n") for line in lines[:-1]] + ([_quoted(lines[-1])] if lines[-1] else [])
    return "(\n" + "".join(f"{inner}{part}\n" for part in parts) + " " * indent + ")"


def _quoted(text: str) -> str:
    """`repr` with double quotes where that costs no escape."""
    if text.isprintable() and not ('"' in text or "\\" in text):
        return f'"{text}"'
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown[0] == "'" and '"' not in text else shown


def comment(text: str) -> str:
    """A text that can stand in a comment: on one line, of a bearable length, without characters that do not print."""
    shown = "".join(character if character.isprintable() else " " for character in text[:LONGEST_COMMENT])
    return shown + "…" if len(text) > LONGEST_COMMENT else shown
