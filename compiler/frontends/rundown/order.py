"""Build the diagnostic for a block that cannot be in this place (V6, V7)."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostic import Diagnostic, Fix, Related
from compiler.frontends.rundown.blocks import Block
from compiler.frontends.rundown.layout import OFFER
from compiler.frontends.rundown.lines import LineError, parse_transition
from compiler.frontends.rundown.options import Layout
from compiler.frontends.rundown.questions import TASK, question_in
from compiler.frontends.rundown.syntax import EXECUTABLE
from compiler.regex import Regex
from compiler.source import Source, Span

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
"""The nearest form in the language that rdc reads, for each word of the later one (V7)."""

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
