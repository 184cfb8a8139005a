"""Parse a source into a syntax tree and diagnostics; one run finds every error."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from lark.exceptions import UnexpectedToken
from msgspec.structs import replace

from compiler.diagnostics.issues import OptionSource
from compiler.diagnostics.model import Diagnostic, Fix, Related, Severity, has_error
from compiler.frontends.rundown import PROSE, TRANSITIONS, Layout
from compiler.frontends.rundown.parse.blocks import Block, grammar
from compiler.frontends.rundown.parse.build import TreeBuilder
from compiler.frontends.rundown.parse.checklist import TASK
from compiler.frontends.rundown.parse.fences import blocks_not_run, swallowed_lines
from compiler.frontends.rundown.parse.lines import LineError, parse_transition
from compiler.frontends.rundown.parse.outline import (
    OFFER,
    Scanned,
    deciding_steps,
    layout_of,
    mixed_layouts,
    scan,
    sections_of,
    transitions_in_prose,
    unknown_sections,
)
from compiler.frontends.rundown.parse.suspects import (
    UNFIT_OUTCOME,
    almost_there,
    meant_transitions,
    misplaced_item,
    unlike_runbooks,
)
from compiler.frontends.rundown.syntax import EXECUTABLE, Runbook
from compiler.project.options import Options
from compiler.reading.grammar import Node, end, feed
from compiler.text.regex import Regex
from compiler.text.source import Source, Span

_START: dict[Layout, str] = {"after-body": "runbook", "after-header": "runbook_after_header"}


class Parsed(NamedTuple):
    """The tree, or None without steps, the diagnostics and options; `is_whole` without errors below the frontmatter."""

    runbook: Runbook | None
    diagnostics: list[Diagnostic]
    options: Options
    is_whole: bool = False


def parse(
    source: Source,
    layout: Layout | None = None,
    default: Layout | None = None,
    prose: Mapping[str, OptionSource] = MappingProxyType({}),
) -> Parsed:
    """Return a document's syntax tree with diagnostics; after errors, the tree has only the readable parts.

    `layout` overrides the frontmatter, and `default` applies if neither sets a layout. Without any of them, the
    document decides. `prose` are the headings of sections that are text, unless the document names its own.
    """
    scanned = scan(source, prose)
    return parse_scanned(scanned, layout or TRANSITIONS.first(scanned.frontmatter.options.values) or default)


def parse_scanned(scanned: Scanned, wanted: Layout | None) -> Parsed:
    """Return the syntax tree of a scanned document in a layout, or in the document's own, as `parse` does."""
    source, own = scanned.source, scanned.frontmatter.options
    deciding = deciding_steps(source, scanned.outline)
    layout = wanted or layout_of(deciding)
    tree, problems = _tree(source, scanned.outline, layout)
    if not wanted and (mixed := mixed_layouts(source, deciding)):
        problems = [mixed, *(item for item in problems if item.code != mixed.code)]
    unfit = {item.span.line for item in problems if item.code == UNFIT_OUTCOME and item.span}
    hints = (item for item in _hints(scanned) if item.code != "RD043" or not item.span or item.span.line not in unfit)
    found = list(dict.fromkeys([*scanned.diagnostics, *problems, *hints]))
    if tree is None:
        if not has_error(found):
            remedy = "add a step: `## 1. Title`"
            found.append(Diagnostic("RD101", source.path, source.line_span(1), "the document has no steps", remedy))
        return Parsed(None, found, own)
    builder = TreeBuilder(source, layout)
    prose = () if scanned.blocks is scanned.written else sections_of(scanned.blocks)
    runbook = replace(builder.runbook(tree, scanned.frontmatter), prose=prose)
    found += builder.diagnostics
    errors = (item for item in found if item.severity is Severity.ERROR)
    is_whole = all(item.span is not None and item.span.line < scanned.frontmatter.next_line for item in errors)
    return Parsed(runbook, found, own, is_whole)


def _hints(scanned: Scanned) -> Iterator[Diagnostic]:
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
    yield from unknown_sections(source, written, PROSE.first(scanned.frontmatter.options.values) or {})


