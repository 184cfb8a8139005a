"""Strings in a terminal: the columns of their characters, without control characters."""

import unicodedata
from typing import NamedTuple

TAB = 4
COLUMNS = 100
_WIDEN, _JOINER, _NON_JOINER = "\ufe0f", "\u200d", "\u200c"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_HANGUL_VOWELS_AND_FINALS = range(0x1160, 0x1200)


class Cell(NamedTuple):
    """The output for one character, and its number of columns."""

    text: str
    width: int


class Excerpt(NamedTuple):
    """The part of a line around a marked place: its text, the columns before the mark, and the width of the mark."""

    text: str
    offset: int
    width: int


def visible(text: str) -> str:
    """Return the text with every control character except tabs replaced by a visible one."""
    return text if text.isprintable() else "".join(_shown(char) for char in text)


def cells(text: str) -> list[Cell]:
    """Return the cells of a line, one for each character."""
    made: list[Cell] = []
    column, before = 0, ""
    for char in text:
        cell = _cell(char, before, made[-1].width if made else 0, column)
        made.append(cell)
        column, before = column + cell.width, char
    return made


def width(text: str) -> int:
    """Return the width of a text in a terminal, in columns."""
    return sum(cell.width for cell in cells(text))


def padded(text: str, columns: int) -> str:
    """Return a text padded with spaces to a width."""
    return text + " " * (columns - width(text))


def excerpt(line: str, start: int, end: int) -> Excerpt:
    """Return the part of a line for a mark on its characters from `start` to `end` (from 0, exclusive).

    A line wider than `COLUMNS` is truncated on both sides, with `…` for the missing parts. The mark is truncated too.
    """
    # A line can be as long as a file, so characters farther away are ignored.
    start = min(start, len(line))
    base = max(0, start - COLUMNS)
    near = cells(line[base : start + COLUMNS])
    widths = [cell.width for cell in near]
    whole = len(near) == len(line) and sum(widths) <= COLUMNS
    place = start - base
    while 0 < place < len(near) and widths[place] == 0:  # an accent is marked under its letter
        place -= 1
    left = 0 if whole else _left_edge(widths, place)
    right = _right_edge(widths, left)
    lead = "…" if base + left > 0 else ""
    rest = "…" if base + right < len(line) else ""
    text = "".join(cell.text for cell in near[left:right])
    return Excerpt(
        lead + text + rest, len(lead) + sum(widths[left:place]), max(1, sum(widths[place : min(right, end - base)]))
    )


def _left_edge(widths: list[int], place: int) -> int:
    """Return the start of a truncated line: 0 if the place is near, or a third of the window before it."""
    if sum(widths[:place]) <= COLUMNS * 2 // 3:
        return 0
    left, used = place, 0
    while left > 0 and used + widths[left - 1] <= COLUMNS // 3:
        left -= 1
        used += widths[left]
    while left < place and widths[left] == 0:  # an accent whose letter is missing
        left += 1
    return left


def _right_edge(widths: list[int], left: int) -> int:
    right, used = left, 0
    while right < len(widths) and used + widths[right] <= COLUMNS:
        used += widths[right]
        right += 1
    return right


def _cell(char: str, before: str, width_before: int, column: int) -> Cell:
    if char == "\t":
        width = TAB - column % TAB
        return Cell(" " * width, width)
    shown = _shown(char)
    return Cell(shown, _width(char, before, width_before) if shown == char else len(shown))


def _shown(char: str) -> str:
    code = ord(char)
    if char.isprintable() or char in ("\t", _JOINER, _NON_JOINER):
        return char
    if code < 0x20:
        return chr(0x2400 + code)  # the pictures of the control characters, such as ␛
    if code == 0x7F:
        return "␡"
    # Also format characters, which reorder or hide the text around them, and noncharacters, as in XML.
    hidden = unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") or code & 0xFFFE == 0xFFFE
    return f"<U+{code:04X}>" if hidden else char


def _width(char: str, before: str, width_before: int) -> int:
    if " " <= char <= "~":
        return 1
    if char == _WIDEN:  # a one-column sign becomes a two-column emoji
        return int(width_before == 1 and not before.isalpha())
    if char in (_JOINER, _NON_JOINER) or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    if ord(char) in _HANGUL_VOWELS_AND_FINALS:
        return 0
    wide = unicodedata.east_asian_width(char) in ("W", "F")
    if wide and (before == _JOINER or (ord(char) in _SKIN_TONES and width_before == 2)):
        return 0
    return 2 if wide else 1
