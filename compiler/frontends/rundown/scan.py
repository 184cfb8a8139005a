"""Scan a source into frontmatter and blocks, the same in both layouts (V7), and settle its outline (D4 to D6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, Fix
from compiler.frontends.rundown.blocks import Block, read_blocks
from compiler.frontends.rundown.frontmatter import Frontmatter, read_frontmatter
from compiler.frontends.rundown.layout import mark_remarks
from compiler.frontends.rundown.lines import parse_header
from compiler.frontends.rundown.options import PROSE
from compiler.frontends.rundown.prose import mark_prose
from compiler.issues import Place
from compiler.options import Options
from compiler.regex import Regex
from compiler.source import Source, Span


class Scanned(Struct, frozen=True):
    """A document before parsing.

    `written` has all blocks, `blocks` marks prose sections in them, and `outline` has the blocks to parse.
    """

    source: Source
    frontmatter: Frontmatter
    written: list[Block]
    blocks: list[Block]
    outline: list[Block]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def options(self) -> Options:
        """The options in the document."""
        return self.frontmatter.options

    @property
    def begin(self) -> int:
        """The first line of the document after its frontmatter."""
        return self.frontmatter.next_line


def scan(source: Source, prose: Mapping[str, Place] = MappingProxyType({})) -> Scanned:
    """Return a document's frontmatter and blocks; `prose` applies if the document names no prose sections."""
    frontmatter, found = read_frontmatter(source)
    own = PROSE.first(frontmatter.options.values)
    written = list(read_blocks(source, frontmatter.next_line))
    blocks = mark_prose(written, prose if own is None else own)
    outline, problems = settle_outline(source, blocks)
    return Scanned(source, frontmatter, written, blocks, mark_remarks(source, outline), (*found, *problems))


STEP_AS_TITLE = Regex(r"(\d+|\{N\})[.:)](\s|$)|\{N\}|\d+ *[—→-] ")
"""Matches an H1 that was meant as a step header (D4)."""


def settle_outline(source: Source, blocks: Iterable[Block]) -> tuple[list[Block], list[Diagnostic]]:
    """Return the blocks with at most one title, at the front, and without headings that the grammar cannot use.

    Everything before the first step is the description (D5). Prose sections below it are left out.
    """
    found: list[Diagnostic] = []
    title: list[Block] = []
    rest: list[Block] = []
    steps = False
    for written in blocks:
        block = written
        if (not block.closed or block.type in {"TITLE", "HEADING"}) and (problem := _problem(source, block)):
            found.append(problem)
            if problem.code == "RD021":
                block = replace(block, type="STEP", parsed=parse_header(block.text, "step"))
        if block.type == "TITLE":
            found += _title_problems(source, block, title, steps)
            title = title or [block]
        elif block.type != "HEADING" and not (steps and block.type == "PROSE"):
            steps = steps or block.type == "STEP"
            rest.append(block if steps or block.type == "SUBSTEP" else replace(block, type="TEXT"))
    return title + rest, found


def _problem(source: Source, block: Block) -> Diagnostic | None:
    """Return the problem of a block that is invalid anywhere in a document, or None."""
    if block.closed:
        return _heading_problem(source, block)
    if block.mark:
        problem = "this code block is not closed, so it includes everything below it"
        remedy = f"close it with {block.mark} on a separate line"
        if number := _line_like_a_fence(source, block):
            remedy = f"remove the invisible character from the closing fence in line {number}"
        return Diagnostic("RD045", source.path, block.span, problem, remedy, fix=_closing(source, block, number))
    problem = "this comment is not closed, so it includes everything below it"
    return Diagnostic("RD048", source.path, block.span, problem, "close it with `-->`")


def _closing(source: Source, block: Block, number: int) -> Fix:
    """Return the fix that closes a code block, safe if the block has no line that may belong to the runbook."""
    if number:
        return Fix.by(Span(number, 1, number, len(source.lines[number - 1]) + 1), block.mark, is_safe=True)
    last, end = len(source.lines), len(source.lines[-1]) + 1
    is_safe = not any(map(_OWN.match, source.lines[block.line :]))
    text = f"{block.mark}\n" if end == 1 else f"\n{block.mark}\n"
    return Fix.by(Span(last, end, last, end), text, is_safe=is_safe)


_OWN = Regex(r" {0,3}(?:#{2,3}\s|[-*+]\s+(?:PASS|FAIL|YES|NO)\b|`{3}|~{3})")
"""Matches a line that is rarely part of a code block."""


def _line_like_a_fence(source: Source, block: Block) -> int:
    """Return the line of a closing fence with invisible characters beside its marks, or 0."""
    numbers = range(block.line + 1, len(source.lines) + 1)
    lines = ((number, source.lines[number - 1]) for number in numbers)
    marks = ((number, "".join(filter(str.isprintable, line)).strip()) for number, line in lines if line[:1] != "\t")
    alike = (number for number, text in marks if text.startswith(block.mark) and not text.strip(block.mark[0]))
    return next((number for number in alike if not source.lines[number - 1].startswith(" " * 4)), 0)


def _heading_problem(source: Source, block: Block) -> Diagnostic | None:
    if block.type == "TITLE" and STEP_AS_TITLE.match(block.text):
        problem = "this looks like a step, but a level-1 heading is the title"
        mark = source.lines[block.line - 1].find("#") + 1
        fix = Fix.by(Span(block.line, mark, block.line, mark), "#") if mark else None
        return Diagnostic(
            "RD021", source.path, block.span, problem, "use `##` for a step, `###` for a substep", fix=fix
        )
    if block.type != "HEADING":
        return None
    if block.info == "-":
        problem = "this text is a heading, because there is a line of dashes directly below it"
        remedy = "put a blank line above the dashes, or write a step header with `##`"
        fix = Fix.by(Span(block.end_line, 1, block.end_line, 1), "\n")
        return Diagnostic("RD033", source.path, block.span, problem, remedy, fix=fix)
    problem = f"level-{len(block.info)} heading; a runbook only has steps (`##`) and substeps (`###`)"
    return Diagnostic("RD030", source.path, block.span, problem, "make it a substep or plain text")


def _title_problems(source: Source, block: Block, title: list[Block], steps: bool) -> Iterator[Diagnostic]:
    if title:
        problem = f"second title; the first one is in line {title[0].line}"
        yield Diagnostic("RD020", source.path, block.span, problem, "use `##` for a step, or make it plain text")
    elif steps:
        problem = "the title comes after the first step"
        yield Diagnostic("RD022", source.path, block.span, problem, "move it to the top of the document")
