"""Put a runbook into its normal form (`rdc fmt`), and prove that the result means the same."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.issues import OptionSource
from compiler.diagnostics.model import Diagnostic, Edit, Severity, edited, sort_key
from compiler.frontends.common.interface import Formatted, Job
from compiler.frontends.rundown import PROSE, TRANSITIONS, Layout
from compiler.frontends.rundown.check.numbering import Label, Numbering, has_doubled_names, renumbering
from compiler.frontends.rundown.check.rules import check
from compiler.frontends.rundown.format.sections import (
    SEPARATOR,
    Emitter,
    Line,
    Piece,
    Rewrite,
    Section,
    arrange,
    read_sections,
    text_of,
)
from compiler.frontends.rundown.link import Document
from compiler.frontends.rundown.lower.document import lower
from compiler.frontends.rundown.marks import step_references
from compiler.frontends.rundown.parse.build import TOO_DEEP
from compiler.frontends.rundown.parse.document import parse_scanned
from compiler.frontends.rundown.parse.lines import Header, print_transition
from compiler.frontends.rundown.parse.messages import missing_steps
from compiler.frontends.rundown.parse.outline import Scanned, deciding_steps, layout_of, scan, without_offer
from compiler.frontends.rundown.printing import marked
from compiler.frontends.rundown.syntax import Complete, Runbook, Stop, Transition, spell
from compiler.ir.serialize import same
from compiler.text.source import Source, Span

OUT_OF_ORDER = {"RD112", "RD113"}
OUT_OF_SEQUENCE = {"RD102", "RD103", "RD108"}
"""Codes of the problems that formatting fixes: the order of a step's parts, and step numbers."""

SWALLOWED = "RD049"
"""The code for a code block that includes a step; the step numbers are right, but a closing fence is missing."""

DEFECT = "the formatted document would not mean the same"


class _Read(Struct, frozen=True):
    """A document as read in one layout: its syntax tree, and the errors that prevent formatting."""

    scanned: Scanned
    runbook: Runbook | None
    errors: tuple[Diagnostic, ...]


class _Wanted(Struct, frozen=True):
    """The layout of the result, and the prose sections that the project names."""

    layout: Layout
    prose: Mapping[str, OptionSource]

    def scan(self, source: Source, text: str) -> Scanned:
        return scan(replace(source, text=text), self.prose)


class _Plan(Struct, frozen=True):
    """A document that formatting accepts: its sections in the layout of the result, its errors, and its syntax tree."""

    scanned: Scanned
    sections: Sequence[Section]
    wanted: _Wanted
    errors: tuple[Diagnostic, ...]
    runbook: Runbook
    numbering: Numbering
    edits: Sequence[Edit]


def format_document(job: Job) -> Formatted:
    """Return the normal form of a runbook in its layout (V7), unless it has errors beyond order and numbering."""
    plan = _planned(job)
    formatted = _formatted(plan) if isinstance(plan, _Plan) else plan
    if formatted.text is not None:
        return formatted
    return replace(formatted, diagnostics=tuple(without_offer(formatted.diagnostics)))


def accepts(job: Job) -> bool:
    """Return whether a runbook has no errors beyond order and numbering, without formatting it."""
    return isinstance(_planned(job), _Plan)


