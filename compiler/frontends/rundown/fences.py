"""Warnings about code blocks that swallow lines of the runbook, since their closing fence is missing (D2).

CommonMark takes everything down to the next fence that can close the block as code, and the runbook that is left may
well be valid. So a block is reported for a line that hardly anyone writes into one deliberately:

- a line that would open a block with an info string, at least as long as the block's own fence. Inside a block that
  shows Markdown the author has to choose a longer outer fence anyway, and then there is nothing to report.
- a header that this runbook lacks: the next number of a step or substep, or the target of a GOTO that is defined
  nowhere. Other lines with `##` are common in code, above all as comments (`## Clean up`), and are left alone. So is
  a block with a fence of four or more characters or one tagged as Markdown, which shows such lines deliberately.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, Related
from compiler.frontends.rundown.blocks import Block
from compiler.regex import Regex
from compiler.source import Source

CANDIDATE = Regex(
    r"^ {0,3}(?:(?P<marks>#{2,3})[ \t]++(?P<header>\S[^\n]*+)|(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^\s][^\n]*+))",
    re.MULTILINE,
)
"""A line of a code block that would be a header or would open a code block if it stood outside."""

_ID = r"[0-9]{1,9}|\{[Nn]\}|[A-Za-z_][A-Za-z0-9_]*+"
HEADER = {
    "##": Regex(rf"({_ID})(?=[.:)—→ \t-]|$)()"),
    "###": Regex(rf"({_ID})\.({_ID})(?=[.:)—→ \t-]|$)"),
}
"""The identifiers of a header, by its marks."""

JUMP = Regex(rf"\bGOTO[ \t]+(?:NEXT[ \t]+)?({_ID})(?:\.({_ID}))?")

SHOWS_MARKDOWN = frozenset({"markdown", "md", "rundown"})

LONG_FENCE = 4
"""From this length on, a fence was chosen to hold others."""

Ids = tuple[str, str]
"""The identifiers of a step and its substep as they are written; the second one is empty for the step itself."""


class Outline(Struct, frozen=True):
    """The steps that a document has, and those that its transitions name."""

    defined: frozenset[Ids]
    wanted: frozenset[Ids]


class Position(Struct, frozen=True):
    """Where a block stands: in which step, and below which number of a step and of a substep in it."""

    step: str = ""
    number: str = "0"
    child: str = "0"

    def after(self, header: Block) -> Position:
        """The position below a header."""
        ids = _ids(header)
        if ids is None:
            return self
        step, child = ids
        if child:
            return replace(self, child=child if child.isdigit() else self.child)
        return Position(step, step if step.isdigit() else self.number)


def swallowed_lines(source: Source, blocks: Sequence[Block]) -> Iterator[Diagnostic]:
    """A warning for each closed code block that has probably swallowed lines; an open one is an error of its own."""
    if not any(block.type == "CODE" and _may_hold_one(block) for block in blocks):
        return
    outline = _outline(blocks)
    position = Position()
    for block in blocks:
        if block.type in {"STEP", "SUBSTEP"}:
            position = position.after(block)
        elif block.type == "CODE" and _may_hold_one(block):
            lines = CANDIDATE.finditer(block.text)
            found = next((line for line in lines if _fits(block, line, outline, position)), None)
            if found:
                yield _warning(source, block, found)


def _may_hold_one(block: Block) -> bool:
    """Whether a block of code can hold such a line."""
    return block.closed and ("##" in block.text or block.mark in block.text)


def _outline(blocks: Sequence[Block]) -> Outline:
    headers = (_ids(block) for block in blocks if block.type in {"STEP", "SUBSTEP"})
    jumps = (JUMP.search(block.text) for block in blocks if block.type == "TRANSITION")
    return Outline(
        frozenset(ids for ids in headers if ids), frozenset((jump[1], jump[2] or "") for jump in jumps if jump)
    )


def _ids(block: Block) -> Ids | None:
    match = HEADER["##" if block.type == "STEP" else "###"].match(block.text)
    return _pair(match) if match else None


def _pair(match: re.Match[str]) -> Ids:
    step, child = match.groups()
    return step.lstrip("0") or step, child.lstrip("0") or child


def _fits(block: Block, line: re.Match[str], outline: Outline, position: Position) -> bool:
    """Whether a line of a code block was probably not meant as a part of it."""
    if line["fence"]:
        opens = line["fence"][0] == "~" or "`" not in line["info"]
        return opens and line["fence"].startswith(block.mark)
    if len(block.mark) >= LONG_FENCE or block.info.split(" ")[0].lower() in SHOWS_MARKDOWN:
        return False
    header = HEADER[line["marks"]].match(line["header"])
    return header is not None and _is_missing(_pair(header), outline, position)


def _is_missing(ids: Ids, outline: Outline, position: Position) -> bool:
    """Whether the runbook has no such step, although it would be the next one, or a GOTO names it."""
    step, child = ids
    if ids in outline.defined or (child and step != position.step):
        return False
    if ids in outline.wanted:
        return True
    return child in {"{n}", _next(position.child)} if child else step in {"{N}", _next(position.number)}


def _next(number: str) -> str:
    return str(int(number) + 1)


def _warning(source: Source, block: Block, match: re.Match[str]) -> Diagnostic:
    line = block.line + 1 + block.text.count("\n", 0, match.start())
    what = "would open another code block" if match["fence"] else "reads like a header of this runbook"
    problem = f"this code block holds line {line}, which {what}: a closing fence is probably missing"
    length = max(len(block.mark), len(match["fence"] or ""), LONG_FENCE - 1) + 1
    remedy = (
        f"close the block above line {line} with a line of its own: {block.mark}; if the line belongs to the block, "
        f"open and close the block with {block.mark[0] * length}"
    )
    related = Related(source.path, source.line_span(line), "this line is part of the code block")
    return Diagnostic("RD049", source.path, block.span, problem, remedy, (related,))
