"""A document's strings as Python source."""

from __future__ import annotations

from typing import Any

WIDEST = 120

METADATA_START = "\n# /// "
"""The start of a block that tools such as uv read from a script (PEP 723). A document's text must not become one."""


def literal(value: object, indent: int = 0) -> str:
    """Return a value as a Python expression at an indent. A string of several lines has a literal for each line.

    Empty lines at its ends have no separate literal. `repr` escapes invisible characters, including marks that reverse
    the direction of text, so a reviewer sees what runs.
    """
    if isinstance(value, str):
        if value.isprintable() and '"' not in value and "\\" not in value:  # true for almost all strings
            return f'"{value}"'
        return _text(value, indent) if "\n" in value.strip("\n") else _quoted(value)
    if isinstance(value, list):
        return _enclosed("[", [literal(item, indent + 4) for item in value], "]", indent)
    if isinstance(value, dict):
        return _enclosed(
            "{", [f"{literal(key)}: {literal(item, indent + 4)}" for key, item in value.items()], "}", indent
        )
    return repr(value)


def on_one_line(items: list[object]) -> str:
    """Return a list on one line."""
    return f"[{', '.join(_quoted(item) if isinstance(item, str) else literal(item) for item in items)}]"


def prose(text: str, indent: int = 8) -> str:
    """Return a string as a setting of a call: raw and unchanged on separate lines, if Python then reads exactly that.

    A string that starts with a line break gets a frame of two more, which the reader removes.
    """
    if "\n" not in text:
        if text.isprintable() and '"' not in text and "\\" not in text:  # true for most strings
            return f'"{text}"'
        shown = _quoted(text)
        if text in shown:
            return shown
    if text.replace("\t", "").replace("\n", "").isprintable() and METADATA_START not in f"\n{text}":
        for quotes in ('"""', "'''"):
            if quotes not in text:  # none can start at the end of the string, because of the frame
                return f"r{quotes}\n{text}\n{quotes}"
    return literal(framed(text), indent)


def framed(value: Any) -> Any:  # noqa: ANN401 (a text, or any other setting)
    """Return a string for a call. One that starts with a line break gets a frame, which the reader removes."""
    return f"\n{value}\n" if isinstance(value, str) and value.startswith("\n") else value


def laid_out(value: object, indent: int, begun: int = 0) -> str:
    """Return a value as a Python expression, on one line if it fits, or with a line for each item."""
    whole = literal(value)
    if "\n" not in whole and indent + begun + len(whole) < WIDEST:
        return whole
    inner = indent + 4
    if isinstance(value, list):
        return broken("[", [laid_out(item, inner) for item in value], "]", indent)
    if isinstance(value, dict):
        pairs = ((f"{literal(key)}: ", item) for key, item in value.items())
        return broken("{", [key + laid_out(item, inner, len(key)) for key, item in pairs], "}", indent)
    return literal(value, indent)


def broken(opening: str, items: list[str], closing: str, indent: int) -> str:
    """Return items with a line for each."""
    inner = " " * (indent + 4)
    return opening + "\n" + "".join(f"{inner}{item},\n" for item in items) + " " * indent + closing


def _enclosed(opening: str, items: list[str], closing: str, indent: int) -> str:
    """Return items on one line, or with a line for each if one has several lines."""
    whole = opening + ", ".join(items) + closing
    if "\n" not in whole:
        return whole
    return broken(opening, items, closing, indent)


def _text(text: str, indent: int) -> str:
    lines = text.split("\n")
    inner = " " * (indent + 4)
    parts = [_quoted(line + "\n") for line in lines[:-1]] + ([_quoted(lines[-1])] if lines[-1] else [])
    return "(\n" + "".join(f"{inner}{part}\n" for part in parts) + " " * indent + ")"


def _quoted(text: str) -> str:
    """Return `repr`, with double quotes if they need no escape."""
    if '"' in text:
        return repr(text)
    if "\\" not in text and text.isprintable():  # true for almost all strings
        return f'"{text}"'
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown[0] == "'" else shown
