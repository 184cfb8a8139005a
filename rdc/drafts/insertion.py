"""Insert new scenarios in a file without changing other bytes."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.drafts import indented
from compiler.frontends.frontmatter import FENCE
from compiler.regex import Regex
from compiler.source import line_end_of

KEY = "scenarios"
_LINES = Regex(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_OURS = Regex(rf"""["']?{KEY}["']?[ \t]*:""")


def in_file(text: str, entries: Sequence[Sequence[str]]) -> str:
    """Add scenarios at the end of a file that only has scenarios."""
    end = line_end_of(text)
    joint = "" if not text or text.endswith(("\n", "\r")) else end
    return text + joint + "".join(f"{line}{end}" for one in entries for line in one)


def in_frontmatter(text: str, entries: Sequence[Sequence[str]]) -> str:
    """Add scenarios to the frontmatter of a document after existing ones. Creates the frontmatter if there is none."""
    lines, end = _LINES.findall(text), line_end_of(text)
    if not lines or not FENCE.fullmatch(_bare(lines[0])):
        block = ["---", f"{KEY}:", *_block(entries, 2), "---", ""]
        return "".join(f"{line}{end}" for line in block) + text
    close = next(number for number, line in enumerate(lines[1:], 1) if FENCE.fullmatch(_bare(line)))
    key = next((number for number, line in enumerate(lines[1:close], 1) if _OURS.match(line)), None)
    if key is None:
        place, new = close, [f"{KEY}:", *_block(entries, 2)]
    else:
        place = _behind(lines, key, close)
        new = _block(entries, _indent(lines[key + 1 : place]))
    return "".join([*lines[:place], *(f"{line}{end}" for line in new), *lines[place:]])


def _block(entries: Sequence[Sequence[str]], by: int) -> list[str]:
    return [line for one in entries for line in indented(one, by)]


def _behind(lines: Sequence[str], key: int, close: int) -> int:
    """Return the line after the value of a key. Comments above the next key belong to that key."""
    after = (number for number in range(key + 1, close) if lines[number][0] not in " \t#\r\n")
    place = next(after, close)
    while place > key + 1 and _is_empty(lines[place - 1]):
        place -= 1
    return place


def _indent(lines: Sequence[str]) -> int:
    """Return the indentation of the existing scenarios."""
    first = next((line for line in lines if not _is_empty(line)), "  ")
    return len(first) - len(first.lstrip(" ")) or 2


def _is_empty(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _bare(line: str) -> str:
    return line.rstrip("\r\n")
