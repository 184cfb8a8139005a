"""Read a Markdown page into sections with text, list items and code blocks, as the importer sees them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, groupby, pairwise
from typing import Any, Literal

import pyromark
from msgspec import Struct
from msgspec.structs import replace

from compiler.frontends.rundown.printing import fenced
from compiler.importers.blocks import is_command_span, looks_like_command
from compiler.reading.yaml import UnreadableError, read_mapping
from compiler.text.regex import Regex
from compiler.text.source import Source


class Piece(Struct, frozen=True):
    """A text, a code block, a list, or an item of a list, which spans `line` to `end` in the page.

    `text` is Markdown whose reference links are inline links, or the code. `plain` is a text without markup. `info` is
    the info string of a code block, or the mark of an item: `1`, `-` or `[ ]`.
    """

    kind: Literal["text", "code", "list", "item"]
    line: int
    end: int
    text: str = ""
    plain: str = ""
    info: str = ""
    pieces: tuple[Piece, ...] = ()

    def all(self) -> Iterator[Piece]:
        """Yield the piece and everything in it."""
        yield self
        for piece in self.pieces:
            yield from piece.all()

    @property
    def has_code(self) -> bool:
        """Whether a code block is in it."""
        return any(piece.kind == "code" for piece in self.all())


class Section(Struct, frozen=True):
    """A heading with its content; the page itself has level 0. `links` are the links of the heading as Markdown."""

    level: int
    title: str
    line: int
    links: tuple[str, ...] = ()
    is_numbered: bool = False
    pieces: tuple[Piece, ...] = ()
    children: tuple[Section, ...] = ()


class Content(Struct, frozen=True):
    """The words, links and code lines of a page, each with its line; `head` has the keys of its frontmatter."""

    words: tuple[tuple[int, str], ...]
    links: tuple[tuple[int, str], ...]
    code: tuple[tuple[int, str], ...]
    head: tuple[tuple[int, str], ...]


class Page(Struct, frozen=True):
    """A page: its sections, its content, and the values of its frontmatter, each on one line."""

    root: Section
    content: Content
    metadata: Mapping[str, str]


_FENCE = Regex(r"---[ \t]*|\+\+\+[ \t]*")
_KEY = Regex(r"(?P<key>[\w-]+)[ \t]*[:=][ \t]*(?P<value>.*(?:\n[ \t].*)*)")
_TASK = Regex(r"\[[ xX]\]\s+")
_WORD = Regex(r"[^\W_]+")
_DEFINITION = Regex(r"[ \t>*+-]*+(?>(?:\d+[.)])?)[ \t]*+\[[^\]]+\]:\s*<?(?P<url>[^\s>]+)")
_DEFINITIONS = Regex(r"\n[ \t]*+(?:\n {0,3}\[[^\]\n]+\]:[^\n]*)+\Z")
_COMMENT = Regex(r"\s*<!--(?:(?!-->)[\s\S])*-->\s*")
_NUMBER = Regex(r"^\d+(?:\.\d+)*[.:)]?\s+(?=\S)")
_SESSION = Regex(
    r"[ \t]*(?:[\w.-]+@[\w.-]+[ :~/\w.-]{0,60}[#$%]|\$|[\w-]{2,20}(?:=[#>]|>))[ \t]+[a-z./\\](?!\w+@)", re.IGNORECASE
)
_PROSE = Regex(r"(?i)[.:;,!?]$|\b(?:a|an|is|it|of|or|so|that|the|this|with|you|your|sure)\b")
_MARKUP = Regex(r"[`*]")
_MARKER = Regex(r"(?:[-*+]|\d+[.)]) *")
_BARE = Regex(r"[a-z][\w.-]+(?: [\w./-]+){0,2} --?[A-Za-z][\w-]*(?:[ =]\S+){0,4}")

DEEPEST = 20  # the most lists inside each other whose items are read; deeper ones are text

Events = list[tuple[Any, Any]]


def words_of(text: str) -> list[str]:
    """Return the words of a text in lowercase."""
    return [word.lower() for word in _WORD.findall(text)]


def read_page(source: Source) -> Page:
    """Return the sections of a page."""
    return _Reader(source).page()


class _Reader:
    """Reads one page from the events of its Markdown; `first` is the line of the first event's text."""

    def __init__(self, source: Source) -> None:
        lines = source.lines
        self.head, self.first = _frontmatter(lines)
        self.metadata = _metadata(self.head, "\n".join(lines[1 : self.first - 2]))
        self.data = "\n".join(lines[self.first - 1 :]).encode()
        self.starts = [0, *accumulate(len(line) + 1 for line in self.data.split(b"\n"))]
        self.words: list[tuple[int, str]] = []
        self.links: list[tuple[int, str]] = []
        self.code: list[tuple[int, str]] = []
        self.depth = 0
        self.edits: list[tuple[int, int, bytes]] = []

    def line(self, place: int) -> int:
        """Return the page's line of a byte."""
        return bisect_right(self.starts, place) - 1 + self.first

    def page(self) -> Page:
        """Return the page."""
        events: Events = list(pyromark.events_with_range(self.data.decode()))
        self._count(events)
        self.edits.sort()
        flat: list[Section] = [Section(0, "", self.first)]
        pieces: list[list[Piece]] = [[]]
        for event, where, inner in _children(events):
            kind = _name(event["Start"]) if "Start" in event else "Rule"
            if kind == "Heading":
                level = int(event["Start"]["Heading"]["level"][1])
                flat.append(Section(level, *self._heading(inner, self.line(where["start"]))))
                pieces.append([])
            else:
                pieces[-1] += self._piece(kind, event, where, inner)
        self._definitions()
        content = Content(tuple(self.words), tuple(self.links), tuple(self.code), self.head)
        flat = [replace(one, pieces=_with_code(_with_sessions(own))) for one, own in zip(flat, pieces, strict=True)]
        return Page(_nested(flat), content, self.metadata)

    # --- Content ------------------------------------------------------------------------------------------------------

    def _count(self, events: Events) -> None:
        """Collect words, links, code lines, and the edits that make reference links inline."""
        open_links: list[list[int]] = []
        in_code = False
        for event, where in events:
            name = next(iter(event)) if isinstance(event, dict) else event
            start, end = where["start"], where["end"]
            for one in open_links if name not in {"Start", "End"} else ():
                one[0] = max(one[0], end)
            if name == "Start":
                kind = _name(event["Start"])
                in_code = in_code or kind in {"CodeBlock", "Fenced"}
                if kind in {"Link", "Image"}:
                    self.links.append((self.line(start), event["Start"][kind]["dest_url"]))
                    open_links.append([start + 1 + (kind == "Image"), start, end, len(self.edits)])
                    self._inline(event["Start"][kind], open_links[-1])
            elif name == "End":
                kind = _name(event["End"])
                in_code = in_code and kind not in {"CodeBlock", "Fenced"}
                if kind in {"Link", "Image"} and open_links:
                    inner, opened, stop, place = open_links.pop()
                    if place >= 0 and self.edits[place][0] == opened:
                        self.edits[place] = (inner, stop, self.edits[place][2])
                for one in open_links:
                    one[0] = max(one[0], end)
            elif name in {"Text", "Code", "InlineHtml", "Html"}:
                self._collect(event[name], start, is_code=in_code)

    def _inline(self, link: Mapping[str, str], opened: list[int]) -> None:
        if link["link_type"] in {"Inline", "Autolink", "Email"}:
            opened[3] = -1
            return
        title = ' "' + link["title"].replace("\\", "\\\\").replace('"', '\\"') + '"' if link["title"] else ""
        url = link["dest_url"].replace("<", "%3C").replace(">", "%3E")
        url = f"<{url}>" if set(url) & set(" ()") else url
        opened[2] += 2 * (self.data[opened[2] : opened[2] + 2] == b"[]")  # `[name][]` ends behind its range
        self.edits.append((opened[1], opened[2], f"]({url}{title})".encode()))

    def _collect(self, text: str, start: int, *, is_code: bool) -> None:
        first = self.line(start)
        if is_code:
            self.code += [(first + at, line) for at, line in enumerate(text.split("\n")) if line.strip()]
            return
        if text.lstrip().startswith("<!--") and text.rstrip().endswith("-->"):
            self.words += [(first, word) for word in words_of(text)]
            return
        self.words += [(first + at, word) for at, line in enumerate(text.split("\n")) for word in words_of(line)]

    def _definitions(self) -> None:
        """Add the links that no text uses, which Markdown doesn't show."""
        used = {url for _, url in self.links}
        for number, line in enumerate(self.data.decode().split("\n"), self.first):
            if (found := _DEFINITION.match(line)) and found["url"] not in used:
                self.links.append((number, found["url"]))

    # --- Pieces -------------------------------------------------------------------------------------------------------

    def _piece(self, kind: str, event: Any, where: Mapping[str, int], inner: Events) -> list[Piece]:  # noqa: ANN401
        start, end = where["start"], where["end"]
        line, last = self.line(start), self.line(max(end - 1, start))
        while last > line and not self.data[self.starts[last - self.first] : end].strip():
            last -= 1
        if kind in {"CodeBlock", "Fenced"}:
            text = "".join(one["Text"] for one, _ in inner if isinstance(one, dict) and "Text" in one)
            info = event["Start"]["CodeBlock"]["Fenced"] if kind == "Fenced" else ""
            return [Piece("code", line, last, text, "", info.strip())]
        if kind == "List" and self.depth < DEEPEST:
            number = event["Start"]["List"]
            self.depth += 1
            items = [self._item(number, one, part) for _, one, part in _children(inner)]
            self.depth -= 1
            text = _DEFINITIONS.sub("", self.slice(start, end))  # the links are inline now
            return [Piece("list", line, last, text, _plain(inner), "-" if number is None else "1", tuple(items))]
        text = self.slice(start, end)
        if kind == "Rule" or (kind == "HtmlBlock" and _COMMENT.fullmatch(text)) or not text.strip():
            return []
        return [Piece("text", line, last, text, "" if kind == "HtmlBlock" else _plain(inner), kind)]

    def _item(self, number: int | None, where: Mapping[str, int], inner: Events) -> Piece:
        start, end = where["start"], where["end"]
        pieces: list[Piece] = []
        loose: Events = []
        for event, place, part in _children(inner):
            kind = _name(event["Start"]) if isinstance(event, dict) and "Start" in event else ""
            if kind in _BLOCKS:
                pieces += [*self._loose(loose), *self._piece(kind, event, place, part)]
                loose = []
            else:
                loose += [(event, place), *part]
        pieces += self._loose(loose)
        is_task = pieces and pieces[0].kind == "text" and _TASK.match(pieces[0].text)
        if is_task:
            first = pieces[0]
            pieces[0] = replace(first, text=first.text[is_task.end() :], plain=_TASK.sub("", first.plain, count=1))
        mark = "[ ]" if is_task else "-" if number is None else "1"
        last = max((piece.end for piece in pieces), default=self.line(start))
        text = _DEFINITIONS.sub("", self.slice(start, end))
        return Piece("item", self.line(start), last, text, _plain(inner), mark, tuple(pieces))

    def _loose(self, events: Events) -> list[Piece]:
        """Return the text of a tight item, which is in no paragraph."""
        if not events:
            return []
        start, end = events[0][1]["start"], max(where["end"] for _, where in events)
        text = self.slice(start, end)
        return [Piece("text", self.line(start), self.line(end - 1), text, _plain(events), "Paragraph")] if text else []

    def slice(self, start: int, end: int) -> str:
        """Return the Markdown from a byte to another, with inline links and without the indentation of its place."""
        parts: list[bytes] = []
        end += 2 * (self.data[end : end + 2] == b"[]")
        place = start
        at = bisect_left(self.edits, (start, 0, b""))
        while at < len(self.edits) and self.edits[at][0] < end:
            first_byte, stop, text = self.edits[at]
            if stop <= end:
                parts += [self.data[place:first_byte], text]
                place = stop
            at += 1
        parts.append(self.data[place:end])
        first, *rest = b"".join(parts).decode().rstrip().split("\n")
        width = start - self.starts[self.line(start) - self.first]
        return "\n".join([first, *(line[min(len(line) - len(line.lstrip(" ")), width) :] for line in rest)])

    def _heading(self, inner: Events, line: int) -> tuple[str, int, tuple[str, ...], bool]:
        text = "".join(filter(str.isprintable, _plain(inner)))
        links = [(event, where) for event, where in inner if isinstance(event, dict) and "Start" in event]
        found = [self.slice(where["start"], where["end"]) for event, where in links if _name(event["Start"]) in _LINKS]
        title = _NUMBER.sub("", text, count=1)
        return title, line, tuple(found), title != text


