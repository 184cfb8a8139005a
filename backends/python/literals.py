"""Texts of a document as Python source."""

from __future__ import annotations

from typing import Any

WIDEST = 120


def literal(value: object, indent: int = 0) -> str:
    """A value as a Python expression that stands at `indent` spaces; a text of several lines has a literal for each.

    Empty lines at its ends are no lines of their own. `repr` escapes whatever does not print, the marks that reverse a
    text's direction included, so that what a reviewer sees is what runs.
    """
    if isinstance(value, str):
        if value.isprintable() and '"' not in value and "\\" not in value:  # nearly all are so
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
    """A list on one line, whatever stands in its texts."""
    return f"[{', '.join(_quoted(item) if isinstance(item, str) else literal(item) for item in items)}]"


def prose(text: str, indent: int = 8) -> str:
    """A text as a setting of a call: raw, on lines of its own, as it was written, if Python then reads exactly that.

    A text that begins with a line end is framed by two more, since the reader takes a frame away.
    """
    if "\n" not in text:
        if text.isprintable() and '"' not in text and "\\" not in text:  # as most are
            return f'"{text}"'
        shown = _quoted(text)
        if text in shown:
            return shown
    if text.replace("\t", "").replace("\n", "").isprintable():
        for quotes in ('"""', "'''"):
            if quotes not in text:  # nor can one begin at the end of the text: the frame stands between
                return f"r{quotes}\n{text}\n{quotes}"
    return literal(framed(text), indent)


def framed(value: Any) -> Any:  # noqa: ANN401 (a text, or any other setting)
    """A text as Python reads it from a call: the reader takes a frame away from one that begins with a line end."""
    return f"\n{value}\n" if isinstance(value, str) and value.startswith("\n") else value


def laid_out(value: object, indent: int, begun: int = 0) -> str:
    """A value as a Python expression, with a line for each item where one line, so far begun, is too short for all."""
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
    """Items on a line for each."""
    inner = " " * (indent + 4)
    return opening + "\n" + "".join(f"{inner}{item},\n" for item in items) + " " * indent + closing


def _enclosed(opening: str, items: list[str], closing: str, indent: int) -> str:
    """Items on one line, or on a line for each where one of them has several."""
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
    """`repr` with double quotes where that costs no escape."""
    if '"' in text:
        return repr(text)
    if "\\" not in text and text.isprintable():  # as nearly all are
        return f'"{text}"'
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown[0] == "'" else shown
