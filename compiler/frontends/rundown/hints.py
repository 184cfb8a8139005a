"""Warnings about text that was probably meant as a transition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.blocks import Block
from compiler.source import Source, Span

ALMOST = re.compile(
    r"\s*(?:[-*+]|\d+[.)])\s+"
    r"(?:(?P<colon>(?i:PASS|FAIL|YES|NO)(?:\s+\w+)?\s*:\s*(?i:CONTINUE|COMPLETE|STOP|GOTO|RETRY))"
    r"|(?P<words>(?:PASS|FAIL|YES|NO)(?:\s+(?:ALL|ANY))?\s+(?:CONTINUE|COMPLETE|STOP|GOTO|RETRY)))\b"
)
WITHOUT_BULLET = re.compile(
    r"\s*(?P<colon>(?:PASS|FAIL|YES|NO)(?:\s+(?:ALL|ANY))?\s*:\s*(?:CONTINUE|COMPLETE|STOP|GOTO|RETRY))\b"
)


def almost_transitions(source: Source, blocks: Iterable[Block]) -> Iterator[Diagnostic]:
    """Lines of a prompt that read like a transition but are none (G2): lower case, no colon, no bullet, nested."""
    in_unit = False
    for block in blocks:
        in_unit = in_unit or block.kind == "STEP"
        if not in_unit or block.kind != "TEXT" or not block.info:
            continue
        pattern = ALMOST if block.info == "list" else WITHOUT_BULLET
        for number in range(block.line, block.end_line + 1):
            match = pattern.match(source.lines[number - 1])
            if match:
                yield _warning(source, number, match)


def _warning(source: Source, line: int, match: re.Match[str]) -> Diagnostic:
    group = match.lastgroup or "colon"
    span = Span(line, match.start(group) + 1, line, match.end(group) + 1)
    problem = f"`{match[group]}` reads like a transition, but is text of the prompt"
    remedy = "a transition is an item of its own, not nested: `- PASS: CONTINUE`, in capitals, with a colon"
    return Diagnostic("RD043", source.path, span, problem, remedy)