_LINKS = frozenset({"Link", "Image"})
_BLOCKS = frozenset({"Paragraph", "List", "CodeBlock", "Fenced", "BlockQuote", "HtmlBlock", "Heading"})


def _name(tag: str | Mapping[str, Any]) -> str:
    if isinstance(tag, str):
        return tag
    [(name, about)] = tag.items()
    return "Fenced" if name == "CodeBlock" and isinstance(about, dict) else name


def _children(events: Events) -> Iterator[tuple[Any, Any, Events]]:
    """Yield each outer event with its range and the events inside it."""
    place, end = 0, len(events)
    while place < end:
        event, where = events[place]
        depth, stop = 0, place
        if isinstance(event, dict) and "Start" in event:
            depth = 1
            while depth and stop + 1 < end:
                stop += 1
                inner = events[stop][0]
                depth += isinstance(inner, dict) and "Start" in inner
                depth -= isinstance(inner, dict) and "End" in inner
        yield event, where, list(events[place + 1 : stop])
        place = stop + 1


def _plain(events: Events) -> str:
    parts = []
    for event, _ in events:
        if isinstance(event, dict):
            parts.append(str(event.get("Text", event.get("Code", event.get("InlineHtml", "")))))
            parts.append(" " if "End" in event and _name(event["End"]) in _BLOCKS else "")
        elif event in {"SoftBreak", "HardBreak"}:
            parts.append(" ")
    return " ".join("".join(parts).split())


