"""Warn about code blocks that include lines of the runbook because their closing fence is missing.

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
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.model import Diagnostic, Related
from compiler.frontends.rundown.parse.blocks import Block
from compiler.frontends.rundown.parse.lines import Header
from compiler.frontends.rundown.syntax import EXECUTABLE, Goto, Identifier, Transition, spell
from compiler.text.regex import Regex
from compiler.text.source import Source, Span

CANDIDATE = Regex(
    r"^ {0,3}(?:(?P<marks>#{2,3})[ \t]++(?P<header>\S[^\n]*+)|(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^\s][^\n]*+))",
    re.MULTILINE,
)
"""Matches a line that would be a header or open a code block outside this block."""

_ID = r"[0-9]{1,9}|\{[Nn]\}|[A-Za-z_][A-Za-z0-9_]*+"
HEADER = {"##": Regex(rf"({_ID})(?=[.:)—→ \t-]|$)()"), "###": Regex(rf"({_ID})\.({_ID})(?=[.:)—→ \t-]|$)")}
"""The patterns of the identifiers in a line of code that would be a header, by its marks."""

SHOWS_MARKDOWN = frozenset({"markdown", "md", "rundown"})

LONG_FENCE = 4  # a fence of this length or more was chosen to hold other fences

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
    read = [block.parsed for block in blocks]
    goals = (item.action.target for item in read if isinstance(item, Transition) and isinstance(item.action, Goto))
    outline = Outline(
        frozenset(_ids(item.step, item.child) for item in read if isinstance(item, Header)),
        frozenset(_ids(target.step, target.child) for target in goals if target.step is not None),
    )
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
    return block.closed and ("##" in block.text or block.mark in block.text)


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
    identifier, dynamic, last = (child, "{n}", position.child) if child else (step, "{N}", position.number)
    return identifier in {dynamic, str(int(last) + 1)}


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


_FENCE = Regex(
    r"[ \t]*+(?>(?:(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))[ \t]*+)*)"
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