def _planned(job: Job) -> _Plan | Formatted:
    """Return how to format a runbook, or the reasons against it."""
    prose = PROSE.first(job.configured) or {}
    scanned = scan(job.source, prose)
    deciding = deciding_steps(job.source, scanned.outline)
    layout = TRANSITIONS.first(job.given, scanned.frontmatter.options.values, job.configured) or layout_of(deciding)
    wanted, written = _Wanted(layout, prose), layout_of(deciding) if deciding else layout
    as_written = original = _read(scanned, written)
    moved = any(found.code in OUT_OF_ORDER for found in as_written.errors)
    sections = arrange(read_sections(scanned), None if moved else written, layout)
    if moved:
        lines = Emitter(job.source, _kept(job.source)).document(scanned.frontmatter.next_line, sections)
        original = _read(wanted.scan(job.source, text_of(lines)), layout)
        original = replace(original, errors=tuple(_placed_back(original.errors, lines)))
    misplaced = (found for found in as_written.errors if found.code in OUT_OF_ORDER)
    errors = tuple(sorted(dict.fromkeys([*misplaced, *original.errors]), key=sort_key))
    if original.runbook is None or not _is_fixable(original):
        return Formatted(None, errors)
    again = arrange(read_sections(original.scanned), layout, layout) if moved else sections
    if list(_content(job.source, sections)) != list(_content(original.scanned.source, again)):
        # Lines would change their meaning if moved, for example the lines inside an unclosed comment.
        if all(found.code in OUT_OF_ORDER | OUT_OF_SEQUENCE for found in as_written.errors):
            return Formatted(None, errors, defect=DEFECT)
        return Formatted(None, tuple(sorted(as_written.errors, key=sort_key)))
    numbering = Numbering(original.runbook)
    edits, unclear = renumbering(job.source, original.runbook, numbering, step_references(job.source))
    if unclear:
        return Formatted(None, (*errors, *unclear))
    return _Plan(scanned, sections, wanted, errors, original.runbook, numbering, edits)


def _read(scanned: Scanned, layout: Layout) -> _Read:
    parsed = parse_scanned(scanned, layout)
    found = [*parsed.diagnostics, *(check(scanned.source, parsed.runbook) if parsed.runbook else ())]
    errors = [item for item in found if item.severity is Severity.ERROR]
    if any(item.code in OUT_OF_SEQUENCE for item in errors):
        errors += [item for item in found if item.code == SWALLOWED]
    return _Read(scanned, parsed.runbook, tuple(errors))


def _is_fixable(read: _Read) -> bool:
    if read.runbook is None or any(found.code not in OUT_OF_SEQUENCE for found in read.errors):
        return False
    # Don't give a missing number to another step: its own header may read `## Step 2: Test`.
    is_missing = bool(read.errors and missing_steps(read.runbook.steps))
    return not is_missing and not has_doubled_names(read.runbook)


def _formatted(plan: _Plan) -> Formatted:
    source, wanted, runbook, numbering = plan.scanned.source, plan.wanted, plan.runbook, plan.numbering
    emitter = Emitter(edited(source, plan.edits), Spelling(plan.sections, numbering))
    text = text_of(emitter.document(plan.scanned.frontmatter.next_line, plan.sections))
    result = _read(wanted.scan(source, text), wanted.layout)
    meant = numbering.runbook(runbook)
    if result.errors or result.runbook is None or not is_equivalent(source, meant, result.runbook):
        return Formatted(None, plan.errors, defect=DEFECT)
    return Formatted(text, (), numbering.changes)


def _kept(source: Source) -> Rewrite:
    def rewrite(piece: Piece) -> str | None:
        block = piece.block
        is_changed = block and block.type == "TRANSITION" and block.text not in source.lines[block.line - 1]
        return f"- {block.text}" if is_changed and block else None

    return rewrite


def _placed_back(errors: Iterable[Diagnostic], lines: Sequence[Line]) -> Iterator[Diagnostic]:

    def back(span: Span) -> Span:
        line = lines[min(span.line, len(lines)) - 1].origin
        return replace(span, line=line, end_line=line + span.end_line - span.line)

    for found in errors:
        related = tuple(replace(place, span=back(place.span)) for place in found.related)
        yield replace(found, span=found.span and back(found.span), related=related)


def is_equivalent(source: Source, before: Runbook, after: Runbook) -> bool:
    """Return whether two syntax trees have the same program, metadata and scenarios, apart from places.

    Nested runbooks are not read, because they do not depend on the document that includes them.
    """
    return same(_meaning(source, before), _meaning(source, after))


