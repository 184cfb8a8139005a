"""Formatting: a runbook is put into its normal form (`rdc fmt`), and the result is proved to mean the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from compiler.diagnostic import Diagnostic, Severity, sort_key
from compiler.frontends import Formatted, Job
from compiler.frontends.rundown.check import check
from compiler.frontends.rundown.formatting.arrange import arrange
from compiler.frontends.rundown.formatting.emit import Line, Rewrite, emit, text_of
from compiler.frontends.rundown.formatting.metadata import renumber_scenarios
from compiler.frontends.rundown.formatting.numbering import Numbering, has_doubled_names
from compiler.frontends.rundown.formatting.pieces import Piece, Section, read_sections
from compiler.frontends.rundown.formatting.problems import unclear_references
from compiler.frontends.rundown.formatting.proof import same_content, same_meaning
from compiler.frontends.rundown.formatting.spelling import Spelling
from compiler.frontends.rundown.frontmatter import read_frontmatter
from compiler.frontends.rundown.parse import parse
from compiler.frontends.rundown.syntax import Runbook
from compiler.options import LAYOUTS, Layout
from compiler.source import Source, Span

OUT_OF_ORDER = {"RD112", "RD113"}
OUT_OF_SEQUENCE = {"RD102", "RD103", "RD108"}
"""What formatting mends: the order of a unit's parts, and the numbers of units."""

DEFECT = "its normal form would not mean the same"


class _Read(NamedTuple):
    """A document as read in a layout: its tree, and what is wrong with it."""

    source: Source
    runbook: Runbook | None
    errors: tuple[Diagnostic, ...]

    def has(self, codes: set[str]) -> bool:
        return any(found.code in codes for found in self.errors)


def format_document(job: Job) -> Formatted:
    """The normal form of a runbook in the layout that its options ask for (V7).

    A document with other errors than those of order and numbers is left alone.
    """
    own = read_frontmatter(job.source)[0].options
    wanted = job.transitions or own.transitions or job.configured.transitions or "after-body"
    as_wanted = _read(job.source, wanted)
    written, original = _as_written(as_wanted, wanted)
    begin, sections = read_sections(job.source)
    arranged = arrange(sections, written, wanted)
    moved = original is None
    if original is None:
        lines = emit(job.source, begin, arranged, _kept(job.source))
        original = _read(replace(job.source, text=text_of(lines)), wanted)
        original = original._replace(errors=tuple(_placed_back(original.errors, lines)))
    misplaced = (found for found in as_wanted.errors if found.code in OUT_OF_ORDER)
    errors = tuple(sorted({*misplaced, *original.errors}, key=sort_key))
    if original.runbook is None or not _can_be_mended(original):
        return Formatted(None, errors)
    if moved and not _has_same_content(job.source, arranged, original.source, wanted):
        return Formatted(None, errors, defect=DEFECT)
    return _formatted(_Task(job.source, begin, arranged, wanted, errors), original.runbook)


def _read(source: Source, layout: Layout) -> _Read:
    parsed = parse(source, layout)
    found = [*parsed.diagnostics, *(check(source, parsed.runbook) if parsed.runbook else ())]
    return _Read(source, parsed.runbook, tuple(item for item in found if item.severity is Severity.ERROR))


def _as_written(as_wanted: _Read, wanted: Layout) -> tuple[Layout | None, _Read | None]:
    """The layout that a document is written in, and the document as read in it; None if it keeps to neither."""
    if not as_wanted.has(OUT_OF_ORDER):
        return wanted, as_wanted
    other = next(layout for layout in LAYOUTS if layout != wanted)
    as_other = _read(as_wanted.source, other)
    return (None, None) if as_other.has(OUT_OF_ORDER) else (other, as_other)


def _can_be_mended(read: _Read) -> bool:
    only_numbers = all(found.code in OUT_OF_SEQUENCE for found in read.errors)
    return only_numbers and read.runbook is not None and not has_doubled_names(read.runbook)


class _Task(NamedTuple):
    """A document whose sections are in order, where they begin, their layout, and the errors of the document."""

    source: Source
    begin: int
    sections: Sequence[Section]
    wanted: Layout
    errors: tuple[Diagnostic, ...]


def _formatted(task: _Task, runbook: Runbook) -> Formatted:
    """The normal form of a document, and the proof that it is one of the same document."""
    numbering = Numbering(runbook)
    unclear = tuple(unclear_references(task.source, runbook, numbering))
    if unclear:
        return Formatted(None, (*task.errors, *unclear))
    lines = emit(task.source, task.begin, task.sections, Spelling(task.sections, numbering))
    text = text_of(renumber_scenarios(lines, runbook, numbering))
    result = _read(replace(task.source, text=text), task.wanted)
    meant = numbering.runbook(runbook)
    if result.errors or result.runbook is None or not same_meaning(task.source, meant, result.runbook):
        return Formatted(None, task.errors, defect=DEFECT)
    return Formatted(text, (), numbering.changes)


def _has_same_content(source: Source, sections: Sequence[Section], moved: Source, wanted: Layout) -> bool:
    """Whether a document that has its blocks in order, line by line, reads as the same blocks."""
    again = arrange(read_sections(moved)[1], wanted, wanted)
    return same_content(source, sections, moved, again)


def _kept(source: Source) -> Rewrite:
    """Leaves every line as it is, but for a modifier that is not to be there."""

    def rewrite(piece: Piece) -> str | None:
        block = piece.block
        is_changed = block and block.kind == "TRANSITION" and block.text not in source.lines[block.line - 1]
        return f"- {block.text}" if is_changed and block else None

    return rewrite


def _placed_back(errors: Iterable[Diagnostic], lines: Sequence[Line]) -> Iterator[Diagnostic]:
    """The diagnostics of a document with moved lines, at the places of these in the source."""

    def back(span: Span) -> Span:
        line = lines[min(span.line, len(lines)) - 1].origin
        return replace(span, line=line, end_line=line + span.end_line - span.line)

    for found in errors:
        related = tuple(place._replace(span=back(place.span)) for place in found.related)
        yield replace(found, span=found.span and back(found.span), related=related)
