"""The report of an import: the parts of a draft, its guesses, and the words and links of the page that it lacks."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from compiler.importers import words
from compiler.importers.blocks import read_block
from compiler.importers.draft import Draft, Printed, labeled
from compiler.importers.markdown import Page, Piece, Section, read_page, words_of
from compiler.importers.sections import asks, every
from compiler.text.regex import Regex
from compiler.text.source import Source

VERSION = 1
MOST_LISTED = 20  # the most guesses or losses of a kind in text


class Entry(Struct, frozen=True):
    """A guess or a loss: a stable kind, its words, its line in the page, and its line in the draft, 0 for none."""

    kind: str
    message: str
    line: int
    draft_line: int = 0


class Report(Struct, frozen=True):
    """The result of importing one page: counts, guesses and losses."""

    source: str
    draft: str
    steps: int
    commands_run: int
    commands_shown: int
    questions: int
    inputs: tuple[str, ...]
    asked: tuple[str, ...]
    guesses: tuple[Entry, ...]
    losses: tuple[Entry, ...]


class Refusal(Struct, frozen=True):
    """The reason why a file has no draft: a stable kind, its words, and the line of the file, 0 for the whole file."""

    source: str
    kind: str
    message: str
    line: int = 0


class Import(Struct, frozen=True):
    """The reports of one call, for `--format json`."""

    version: int
    drafts: tuple[Report, ...]
    refused: tuple[Refusal, ...]


class LostCodeError(Exception):
    """A code line of the page is in no part of the draft: a defect of the importer. The argument is its line."""


def report_of(
    source: str, draft: Draft, printed: Printed, losses: tuple[Entry, ...], page: Page | None = None
) -> Report:
    """Return the report of a printed draft, with the parts of a page that are only text."""
    items = [item for _, item in labeled(draft) if not item.items]
    guesses = [*_only_text(page, draft, printed)] if page else []
    guesses += [Entry(mark.kind, mark.words, mark.line) for mark in draft.marks]
    for label, item in labeled(draft):
        line = printed.lines[label]
        guesses += [Entry(one.kind, one.words, one.line, line + 2 + at) for at, one in enumerate(item.marks)]
        guesses += [Entry(one.kind, one.words, one.line, line) for one in item.notes]
    return Report(
        source,
        "",
        len(draft.steps),
        sum(item.runs for item in items),
        sum(bool(item.code) and not item.runs for item in items),
        sum(not item.runs for item in items),
        tuple(one.name for one in draft.inputs),
        tuple(item.asks for item in items if item.asks),
        tuple(sorted(guesses, key=lambda one: (one.line, one.draft_line))),
        losses,
    )


# --- Parts that are only text -----------------------------------------------------------------------------------------


def _only_text(page: Page, draft: Draft, printed: Printed) -> Iterator[Entry]:
    """Yield parts that may be steps, but are only text in a draft: sections, blocks, and items of lists, by heading."""
    items = [(item.line, label) for label, item in labeled(draft)]
    steps, blocks = {line for line, _ in items}, {item.line for _, item in labeled(draft) if item.code}
    for section in every(page.root):
        end = max((piece.end for piece in section.pieces), default=section.line)
        if section.line in printed.sections or not steps & {*range(section.line, end + 1)}:
            draft_line = printed.sections.get(section.line, 0)
            if _may_have_steps(section) if draft_line else asks(section):
                message = f"the section is only text: {section.title or 'the part without a heading'}"
                yield Entry("text", message, section.line, draft_line)
            continue
        found: dict[str, list[int]] = {"command": [], "code block": [], "list item": []}
        for name, line in _blocks(section):
            found[name] += [line] * (line not in blocks)
        for listed in (piece.pieces for piece in section.pieces if piece.kind == "list"):
            is_listed = words.is_check(section.title) or words.is_ordered(section.title) or any(map(_is_task, listed))
            lost = (one.line for one in listed if not steps & {*range(one.line, one.end + 1)})
            found["list item"] += lost if is_listed else ()
        for name, lines in ((name, lines) for name, lines in found.items() if lines):
            step = max(((line, label) for line, label in items if line <= lines[0]), default=(0, ""))[1]
            message = f"a {name} is only in the text of the step"
            if len(lines) > 1:
                message = f"{len(lines)} {name}s are only in the text of steps, lines {lines[0]} to {lines[-1]}"
            yield Entry("merged" if name == "list item" else "quoted", message, lines[0], printed.lines.get(step, 0))


def _is_task(item: Piece) -> bool:
    first = (words.sentences(item.plain) or [""])[0]
    return item.info in {"1", "[ ]"} or bool(words.instruction(first) and not words.is_fact(item.plain))


def _blocks(section: Section) -> Iterator[tuple[str, int]]:
    """Yield a noun and the line for each block of a section, except output and notes of MyST."""
    for one in (one for piece in section.pieces for one in piece.all() if one.kind == "code"):
        kind = read_block(one.info, one.text).kind
        if kind != "output" and not re.match(r"\{[^.]", one.info):
            yield "command" if kind in {"run", "show"} else "code block", one.line


def _may_have_steps(section: Section) -> bool:
    """Return whether a text has a block, a list of steps, or anything below a heading that isn't for reference."""
    items = (item for piece in section.pieces for item in piece.pieces)
    if section.is_numbered or any(_blocks(section)) or any(item.info in {"1", "[ ]"} for item in items):
        return True
    return bool(section.pieces) and not words.is_reference(section.title)