def _meaning(source: Source, runbook: Runbook) -> tuple[object, ...]:
    document = Document(source, runbook, {}, is_whole=True)
    lowered = lower(document, {source.name: document})
    program = lowered.message if isinstance(lowered, Diagnostic) else lowered.program
    metadata = {key: value for key, value in runbook.metadata.items() if key not in {"scenarios", "rdc"}}
    head = runbook.title, runbook.description, runbook.prose, repr(metadata), repr(_options(runbook))
    limits = [each.limits and each.limits.meaning for each in runbook.declared.steps]
    settings = [
        (each.step, each.timeout, each.delay, each.backoff, each.asks, each.by_agent, *each.env.items())
        for each in runbook.declared.steps
    ]
    rules = [(rule.name, rule.sentence, rule.why, rule.override) for rule in runbook.declared.rules]
    labels = [(each.step, each.labels) for each in runbook.declared.steps if each.labels]
    return program, *head, runbook.scenarios, settings, limits, rules, labels


def _options(runbook: Runbook) -> object:
    options = runbook.metadata.get("rdc")
    if not isinstance(options, Mapping):
        return options
    steps = list(options["steps"].values()) if isinstance(options.get("steps"), Mapping) else None
    return {key: steps if key == "steps" else value for key, value in options.items() if key != "rules"}


def _content(source: Source, sections: Sequence[Section]) -> Iterator[tuple[str, str]]:
    for section in sections:
        for piece in section.all():
            lines = source.lines[piece.first - 1 : piece.last]
            # A comment that moves between two texts becomes part of the prompt, as does a remark.
            kind = "TEXT" if piece.kind in {"REST", "REMARK"} else piece.kind
            yield from ((kind, line) for line in lines if line.strip() and line != SEPARATOR)


class Spelling:
    """The normal spelling of each piece of a document whose only errors are in order and numbering."""

    def __init__(self, sections: Sequence[Section], numbering: Numbering) -> None:
        self._numbering = numbering
        headers = [section.header for section in sections if section.header]
        self._labels: Mapping[int, Label] = {
            header.first: label for header, label in zip(headers, numbering.labels(), strict=True)
        }

    def __call__(self, piece: Piece) -> str | None:
        """Return the line of a piece, or None if its lines stay unchanged."""
        text, parsed = (piece.block.text, piece.block.parsed) if piece.block else ("", None)
        match piece.kind, parsed:
            case "TITLE", _:
                return marked("#", text)
            case "STEP" | "SUBSTEP", Header():
                return self._header(piece.kind, text, parsed, self._labels[piece.first])
            case "TRANSITION", Transition():
                return f"- {self._transition(text, parsed)}"
            case "RUNBOOK", _:
                return f"- {text}"
            case _:
                return None

    @staticmethod
    def _header(kind: str, text: str, header: Header, label: Label) -> str:
        step, child = label
        name = spell(step) if child is None else f"{spell(step)}.{spell(child)}"
        separator, title = header.separator, header.title
        deep = TOO_DEEP["step" if kind == "STEP" else "substep"].match(text)
        if isinstance(step if child is None else child, str) or deep:
            separator = re.sub(r"[ \t]+", " ", separator)  # keep the author's punctuation, or a number that is an error
        else:
            separator = ". " if kind == "STEP" else " "
        return marked("##" if kind == "STEP" else "###", f"{name}{separator}{title}" if title else name)

    def _transition(self, text: str, parsed: Transition) -> str:
        transition = self._numbering.transition(parsed)
        action, quote = transition.action, text.find('"')
        if not isinstance(action, Stop | Complete) or not action.message or quote < 0:
            return print_transition(transition)
        bare = replace(transition, action=type(action)())
        return f"{print_transition(bare)} {text[quote:].rstrip()}"  # the message with the author's escapes
