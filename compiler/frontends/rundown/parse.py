"""Parse a source into a syntax tree and diagnostics; one run finds every error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from lark.exceptions import UnexpectedToken
from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, Severity, has_error
from compiler.frontends.rundown.blocks import Block, grammar
from compiler.frontends.rundown.build import TreeBuilder
from compiler.frontends.rundown.fences import swallowed_lines
from compiler.frontends.rundown.hints import almost_there, unlike_runbooks
from compiler.frontends.rundown.layout import deciding_steps, layout_of, mixed_layouts
from compiler.frontends.rundown.meant import UNFIT_OUTCOME, meant_transitions, misplaced_item
from compiler.frontends.rundown.options import PROSE, TRANSITIONS, Layout
from compiler.frontends.rundown.order import LATER_LINE, unexpected_block
from compiler.frontends.rundown.prose import sections_of, transitions_in_prose, unknown_sections
from compiler.frontends.rundown.questions import empty_steps
from compiler.frontends.rundown.scan import Scanned, scan
from compiler.frontends.rundown.syntax import Runbook
from compiler.frontends.rundown.unrun import blocks_not_run
from compiler.grammar import Node, end, feed
from compiler.options import Options, Place
from compiler.source import Source

_START: dict[Layout, str] = {"after-body": "runbook", "after-header": "runbook_after_header"}


class Parsed(NamedTuple):
    """The syntax tree, the diagnostics, and the options in the document; the tree is None if there are no steps.

    `is_whole` is true if everything below the frontmatter is free of errors.
    """

    runbook: Runbook | None
    diagnostics: list[Diagnostic]
    options: Options
    is_whole: bool = False


def parse(
    source: Source,
    layout: Layout | None = None,
    default: Layout | None = None,
    prose: Mapping[str, Place] = MappingProxyType({}),
) -> Parsed:
    """Return a document's syntax tree with diagnostics; after errors, the tree has only the readable parts.

    `layout` overrides the frontmatter, and `default` applies if neither sets a layout. Without any of them, the
    document decides (V7). `prose` are the headings of sections that are text, unless the document names its own.
    """
    scanned = scan(source, prose)
    return parse_scanned(scanned, layout or TRANSITIONS.first(scanned.options.values) or default)


def parse_scanned(scanned: Scanned, wanted: Layout | None) -> Parsed:
    """Return the syntax tree of a scanned document in a layout, or in the document's own, as `parse` does."""
    source, own = scanned.source, scanned.options
    deciding = deciding_steps(source, scanned.outline)
    layout = wanted or layout_of(deciding)
    tree, problems = _tree(source, scanned.outline, layout)
    if not wanted and (mixed := mixed_layouts(source, deciding)):
        problems = [mixed, *(item for item in problems if item.code != mixed.code)]
    unfit = {item.span.line for item in problems if item.code == UNFIT_OUTCOME and item.span}
    hints = (item for item in _hints(scanned) if item.code != "RD043" or not item.span or item.span.line not in unfit)
    found = list(dict.fromkeys([*scanned.diagnostics, *problems, *hints]))
    if tree is None:
        return Parsed(None, found if has_error(found) else [*found, _no_steps(source)], own)
    builder = TreeBuilder(source, layout)
    prose = () if scanned.blocks is scanned.written else sections_of(scanned.blocks)
    runbook = replace(builder.runbook(tree, scanned.frontmatter), prose=prose)
    found += builder.diagnostics
    errors = (item for item in found if item.severity is Severity.ERROR)
    is_whole = all(item.span is not None and item.span.line < scanned.begin for item in errors)
    return Parsed(runbook, found, own, is_whole)


def _hints(scanned: Scanned) -> Iterator[Diagnostic]:
    """Warn about text that was probably meant differently."""
    source, written, blocks = scanned.source, scanned.written, scanned.blocks
    yield from swallowed_lines(source, written)
    meant = list(meant_transitions(source, blocks))
    yield from meant
    known = {item.span.line for item in meant if item.span}
    yield from (item for item in almost_there(source, blocks) if not item.span or item.span.line not in known)
    yield from empty_steps(source, blocks)
    yield from blocks_not_run(source, blocks)
    yield from unlike_runbooks(source, blocks)
    yield from transitions_in_prose(source, written, blocks)
    yield from unknown_sections(source, written, PROSE.first(scanned.options.values) or {})


def _tree(source: Source, blocks: Iterable[Block], layout: Layout) -> tuple[Node | None, list[Diagnostic]]:
    """Pass the blocks to the grammar, and report and skip blocks that are in the wrong place."""
    parser = grammar().parse_interactive(start=_START[layout])
    found: list[Diagnostic] = []
    step: list[Block] = []
    reported: set[str] = set()  # report a step with several misplaced blocks only once
    for block in blocks:
        if block.type in {"STEP", "SUBSTEP"}:
            step, reported = [], set()
        try:
            feed(parser, block)
        except UnexpectedToken:
            problem = misplaced_item(source, block) or unexpected_block(source, step, block, layout)
            if problem.code not in reported:
                found.append(problem)
                reported.update({problem.code} - {UNFIT_OUTCOME, LATER_LINE})
            if step:
                continue  # messages compare later blocks with accepted ones only
        step.append(block)
    try:
        return end(parser), found
    except UnexpectedToken:
        return None, found


def _no_steps(source: Source) -> Diagnostic:
    problem = "the document has no steps"
    return Diagnostic("RD101", source.path, source.line_span(1), problem, "add a step: `## 1. Title`")  # V1