def _tree(source: Source, blocks: Iterable[Block], layout: Layout) -> tuple[Node | None, list[Diagnostic]]:
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


NAMES = {
    "TEXT": "text",
    "REMARK": "text",
    "CODE": "a code block",
    "RUNBOOK": "a runbook list",
    "TRANSITION": "a transition",
}
LATER_LINE = "RD058"
_OUTCOME = Regex(r"(?:PASS|FAIL|YES|NO)(?:[ \t]+(?:ALL|ANY))?(?=[ \t])")
_AFTER_LOOP = "to leave a loop, write a transition to the step after it, such as `- PASS: GOTO 3`"
_YIELDED = "remove the line: without a transition, the outcome of a substep counts in its step"
NEAREST = {
    "FOR": "write a dynamic substep `### 1.{n} Title` with `- PASS: GOTO NEXT`, or a loop in a `bash` block",
    "DELEGATE": "name the runbook as an item (`- name.runbook.md`), or write the work as the step's text",
    "INPUTS": "declare the inputs in the frontmatter: `rdc: {inputs: {NAME: {description: …}}}`",
    "OUTPUTS": "declare the outputs in the frontmatter: `rdc: {outputs: [NAME]}`",
    "ARTIFACTS": "name the files in the step's text, or declare outputs in the frontmatter: `rdc: {outputs: [NAME]}`",
    "DEFER": _YIELDED,
    "BREAK": _AFTER_LOOP,
}
"""The nearest form in the language that rdc reads, for each word of the later one."""

ORDER = {"after-body": "prompt, body, transitions", "after-header": "transitions, prompt, body"}


def unexpected_block(source: Source, step: Sequence[Block], block: Block, layout: Layout) -> Diagnostic:
    """Return the diagnostic for a rejected block; `step` is the step's header and the blocks before this one."""
    kinds = {earlier.type for earlier in step}
    if block.type == "LATER":
        return later_line(source, block)
    if block.type == "SUBSTEP":
        problem = "this substep comes before the first step"
        return Diagnostic("RD031", source.path, block.span, problem, "add a step header (`## 1. Title`) above it")
    if block.type == "CODE" and "CODE" in kinds:
        remedy = "join the commands into one block, or split the step"
        return _second_body(source, step, block, "RD110", "second code block in this step", remedy)
    if {block.type, *kinds} >= {"CODE", "RUNBOOK"} and block.type in {"CODE", "RUNBOOK"}:
        remedy = "use separate steps for the code and the runbooks"
        return _second_body(source, step, block, "RD109", "this step has both a code block and a runbook list", remedy)
    return _misplaced(source, step, block, layout)


def later_line(source: Source, block: Block) -> Diagnostic:
    """Return the error for an item of the later language, with the nearest form that rdc reads."""
    words = block.text.split()
    problem = f"`- {block.text}` belongs to a later version of Rundown; rdc reads version 1.0.0"
    outcome = _OUTCOME.match(block.text)
    if outcome is None:
        return Diagnostic(LATER_LINE, source.path, block.span, problem, NEAREST[words[0]])
    meant = f"{outcome[0]}:{block.text[outcome.end() :]}"
    if isinstance(parse_transition(meant), LineError):
        remedy = NEAREST.get(words[-1], f"write a colon after `{outcome[0]}`, and an action such as `GOTO 3` or `STOP`")
        return Diagnostic(LATER_LINE, source.path, block.span, problem, remedy)
    column = block.column + outcome.end()
    fix = Fix.by(Span(block.line, column, block.line, column), ":", is_safe=True)
    return Diagnostic(LATER_LINE, source.path, block.span, problem, f"write `- {meant}`, with a colon", fix=fix)


def _second_body(
    source: Source, step: Sequence[Block], block: Block, code: str, problem: str, remedy: str
) -> Diagnostic:
    first = next(earlier for earlier in step if earlier.type in {"CODE", "RUNBOOK"})
    related = Related(source.path, first.span, "the first one is here")
    return Diagnostic(code, source.path, block.span, problem, remedy, (related,))


