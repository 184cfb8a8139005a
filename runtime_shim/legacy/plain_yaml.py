"""The part of YAML that files of mocks are written in: lists and keys by indentation, and texts; every value is a text.

What this reads, YAML reads alike, but for plain words: `yes`, `1.50` and `null` are the texts that they are.
"""

import json
import re
from contextlib import suppress
from typing import Any, Optional

KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s\[\]{},"'#&*!|>%@`-][^#]*?|-[^\s#][^#]*?):(?:[ \t]+(.*)|)""")
BLOCK = re.compile(r"\|([+-]?)[ \t]*(?:#.*)?")
COMMENT = re.compile(r"\s#.*")
DEEPEST = 20


class PlainError(ValueError):
    """What is not in this part of YAML; the message begins with the number of the line."""


class Source:
    """The lines of a file, and how far they were read."""

    def __init__(self, text: str) -> None:
        self.lines = text.replace("\r\n", "\n").split("\n")
        self.at = 0

    def wrong(self, problem: str) -> PlainError:
        """Return an error at the line that was read last."""
        return PlainError(f"{min(self.at + 1, len(self.lines))}: {problem}")

    def next(self) -> Optional[tuple[int, str]]:
        """Return the indentation and the text of the next line that says anything; it stays the next one."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            said = line.lstrip(" ")
            if said.startswith("\t"):
                raise self.wrong("a tab indents this line: use spaces")
            if said and not said.startswith("#") and not (said.rstrip() in ("---", "...") and said == line):
                return len(line) - len(said), said.rstrip()
            self.at += 1
        return None


def read_plain(text: str) -> Any:  # noqa: ANN401 (dicts, lists and texts)
    """Read a file; raises PlainError."""
    lines = Source(text)
    found = _value(lines, 0, 0)
    if lines.next() is not None:
        raise lines.wrong("this line is indented less or more than what it belongs to")
    return found


def _value(lines: Source, least: int, depth: int) -> Any:  # noqa: ANN401
    """Read the list, the keys or the text that begins at the next line, which is indented by `least` at least."""
    first = lines.next()
    if first is None or first[0] < least:
        return ""
    if depth > DEEPEST:
        raise lines.wrong("too many values within each other")
    indent, said = first
    if said == "-" or said.startswith("- "):
        return _list(lines, indent, depth)
    if KEY.fullmatch(said):
        return _keys(lines, indent, depth)
    lines.at += 1
    return _text_of(lines, said, max(least - 1, 0))


def _list(lines: Source, indent: int, depth: int) -> list[Any]:
    found: list[Any] = []
    while (line := lines.next()) and line[0] == indent and (line[1] == "-" or line[1].startswith("- ")):
        rest = line[1][1:].lstrip(" ")
        if not rest or rest.startswith("#"):
            lines.at += 1
            found.append(_value(lines, indent + 1, depth + 1))
        elif BLOCK.fullmatch(rest) or not (KEY.fullmatch(rest) or rest.startswith("- ")):
            lines.at += 1
            found.append(_text_of(lines, rest, indent))
        else:  # keys or a list begin in the line of the dash: they are indented as far as they stand
            inner = indent + len(line[1]) - len(rest)
            lines.lines[lines.at] = " " * inner + rest
            found.append(_value(lines, inner, depth + 1))
    return found


def _keys(lines: Source, indent: int, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while (line := lines.next()) and line[0] == indent:
        pair = KEY.fullmatch(line[1])
        if pair is None:
            raise lines.wrong("expected `KEY: value`")
        name, rest = _plain(lines, pair[1].rstrip()), COMMENT.sub("", f" {pair[2] or ''}").strip()
        if name in found:
            raise lines.wrong(f"{name} stands here a second time")
        written = (pair[2] or "").strip()
        lines.at += 1
        if rest and not rest.startswith("#"):
            found[name] = _text_of(lines, written, indent)
            continue
        following = lines.next()  # a list may stand as far to the left as its key
        is_list = following and following[0] == indent and (following[1] == "-" or following[1].startswith("- "))
        found[name] = _value(lines, indent if is_list else indent + 1, depth + 1)
    return found


def _text_of(lines: Source, said: str, indent: int) -> Any:  # noqa: ANN401
    """Read a text, whose first line was read, or a list or keys in brackets."""
    block = BLOCK.fullmatch(said)
    if block:
        return _block(lines, block[1], indent)
    if said[0] in "[{":
        return _Flow(lines, said).whole()
    return _plain(lines, said)


def _plain(lines: Source, said: str) -> str:
    """Read a plain or quoted text of one line."""
    if said[0] == "'":
        single = re.fullmatch(r"'((?:[^']|'')*)'\s*(?:#.*)?", said)
        if single:
            return single[1].replace("''", "'")
    elif said[0] == '"':
        double = re.fullmatch(r'("(?:[^"\\]|\\.)*")\s*(?:#.*)?', said)
        with suppress(ValueError):  # what JSON reads, YAML reads alike
            if double:
                return str(json.loads(double[1]))
    elif not re.match(r"[&*!%@`|>\[\]{},]|[?:-](\s|$)", said) and not re.search(r":\s|:$", COMMENT.sub("", said)):
        return COMMENT.sub("", said).rstrip()
    lines.at -= 1
    raise lines.wrong("expected a string: put quotes around it, or write it as a block after `|`")


def _block(lines: Source, ends: str, indent: int) -> str:
    """Read the lines of a text that are indented further."""
    found: list[str] = []
    while lines.at < len(lines.lines):
        line = lines.lines[lines.at]
        if line.strip(" ") and len(line) - len(line.lstrip(" ")) <= indent:
            break
        found.append(line)
        lines.at += 1
    widths = [len(line) - len(line.lstrip(" ")) for line in found if line.strip(" ")]
    depth = min(widths, default=max(map(len, found), default=0))
    text = "\n".join(line[depth:] for line in found)
    text += "" if lines.at == len(lines.lines) else "\n"  # the last line of a file may have no end
    body = text.rstrip("\n")
    if ends == "+":
        return text
    return body if ends == "-" or not body else text[: len(body) + 1]


class _Flow:
    """A list or keys in brackets, on one line."""

    WORD = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\[\]{},:"'\s?](?:[^\[\]{},:]|:(?=\S))*|[\[\]{},:])""")

    def __init__(self, lines: Source, said: str) -> None:
        self._lines = lines
        self._words: list[str] = []
        place = 0
        while place < len(said) and (word := self.WORD.match(said, place)) and not said[place:].strip().startswith("#"):
            self._words.append(word[1].strip())
            place = word.end()
        self._rest = said[place:].strip()

    def whole(self) -> Any:  # noqa: ANN401
        """Return the value."""
        try:
            found = self._value(0)
        except IndexError:
            raise self._wrong() from None
        if self._words or (self._rest and not self._rest.startswith("#")):
            raise self._wrong()
        return found

    def _wrong(self) -> PlainError:
        self._lines.at -= 1
        return self._lines.wrong("brackets are not closed in this line, or something stands behind them")

    def _value(self, depth: int) -> Any:  # noqa: ANN401
        word = self._words.pop(0)
        if depth > DEEPEST or word in "]},:":
            raise self._wrong()
        if word == "[":
            return self._items(depth)
        if word == "{":
            return self._pairs(depth)
        return _plain(self._lines, word)

    def _items(self, depth: int) -> list[Any]:
        found: list[Any] = []
        while self._words[0] != "]":
            found.append(self._value(depth + 1))
            if self._words[0] == ",":
                self._words.pop(0)
            elif self._words[0] != "]":
                raise self._wrong()
        self._words.pop(0)
        return found

    def _pairs(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self._words[0] != "}":
            name = self._value(DEEPEST)
            if not isinstance(name, str) or self._words.pop(0) != ":":
                raise self._wrong()
            found[name] = self._value(depth + 1)
            if self._words[0] == ",":
                self._words.pop(0)
            elif self._words[0] != "}":
                raise self._wrong()
        self._words.pop(0)
        return found
