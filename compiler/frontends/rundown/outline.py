"""The outline of a document before it is parsed: title, description, and headings that can be nothing (D4 to D6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, Fix
from compiler.frontends.rundown.blocks import Block
from compiler.regex import Regex
from compiler.source import Source, Span

STEP_AS_TITLE = Regex(r"(\d+|\{N\})[.:)](\s|$)|\{N\}|\d+ *[—→-] ")
"""An H1 that was meant as a step header (D4)."""


def settle_outline(source: Source, blocks: Iterable[Block]) -> tuple[list[Block], list[Diagnostic]]:
    """The blocks with at most one title, at the front, and without headings that the grammar has no place for.

    What stands before the first step is description, whatever it looks like (D5). Sections of prose below are left out.
    """
    found: list[Diagnostic] = []
    title: list[Block] = []
    rest: list[Block] = []
    steps = False
    for written in blocks:
        block = written
        if (not block.closed or block.type in {"TITLE", "HEADING"}) and (problem := _problem(source, block)):
            found.append(problem)
            block = replace(block, type="STEP") if problem.code == "RD021" else block
        if block.type == "TITLE":
            found += _title_problems(source, block, title, steps)
            title = title or [block]
        elif block.type != "HEADING" and not (steps and block.type == "PROSE"):
            steps = steps or block.type == "STEP"
            rest.append(block if steps or block.type == "SUBSTEP" else replace(block, type="TEXT"))
    return title + rest, found


def _problem(source: Source, block: Block) -> Diagnostic | None:
    """What is wrong with a block wherever it stands."""
    if block.closed:
        return _heading_problem(source, block)
    if block.mark:
        problem = "this code block is never closed: everything below is part of it"
        remedy = f"close it with a line of its own: {block.mark}"
        if number := _line_like_a_fence(source, block):
            remedy = f"remove the invisible character beside the marks in line {number}, which is to close it"
        return Diagnostic("RD045", source.path, block.span, problem, remedy, fix=_closing(source, block, number))
    problem = "this comment is never closed: everything below is part of it"
    return Diagnostic("RD048", source.path, block.span, problem, "close it with `-->`")


def _closing(source: Source, block: Block, number: int) -> Fix:
    """The fix that closes a code block: at its end, certain if it holds no line that may be the runbook's own."""
    if number:
        return Fix.by(Span(number, 1, number, len(source.lines[number - 1]) + 1), block.mark, is_safe=True)
    last, end = len(source.lines), len(source.lines[-1]) + 1
    is_safe = not any(map(_OWN.match, source.lines[block.line :]))
    text = f"{block.mark}\n" if end == 1 else f"\n{block.mark}\n"
    return Fix.by(Span(last, end, last, end), text, is_safe=is_safe)


_OWN = Regex(r" {0,3}(?:#{2,3}\s|[-*+]\s+(?:PASS|FAIL|YES|NO)\b|`{3}|~{3})")
"""A line that is hardly part of a code block."""


def _line_like_a_fence(source: Source, block: Block) -> int:
    """The number of the line that looks like the closing fence of a block, and has more than spaces beside it; or 0."""
    numbers = range(block.line + 1, len(source.lines) + 1)
    lines = ((number, source.lines[number - 1]) for number in numbers)
    marks = ((number, "".join(filter(str.isprintable, line)).strip()) for number, line in lines if line[:1] != "\t")
    alike = (number for number, text in marks if text.startswith(block.mark) and not text.strip(block.mark[0]))
    return next((number for number in alike if not source.lines[number - 1].startswith(" " * 4)), 0)


def _heading_problem(source: Source, block: Block) -> Diagnostic | None:
    if block.type == "TITLE" and STEP_AS_TITLE.match(block.text):
        problem = "a heading of level 1 is the title, but this looks like a step"
        mark = source.lines[block.line - 1].find("#") + 1
        fix = Fix.by(Span(block.line, mark, block.line, mark), "#") if mark else None
        return Diagnostic(
            "RD021", source.path, block.span, problem, "use `##` for a step, `###` for a substep", fix=fix
        )
    if block.type != "HEADING":
        return None
    if block.info == "-":
        problem = "this text is a heading, since a line of dashes stands straight below it"
        remedy = "put a blank line between the text and the dashes, or write a step header with `##`"
        fix = Fix.by(Span(block.end_line, 1, block.end_line, 1), "\n")
        return Diagnostic("RD033", source.path, block.span, problem, remedy, fix=fix)
    problem = f"a heading of level {len(block.info)}: a runbook has steps (`##`) and substeps (`###`) only"
    return Diagnostic("RD030", source.path, block.span, problem, "make it a substep, or plain text of the prompt")


def _title_problems(source: Source, block: Block, title: list[Block], steps: bool) -> Iterator[Diagnostic]:
    if title:
        problem = f"a second title; the title is the one in line {title[0].line}"
        yield Diagnostic("RD020", source.path, block.span, problem, "use `##` for a step, or make it plain text")
    elif steps:
        problem = "the title stands after the first step"
        yield Diagnostic("RD022", source.path, block.span, problem, "move it to the top of the document")