def _with_code(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Give the last item of a list the code block directly below the list, or between two parts of the list."""
    found: list[Piece] = []
    is_split = sum(piece.kind == "list" and piece.info == "1" for piece in pieces) > 1
    for piece in pieces:
        above = found[-1] if found else None
        if piece.kind == "code" and above and above.kind == "list" and above.pieces:
            last = above.pieces[-1]
            is_part = is_split and above.info == "1"
            if is_part or piece.line == above.end + 1 or last.plain.endswith(":"):
                text = f"{above.text}\n\n{fenced(piece.text, piece.info)}"  # where the list is only text
                last = replace(last, end=piece.end, pieces=(*last.pieces, piece))
                found[-1] = replace(above, text=text, end=piece.end, pieces=(*above.pieces[:-1], last))
                continue
        found.append(piece)
    return tuple(found)


def _with_sessions(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Return pieces with a code block for each session and command in a paragraph."""
    found: list[Piece] = []
    for piece in pieces:
        if piece.kind == "text" and piece.info == "Paragraph":
            above = found[-1].plain if found and found[-1].kind == "text" else ""
            found += _parts(piece, above)
        else:
            below = _with_commands(piece) if piece.kind in {"list", "item"} else piece.pieces
            found.append(replace(piece, pieces=_with_sessions(below)) if below else piece)
    return tuple(found)


def _with_commands(piece: Piece) -> tuple[Piece, ...]:
    """Return the pieces of a list or an item with a block for each bullet, or deeper lines, that is only a command."""
    if piece.kind == "list":
        are_bare = all(len(one.pieces) == 1 and "`" not in one.text and _is_command(one.plain) for one in piece.pieces)
        return tuple(replace(one, pieces=(_block(one.pieces[0]),)) if are_bare else one for one in piece.pieces)
    marker = _MARKER.match(piece.text)
    deep = rf"\n {{{len(marker[0]) + 1 if marker else 9},}}(?=\S)"
    return tuple(
        _block(one) if at and one.info == "Paragraph" and _is_deep(one.text, piece.text, deep) else one
        for at, one in enumerate(piece.pieces)
    )


def _is_command(text: str) -> bool:
    is_bare = _BARE.fullmatch(text) is not None and looks_like_command(text)
    return (is_bare or is_command_span(text)) and not _PROSE.search(text)


def _is_deep(text: str, whole: str, deep: str) -> bool:
    """Return whether the lines of a text are commands that are deeper than the text of its item."""
    lines = text.strip("\n").split("\n")
    return (looks_like_command(text) and _is_command(lines[0])) and all(
        re.search(f"{deep}{re.escape(line)}(?:\n|$)", whole) for line in lines
    )


def _block(piece: Piece) -> Piece:
    return Piece("code", piece.line, piece.end, f"{piece.text}\n", info="session")  # shown, because it has no tag


def _parts(piece: Piece, above: str) -> Iterator[Piece]:
    lines = piece.text.split("\n")
    start = next((at for at, line in enumerate(lines) if _SESSION.match(line)), len(lines))
    is_code = [at >= start for at in range(len(lines))]
    for at, line in enumerate(lines[:start]):
        before = lines[at - 1] if at else above
        is_below = before.rstrip().endswith(":") or (at > 0 and (is_code[at - 1] or line.startswith("sudo ")))
        is_whole = is_command_span(line) or (at > 0 and is_code[at - 1] and looks_like_command(line))
        is_code[at] = is_below and is_whole and not _PROSE.search(line.rstrip())
    if not any(is_code):
        yield piece
        return
    for is_block, group in groupby(range(len(lines)), is_code.__getitem__):
        first, *rest = group
        last = rest[-1] if rest else first
        text, top, end = "\n".join(lines[first : last + 1]), piece.line + first, piece.line + last
        plain = " ".join(_MARKUP.sub("", text).split())
        block = Piece("code", top, end, f"{text}\n")
        yield block if is_block else replace(piece, line=top, end=end, text=text, plain=plain)


def _nested(flat: Sequence[Section]) -> Section:
    """Return the sections as a tree; each belongs to the nearest one above it with a lower level."""
    stack: list[tuple[Section, list[Section]]] = [(flat[0], [])]

    def close(level: int) -> None:
        while len(stack) > 1 and stack[-1][0].level >= level:
            section, children = stack.pop()
            stack[-1][1].append(replace(section, children=tuple(children)))

    for section in flat[1:]:
        close(section.level)
        stack.append((section, []))
    close(0)
    root, children = stack[0]
    return replace(root, children=tuple(children))


def _frontmatter(lines: Sequence[str]) -> tuple[tuple[tuple[int, str], ...], int]:
    """Return each key of a frontmatter as written with its line, and the first line below it."""
    mark = lines[0].rstrip()
    end = next((number for number, line in enumerate(lines[1:], 2) if line.rstrip() == mark), 0)
    inside = lines[1 : end - 1]
    if not _FENCE.fullmatch(mark) or not end or not any(map(_KEY.match, inside)):
        return (), 1
    starts = {0, *(at for at, line in enumerate(inside) if _KEY.match(line)), len(inside)}
    return tuple((at + 2, "\n".join(inside[at:to])) for at, to in pairwise(sorted(starts))), end + 1


def _metadata(head: Sequence[tuple[int, str]], text: str) -> dict[str, str]:
    """Return the values of a frontmatter, each on one line: from its YAML, otherwise as written without quotes."""
    found = {key["key"]: key["value"].strip(" \n>|\"'") for _, one in head if (key := _KEY.match(one))}
    with suppress(UnreadableError):
        found |= {key: value for key, value in read_mapping(text).as_written.items() if isinstance(value, str)}
    return {key: " ".join(value.split()) for key, value in found.items()}