def _misplaced(source: Source, step: Sequence[Block], block: Block, layout: Layout) -> Diagnostic:
    if layout == "after-body" and [earlier.type for earlier in step[1:2]] == ["TRANSITION"]:
        problem = f"{NAMES[block.type]} after transitions that come directly after the header"
        remedy = f"move the transitions to the end of the step{OFFER}"
        related = Related(source.path, step[1].span, "the transitions are here")
        return Diagnostic("RD113", source.path, block.span, problem, remedy, (related,))
    last = next((earlier for earlier in reversed(step) if earlier.type != "REMARK"), block)
    problem = f"{NAMES[block.type]} cannot come after {NAMES.get(last.type, 'this')}"
    text = source.lines[block.line - 1 : block.end_line] if block.type == "TEXT" else ()
    runs = last.type == "CODE" and last.info.strip() in EXECUTABLE
    if runs and (question_in("\n".join(text))[0] or any(map(TASK.match, text))):
        remedy = "a run asks no one beside a command: put the question below its own header"
        return Diagnostic("RD112", source.path, block.span, problem, remedy)
    remedy = f"use the order {ORDER[layout]}{OFFER}"
    return Diagnostic("RD112", source.path, block.span, problem, remedy)


_QUESTION = Regex(
    r"(?:\A|\n|[.!?:][*_)\"']*\s)\s*(?:(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?)?"
    r"(?P<asked>(?>(?:[^.!?:\n]|[.:](?=\w)|\n(?!\s*(?:[-*+]|\d+[.)])\s))*)\?)[*_)\"']*\Z"
)
"""Matches a question at the end of a paragraph."""

_CHOICES = Regex(r"[\[(](?:y|yes) ?/ ?(?:n|no)[\])][*_]*\Z", re.IGNORECASE)
"""Matches the answers after a question: `Proceed with it? [y/N]`."""

_MANY, _MOST = 4, 12
"""From how many empty steps on there is one warning for all, and how many it names; also the most splits at once."""

_LONGEST = 2000  # the longest end of a prompt that is searched for a question


def question_in(prompt: str) -> tuple[str, str]:
    """Return a prompt's last sentence if it is a question, and the text before it."""
    text = prompt.rstrip()
    if choices := _CHOICES.search(text[-20:]):
        text = text[: len(text) - len(choices[0])].rstrip()
    last = text[text.rfind("\n\n") + 1 :][-_LONGEST:]
    match = _QUESTION.search(last) if text.rstrip("*_)\"'").endswith("?") else None
    asked = " ".join(match["asked"].split()).lstrip("*_ ") if match else ""
    if not match or last.lstrip()[:1] in "<>|#" or "://" in asked.split()[-1]:
        return "", prompt.rstrip()
    return asked, text[: len(text) - len(last) + match.start("asked")].rstrip("*_-+ \t\n")


def empty_steps(source: Source, blocks: Iterable[Block]) -> Iterator[Diagnostic]:
    """Warn about steps with only a header and transitions, unless they are a question; one warning for many of them.

    This reads the blocks instead of the tree, because the tree lacks misplaced blocks.
    """
    found = list(_empty(blocks))
    for header in found if len(found) < _MANY else found[:1]:
        problem = "this step has neither text nor a command, so the run only asks a person about its title"
        remedy = "add a command or instructions; if the title is the question, end it with `?`"
        if len(found) >= _MANY:
            problem = (
                f"{len(found)} steps have neither text nor a command, so the run only asks a person about their titles"
            )
            lines = ", ".join(str(each.line) for each in found[1:_MOST])
            more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
            remedy = f"{remedy}; the others are at lines {lines}{more}"
        yield Diagnostic("RD118", source.path, header.span, problem, remedy)


def _empty(blocks: Iterable[Block]) -> Iterator[Block]:
    header: Block | None = None
    for block in (*blocks, Block("STEP", 0, 0, 0)):
        if block.type == "PROSE" or (block.type == "TRANSITION" and not block.text.startswith(("YES", "NO"))):
            continue
        is_header = block.type in {"STEP", "SUBSTEP"}
        if header and is_header and (header.type, block.type) != ("STEP", "SUBSTEP") and "?" not in header.text:
            yield header
        header = block if is_header else None
