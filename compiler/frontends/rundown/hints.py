"""Warn about text that was probably meant as a header, a transition or a nested runbook."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, Fix
from compiler.frontends.rundown.blocks import Block
from compiler.regex import Regex
from compiler.source import Source, Span

# Lines can be long: possessive `*+` and `++` avoid backtracking.
ACTION = r"[*_`]*+(?:CONTINUE|COMPLETE|STOP|GOTO|RETRY)\b"
BULLET = r"(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?"
TRANSITIONS = {
    "list": Regex(
        rf"\s*{BULLET}[*_`]*+"
        rf"(?P<found>(?:PASS|FAIL|YES|NO)[*_`]*+(?:\s++\w++)?[*_`]*+\s*+(?:[:：–—→-]|->|=>)?\s*+{ACTION})"
        rf"|\s*{BULLET}(?P<lower>(?i:pass|fail|yes|no)(?:\s+\w+)?\s*:\s*(?i:{ACTION}))"
    ),
    "paragraph": Regex(rf"\s*(?P<found>(?:PASS|FAIL|YES|NO)(?:\s+(?:ALL|ANY))?\s*:\s*{ACTION})"),
}
"""Lines that look like a transition but are not: lowercase, without a colon or bullet, or nested."""

HEADER = Regex(r" {0,3}(?P<found>#{2,3}(?:\u00a0|(?=[\d{]))\S*)")
"""Matches a header without the space after its marks, which Markdown reads as text."""

RUNBOOK = Regex(rf"\s*{BULLET}(?P<found>(?:\[[^\]]*\]\(|`)?\S[^`()]*\.runbook\.md[`)]?)\s*$")
"""Matches a list item like a runbook path, but with spaces, marks or a number."""

DOCUMENT = Regex(rf"\s*{BULLET}(?P<found>[^\s`()\[\]]++(?<!\.runbook\.md)(?<=\.md))\s*$")
"""Matches a list item that is only the path of another Markdown file."""

_PARTS = Regex(
    r"[*_`]*(?P<outcome>pass|fail|yes|no)[*_`]*(?:\s+(?P<modifier>all|any))?[*_`]*\s*(?:[:：–—→-]|->|=>)?\s*"
    r"[*_`]*(?P<action>continue|complete|stop|goto|retry)",
    re.IGNORECASE,
)
_PATH = Regex(r"[^\s`()\[\]]+\.runbook\.md")


def almost_there(source: Source, blocks: Iterable[Block]) -> Iterator[Diagnostic]:
    """Yield the warnings for the text of a document's steps (G2, D6)."""
    in_step = False
    for block in blocks:
        in_step = in_step or block.type == "STEP"
        if block.type != "TEXT" or not block.info:
            continue
        for number in range(block.line, block.end_line + 1):
            line = source.lines[number - 1]
            if "##" in line:
                yield from _header(source, number)
            if in_step:
                if match := TRANSITIONS[block.info].match(line):
                    yield _transition(source, number, match)
                if block.info == "list" and ".runbook.md" in line:
                    yield from _runbook(source, number)


def unlike_runbooks(source: Source, blocks: Iterable[Block]) -> Iterator[Diagnostic]:
    """Warn about items among nested runbooks that are the paths of other Markdown files."""
    for _, items in groupby(blocks, lambda block: block.type == "RUNBOOK" or block.info == "list"):
        run = list(items)
        for block in run if any(item.type == "RUNBOOK" for item in run) else ():
            if block.type == "TEXT" and (match := DOCUMENT.match(source.lines[block.line - 1])):
                problem = f"`{match['found']}` is among nested runbooks, but it is text: nothing runs it"
                remedy = f"to run it, rename the file and write `- {match['found'][:-3]}.runbook.md`"
                yield _warning("RD044", source, block.line, match, problem, remedy)


def _header(source: Source, line: int) -> Iterator[Diagnostic]:
    match = HEADER.match(source.lines[line - 1])
    if match:
        problem = "this line looks like a header but is text, because there is no space after the `#`"
        begin = match.start("found") + len(match["found"]) - len(match["found"].lstrip("#"))
        is_space = source.lines[line - 1][begin : begin + 1] == "\u00a0"
        fix = Fix.by(Span(line, begin + 1, line, begin + 1 + is_space), " ")
        found = _warning("RD038", source, line, match, problem, "write a header as `## 1. Title`, with a plain space")
        yield replace(found, fix=fix)


def _transition(source: Source, line: int, match: re.Match[str]) -> Diagnostic:
    problem = f"`{match[match.lastgroup or 0]}` looks like a transition but is part of the prompt"
    remedy = "write a transition as an unnested list item, in capitals and with a colon: `- PASS: CONTINUE`"
    found = _warning("RD043", source, line, match, problem, remedy)
    parts = _PARTS.match(match[match.lastgroup or 0])
    if parts is None or found.span is None:
        return found
    modifier = f" {parts['modifier'].upper()}" if parts["modifier"] else ""
    bullet = "" if re.match(rf"\s*{BULLET}", source.lines[line - 1]) else "- "
    meant = f"{bullet}{parts['outcome'].upper()}{modifier}: {parts['action'].upper()}"
    return replace(found, fix=Fix.by(found.span, meant))


def _runbook(source: Source, line: int) -> Iterator[Diagnostic]:
    match = RUNBOOK.match(source.lines[line - 1])
    if match:
        problem = f"`{match['found']}` looks like a nested runbook but is part of the prompt"
        remedy = "to include the runbook, write only its path, without spaces: `- path/name.runbook.md`"
        found = _warning("RD044", source, line, match, problem, remedy)
        path = _PATH.search(match["found"])
        yield replace(found, fix=Fix.by(found.span, path[0])) if path and found.span else found


def _warning(code: str, source: Source, line: int, match: re.Match[str], problem: str, remedy: str) -> Diagnostic:
    group = match.lastgroup or 0
    return Diagnostic(
        code, source.path, Span(line, match.start(group) + 1, line, match.end(group) + 1), problem, remedy
    )
