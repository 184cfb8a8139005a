"""Report list items that were meant as transitions, because as text they would hide a path of the run."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.model import Diagnostic, Fix
from compiler.frontends.rundown.parse.blocks import Block
from compiler.frontends.rundown.parse.lines import parse_transition
from compiler.frontends.rundown.syntax import Transition
from compiler.text.regex import Regex
from compiler.text.source import Source, Span
from compiler.text.suggestions import nearest_name

UNFIT_OUTCOME = "RD120"
_FAILS = "fail fails failed failing failure failures error errors err else otherwise false catch exception rollback"
_PASSES = "pass passes passed passing success successful succeed succeeds succeeded ok okay true done then"
OUTCOMES: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(_FAILS.split(), "FAIL")
    | dict.fromkeys(_PASSES.split(), "PASS")
    | {"yes": "YES", "y": "YES", "no": "NO", "n": "NO"}
)
"""Words that authors use for an outcome, in lowercase, with the outcome."""

_ACTIONS = Regex(r"[*_`]*(?i:CONTINUE|COMPLETE|STOP|GOTO|GO TO|RETRY|NEXT)\b")
# An item is one line: marks of emphasis and a number or bullet come before its words.
_ITEM = Regex(
    r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]{1,4}+(?:\[[ xX]\][ \t]{1,4}+)?"
    r"(?P<found>[*_`]{0,3}+(?P<word>[A-Za-z]\w{0,19}+(?>(?:[ \t]\w{1,20}+){0,2}))[*_`]{0,3}+)"
    r"[ \t]?[:：][*_`]{0,3}+(?P<rest>.*)"
)
_LEADS_ON = Regex(
    r"(?:(?:[:：=>→–—]|\s-)\s*|\b(?:PASS|FAIL|YES|NO)[*_`]*\s+)[*_`]*(?:CONTINUE|COMPLETE|STOP|GOTO|RETRY)\b"
)
"""Matches an action in capitals after a mark or an outcome, which never belongs in a prompt."""
_HEADER = Regex(r" {0,3}(?:#{2,3}|\*\*|__)(?P<header>\d{1,9}[.)]\s.*?)\s*(?:\*\*|__)?\s*$")
"""Matches a number and title in bold, or without a space after the heading's marks."""
_NUMBER = Regex(r" {0,3}\d{1,9}[.)][ \t]")


class _Item(Struct, frozen=True):
    """A list item of the form `word: rest`; `outcome` is the word's probable meaning, or "" if it has none."""

    span: Span
    word: str
    outcome: str
    rest: str

    @property
    def is_transition(self) -> bool:
        """Whether it looks like a transition: an action follows the colon."""
        if self.outcome:
            return _ACTIONS.match(self.rest) is not None
        return isinstance(parse_transition(f"PASS: {self.rest}"), Transition)


def meant_transitions(source: Source, blocks: Iterable[Block]) -> Iterator[Diagnostic]:
    """Yield an error for each item of a step's text with an action after a colon."""
    in_step = False
    for block in blocks:
        in_step = in_step or block.type == "STEP"
        if in_step and block.type == "TEXT" and block.info == "list":
            items = (item_in(source, line) for line in _lines(source, block))
            yield from (unfit_outcome(source, item) for item in items if item and item.is_transition)


def misplaced_item(source: Source, block: Block) -> Diagnostic | None:
    """Return the error for an item after a transition or body that has an outcome's name or an action."""
    if block.type != "TEXT":
        return None
    item = item_in(source, block.line) if block.info == "list" else None
    if item and (item.outcome or item.is_transition):
        return unfit_outcome(source, item)
    if match := _HEADER.match(source.lines[block.line - 1]):
        problem = "this line looks like a step header but is text, and text is not allowed here"
        remedy = f"write `## {match['header']}`, or move the text into the prompt"
        return Diagnostic(UNFIT_OUTCOME, source.path, source.line_span(block.line), problem, remedy)
    lines = range(block.line, block.end_line + 1)
    line = next((number for number in lines if _LEADS_ON.search(source.lines[number - 1])), None)
    if line is None:
        return None
    problem = "this line looks like a transition but is text, and text is not allowed here"
    remedy = "write it as a transition, such as `- FAIL: STOP`, or move the text into the prompt"
    return Diagnostic(UNFIT_OUTCOME, source.path, source.line_span(line), problem, remedy)


def _lines(source: Source, block: Block) -> Iterator[int]:
    """Yield the lines where items start: a numbered list is one block, a bullet item is a separate block."""
    yield block.line
    if _NUMBER.match(source.lines[block.line - 1]):
        yield from (line for line in range(block.line + 1, block.end_line + 1) if _NUMBER.match(source.lines[line - 1]))


def item_in(source: Source, line: int) -> _Item | None:
    """Return the item on a line if a word and a colon follow its bullet."""
    match = _ITEM.match(source.lines[line - 1])
    if match is None:
        return None
    span = Span(line, match.start("found") + 1, line, match.end("found") + 1)
    return _Item(span, match["word"], _outcome(match["word"]), match["rest"].strip())


def _outcome(written: str) -> str:
    """Return the outcome of a word or phrase, such as FAIL for `on failure`, `if it fails` and `FAILED`."""
    words = written.lower().split()
    if words[0] in {"on", "if", "when"}:
        return OUTCOMES.get(words[-1], "")
    return OUTCOMES.get(words[0], "") if len(words) < 3 else ""


def unfit_outcome(source: Source, item: _Item) -> Diagnostic:
    """Return the error for an item that was meant as a transition."""
    meant = item.outcome or nearest_name(item.word.upper(), ("PASS", "FAIL", "YES", "NO"))
    remedy = f"write `- {meant}: {item.rest}`, or reword the item if it is text"
    if item.word == item.outcome:  # it is in bold or in a numbered list
        problem = f"this item looks like a transition but is text, because of the marks or number before `{item.word}`"
    elif meant:
        problem = f"`{item.word}` is not an outcome; did you mean `{meant}`?"
    else:
        problem = f"`{item.word}` is not an outcome"
        remedy = "write PASS, FAIL, YES or NO before the colon, or reword the item if it is text"
    return Diagnostic(UNFIT_OUTCOME, source.path, item.span, problem, remedy, fix=_as_transition(source, item, meant))


def _as_transition(source: Source, item: _Item, meant: str) -> Fix | None:
    """Return the fix that writes an item as a transition, safe if only marks or case change."""
    line = source.lines[item.span.line - 1]
    span = Span(item.span.line, len(line) - len(line.lstrip()) + 1, item.span.line, len(line) + 1)
    is_safe = item.word.upper() == meant
    action = _ACTIONS.match(item.rest)
    rest = action[0].upper().replace("GO TO", "GOTO") + item.rest[action.end() :] if action else item.rest
    return Fix.by(span, f"- {meant}: {rest}", is_safe=is_safe) if meant else None


# Lines can be long: possessive `*+` and `++` avoid backtracking.
ACTION = r"[*_`]*+(?:CONTINUE|COMPLETE|STOP|GOTO|RETRY)\b"
BULLET = r"(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?"
TRANSITIONS = {
    "list": Regex(
        rf"\s*{BULLET}[*_`]*+(?P<found>(?:PASS|FAIL|YES|NO)[*_`]*+(?:\s++\w++)?[*_`]*+\s*+(?:[:：–—→-]|->"
        rf"|=>)?\s*+{ACTION})|\s*{BULLET}(?P<lower>(?i:pass|fail|yes|no)(?:\s+\w+)?\s*:\s*(?i:{ACTION}))"
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
    """Yield the warnings for the text of a document's steps (D6)."""
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
