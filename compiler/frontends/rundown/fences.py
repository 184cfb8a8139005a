"""Warn about code blocks that include lines of the runbook because their closing fence is missing (D2).

CommonMark reads everything down to the next matching fence as code, and the rest may still be a valid runbook. So a
block gets a warning for a line that is rarely intended as code:

- a line that would open a block with an info string, at least as long as the block's own fence. A block that shows
  Markdown needs a longer outer fence anyway, so it gets no warning.
- a header that this runbook lacks: the next step or substep number, or an undefined target of a GOTO. Other lines with
  `##` are common in code, mostly as comments (`## Clean up`), and get no warning. Neither does a block with a fence of
  four or more characters or a Markdown tag, which shows such lines on purpose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, Related
from compiler.frontends.rundown.blocks import Block
from compiler.frontends.rundown.lines import Header
from compiler.frontends.rundown.syntax import Goto, Identifier, Transition, spell
from compiler.regex import Regex
from compiler.source import Source

CANDIDATE = Regex(
    r"^ {0,3}(?:(?P<marks>#{2,3})[ \t]++(?P<header>\S[^\n]*+)|(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^\s][^\n]*+))",
    re.MULTILINE,
)
"""Matches a line that would be a header or open a code block outside this block."""

_ID = r"[0-9]{1,9}|\{[Nn]\}|[A-Za-z_][A-Za-z0-9_]*+"
HEADER = {
    "##": Regex(rf"({_ID})(?=[.:)—→ \t-]|$)()"),
    "###": Regex(rf"({_ID})\.({_ID})(?=[.:)—→ \t-]|$)"),
}
"""The patterns of the identifiers in a line of code that would be a header, by its marks."""

SHOWS_MARKDOWN = frozenset({"markdown", "md", "rundown"})

LONG_FENCE = 4
"""A fence of this length or more was chosen to hold other fences."""

Ids = tuple[str, str]
"""The identifiers of a step and its substep as written; the second is empty for the step itself."""


class Outline(Struct, frozen=True):
    """The steps that a document defines, and the steps that its transitions name."""

    defined: frozenset[Ids]
    wanted: frozenset[Ids]


class Position(Struct, frozen=True):
    """The place of a block: its step, and the last step and substep numbers above it."""

    step: str = ""
    number: str = "0"
    child: str = "0"

    def after(self, header: Block) -> Position:
        """Return the position below a header."""
        if not isinstance(header.parsed, Header):
            return self
        step, child = _ids(header.parsed.step, header.parsed.child)
        if child:
            return replace(self, child=child if child.isdigit() else self.child)
        return Position(step, step if step.isdigit() else self.number)


def swallowed_lines(source: Source, blocks: Sequence[Block]) -> Iterator[Diagnostic]:
    """Warn about each closed code block that probably includes lines of the runbook."""
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
    """Return whether a code block can contain such a line."""
    return block.closed and ("##" in block.text or block.mark in block.text)


def _outline(blocks: Sequence[Block]) -> Outline:
    read = [block.parsed for block in blocks]
    goals = (item.action.target for item in read if isinstance(item, Transition) and isinstance(item.action, Goto))
    return Outline(
        frozenset(_ids(item.step, item.child) for item in read if isinstance(item, Header)),
        frozenset(_ids(target.step, target.child) for target in goals if target.step is not None),
    )


def _ids(step: Identifier, child: Identifier | None) -> Ids:
    return spell(step), "" if child is None else spell(child)


def _fits(block: Block, line: re.Match[str], outline: Outline, position: Position) -> bool:
    """Return whether a line was probably not meant to be part of its code block."""
    if line["fence"]:
        opens = line["fence"][0] == "~" or "`" not in line["info"]
        return opens and line["fence"].startswith(block.mark)
    if len(block.mark) >= LONG_FENCE or block.info.split(" ")[0].lower() in SHOWS_MARKDOWN:
        return False
    header = HEADER[line["marks"]].match(line["header"])
    if header is None:
        return False
    step, child = header.groups()
    return _is_missing((step.lstrip("0") or step, child.lstrip("0") or child), outline, position)


def _is_missing(ids: Ids, outline: Outline, position: Position) -> bool:
    """Return whether the runbook lacks this step although it is next in sequence or the target of a GOTO."""
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
    what = "would open another code block" if match["fence"] else "looks like a header of this runbook"
    problem = f"line {line}, which {what}, is inside this code block; its closing fence is probably missing"
    length = max(len(block.mark), len(match["fence"] or ""), LONG_FENCE - 1) + 1
    remedy = (
        f"close the block above line {line} with {block.mark} on a separate line; if the line belongs to the block, "
        f"open and close the block with {block.mark[0] * length}"
    )
    related = Related(source.path, source.line_span(line), "this line is part of the code block")
    return Diagnostic("RD049", source.path, block.span, problem, remedy, (related,))