# --- Losses -----------------------------------------------------------------------------------------------------------

_COMMENT = Regex(r"^<!-- rdc: .*-->$", re.MULTILINE)
_MARKS = Regex(r"[\s\"'${}<>_-]+")
_PROMPT = Regex(r"^\s*+(?>(?:\([\w.-]+\)\s*+)?)[$%❯➜>]\s+")
_QUOTE = Regex(r"^(?:>\s?)+")


def losses_of(page: Page, names: Mapping[str, str], text: str) -> Iterator[Entry]:
    """Yield the words and links of a page that a draft lacks, each line's once.

    Raises:
        LostCodeError: The draft lacks a code line.
    """
    _find_code(page, names, text)
    draft = read_page(Source.from_text("", _COMMENT.sub("", text)))
    after = draft.content
    kept = {key: {*words_of(draft.metadata.get(key, ""))} for key in ("name", "description")}
    kept["title"] = {word for line, word in after.words if line == after.words[0][0]}
    for line, written in page.content.head:
        key, *value = words_of(written) or [""]
        if key and (key not in kept or not {*value} <= kept[key]):
            yield Entry("frontmatter", " ".join(written.split()), line)
    left = Counter(word for _, word in after.words)
    left.update(word for _, line in after.code for word in words_of(line))
    left.subtract(word for _, line in page.content.code for word in words_of(line))
    missing: dict[int, list[str]] = {}
    for line, word in page.content.words:
        left[word] -= 1
        if left[word] < 0:
            missing.setdefault(line, []).append(word)
    yield from (Entry("words", " ".join(lost), line) for line, lost in missing.items())
    yield from (Entry("link", url, line) for line, url in page.content.links if url and url not in text)


def _find_code(page: Page, names: Mapping[str, str], body: str) -> None:
    there = {_canonical(_with_names(_QUOTE.sub("", line), names)) for line in body.split("\n")}
    for number, line in page.content.code:
        tried = (line, _PROMPT.sub("", line, count=1), _QUOTE.sub("", line))
        if not any(_canonical(_with_names(one, names)) in there for one in tried):
            raise LostCodeError(number)


def _with_names(line: str, names: Mapping[str, str]) -> str:
    for written, name in sorted(names.items(), key=lambda item: -len(item[0])):
        line = line.replace(written, name)
    return line


def _canonical(line: str) -> str:
    """Return a code line without the marks that a placeholder or a prompt changes."""
    return _MARKS.sub("", line).lower()


# --- Text and JSON ----------------------------------------------------------------------------------------------------


def as_text(report: Report) -> Iterator[str]:
    """Yield the report as lines for a person."""
    asked = f", asks for {len(report.asked)}" if report.asked else ""
    yield (
        f"{report.source}: {_many(report.steps, 'step')}, {_many(report.commands_run, 'command')} to run, "
        f"{report.commands_shown} shown, {_many(report.questions, 'question')}, "
        f"{_many(len(report.inputs), 'input')}{asked}"
    )
    for title, entries in (("guess", report.guesses), ("lost", report.losses)):
        for kind in dict.fromkeys(entry.kind for entry in entries):
            places: dict[str, list[str]] = {}
            for entry in entries:
                if entry.kind == kind:
                    draft = f", draft line {entry.draft_line}" if entry.draft_line else ""
                    places.setdefault(entry.message, []).append(f"line {entry.line}{draft}")
            for message, found in list(places.items())[:MOST_LISTED]:
                more = [f"and {len(found) - MOST_LISTED} more"] if len(found) > MOST_LISTED else []
                yield f"  {title}[{kind}] {message} ({'; '.join([*found[:MOST_LISTED], *more])})"
            if len(places) > MOST_LISTED:
                yield f"  {title}[{kind}] and {len(places) - MOST_LISTED} more"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the reports that `rdc import --format json` prints."""
    return msgspec.json.schema(Import)
