"""Report shell blocks inside a text, where nothing runs them (D2, M2).

A block in a list, quote, admonition or HTML block is never a step's body, although Markdown shows it like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.blocks import Block
from compiler.frontends.rundown.syntax import EXECUTABLE
from compiler.regex import Regex
from compiler.source import Source, Span

_FENCE = Regex(
    r"[ \t]*+(?:(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))[ \t]*+)*+"
    r"(?P<mark>`{3,}+(?=[^`]*+$)|~{3,}+)[ \t]*+(?P<info>.*)"
)
"""Matches a line with a fence after any bullets and quote marks."""

_SHELL = Regex(r"\{?[ \t]*\.?(bash|sh|shell)(?![\w-])(?!.*prompt)", re.IGNORECASE)
"""Matches the info string of a block with commands."""

_TAB = Regex(r'[ \t]*(?:!!!|\?\?\?\+?|===[!+]?)[ \t]+["\w]')
"""Matches the line above the indented content of an admonition or tab."""

_OF_RUNBOOK = Regex(r"\s*(?:(?:\$ )?rdc?[ \t].*|#.*)?")
"""Matches a line that runs the runbook itself."""

Shown = tuple[Span, str]
"""The place and the tag of a block that nothing runs."""


def blocks_not_run(source: Source, blocks: Iterable[Block]) -> Iterator[Diagnostic]:
    """Report shell blocks in text and above the first step: errors in steps with a body, otherwise warnings."""
    header, tab, has_body = "", None, False
    found: list[Shown] = []
    for block in (*blocks, Block("STEP", 0, 0, 0)):
        if block.type in {"STEP", "SUBSTEP"}:
            has_body = has_body or (header, block.type) == ("STEP", "SUBSTEP")
            yield from (_not_run(source, one, has_body=has_body, is_above=not header) for one in found)
            header, found, has_body = block.type, [], False
        elif block.type == "TEXT":
            is_indented = not block.info and source.lines[block.line - 1].expandtabs(4).startswith("    ")
            if not is_indented:
                found += _shells(source, block)
                lines = source.lines[block.line - 1 : block.end_line] if block.info == "paragraph" else ()
                tab = block.span if any(map(_TAB.match, lines)) else None
            elif tab:  # an ignore comment can't be in indented code
                found += [(tab, tag) for _, tag in _shells(source, block)]
        elif block.type in {"CODE", "RUNBOOK"} and header:
            has_body = True
        elif block.type == "CODE" and block.closed and block.info in EXECUTABLE:
            is_own = all(map(_OF_RUNBOOK.fullmatch, block.text.split("\n")))
            found += [] if is_own else [(block.span, block.info)]


def _shells(source: Source, block: Block) -> Iterator[Shown]:
    """Yield the shell blocks in a text, except within other blocks and comments."""
    end = ""  # the mark that ends the block or comment
    for number, line in enumerate(source.lines[block.line - 1 : block.end_line], block.line):
        fence = _FENCE.fullmatch(line) if "```" in line or "~~~" in line else None
        if end:
            closes = (
                end in line if end == "-->" else fence and fence["mark"].startswith(end) and not fence["info"].strip()
            )
            end = "" if closes else end
        elif fence:
            end = fence["mark"]
            if shell := _SHELL.match(fence["info"]):
                yield source.line_span(number), shell[1].lower()
        elif "<!--" in line and "-->" not in line:
            end = "-->"


def _not_run(source: Source, shown: Shown, *, has_body: bool, is_above: bool) -> Diagnostic:
    place, tag = shown
    if has_body:
        code, problem = "RD052", "this block is part of the prompt, beside the step's body: nothing runs it"
        remedy = "put it into another step, in the first column"
    elif is_above:
        code, problem = "RD051", "this block is above the first step: nothing runs it"
        remedy = "move it into a step"
    else:
        code, problem = "RD051", "this block is text: nothing runs it"
        remedy = "to run it as the step's command, put it in the first column, below the text and an empty line"
    return Diagnostic(code, source.path, place, problem, f"{remedy}; to only show it, write `{tag} prompt`")
