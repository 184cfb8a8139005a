"""A document's strings as Python source."""

from __future__ import annotations

from math import inf

WIDEST = 120

RESERVED = ("\n# /// ", "\n# BEGIN ", "\n# END ")
"""The start of a block that tools such as uv read from a script (PEP 723), and of the lines around a part with a hash.

A document's text must not become one.
"""


def literal(value: object, indent: int = 0, begun: int = 0, *, widest: float = inf) -> str:
    """Return a value as a Python expression at an indent.

    A list or dictionary has a line for each item if one has several lines, or if the line with `begun` characters
    before it is wider than `widest`. A string of several lines has a literal for each line. Empty lines at its ends
    have no separate literal. `repr` escapes invisible characters, including marks that reverse the direction of text,
    so a reviewer sees what runs.
    """
    if isinstance(value, str):
        return _text(value, indent) if "\n" in value.strip("\n") else _quoted(value)
    items: list[tuple[str, object]]
    if isinstance(value, list):
        (opening, closing), items = "[]", [("", item) for item in value]
    elif isinstance(value, dict):
        (opening, closing), items = "{}", [(f"{literal(key)}: ", item) for key, item in value.items()]
    else:
        return repr(value)
    whole = f"{opening}{', '.join(key + literal(item) for key, item in items)}{closing}"
    if "\n" not in whole and indent + begun + len(whole) < widest:
        return whole
    inner = indent + 4
    return broken(
        opening, [key + literal(item, inner, len(key), widest=widest) for key, item in items], closing, indent
    )


def prose(text: str, indent: int = 8, *, is_framed: bool = True) -> str:
    """Return a string as a setting of a call: raw and unchanged on separate lines, if Python then reads exactly that.

    In settings of a step, a string that starts with a line break gets a frame of two more, which the reader removes.
    """
    if "\n" not in text:
        shown = _quoted(text)
        if text in shown:
            return shown
    frame = "\n" if is_framed else ""
    is_plain = text.replace("\t", "").replace("\n", "").isprintable() and (is_framed or text[-1] not in "\\\"'")
    if is_plain and not any(start in f"\n{text}" for start in RESERVED):
        for quotes in ('"""', "'''"):
            if quotes not in text:  # none can start at the end of the string, because of the frame
                return f"r{quotes}{frame}{text}{frame}{quotes}"
    return literal(f"{frame}{text}{frame}" if text.startswith("\n") else text, indent)


def broken(opening: str, items: list[str], closing: str, indent: int) -> str:
    """Return items with a line for each."""
    inner = " " * (indent + 4)
    return opening + "\n" + "".join(f"{inner}{item},\n" for item in items) + " " * indent + closing


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
