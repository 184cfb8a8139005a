"""Build the diagnostic for a block that cannot be in this place (V6, V7)."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostic import Diagnostic, Related
from compiler.frontends.rundown.blocks import Block
from compiler.frontends.rundown.options import Layout
from compiler.frontends.rundown.questions import TASK, question_in
from compiler.source import Source

NAMES = {
    "TEXT": "text",
    "CODE": "a code block",
    "RUNBOOK": "a runbook list",
    "TRANSITION": "a transition",
}
ORDER = {"after-body": "prompt, body, transitions", "after-header": "transitions, prompt, body"}


def unexpected_block(source: Source, step: Sequence[Block], block: Block, layout: Layout) -> Diagnostic:
    """Return the diagnostic for a rejected block; `step` is the step's header and the blocks before this one."""
    kinds = {earlier.type for earlier in step}
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


def _second_body(
    source: Source, step: Sequence[Block], block: Block, code: str, problem: str, remedy: str
) -> Diagnostic:
    first = next(earlier for earlier in step if earlier.type in {"CODE", "RUNBOOK"})
    related = Related(source.path, first.span, "the first one is here")
    return Diagnostic(code, source.path, block.span, problem, remedy, (related,))


def _misplaced(source: Source, step: Sequence[Block], block: Block, layout: Layout) -> Diagnostic:
    if layout == "after-body" and [earlier.type for earlier in step[1:2]] == ["TRANSITION"]:
        problem = f"{NAMES[block.type]} after transitions that come directly after the header"
        remedy = (
            "move the transitions to the end of the step (`rdc fmt` does this for you), or set the option "
            "`transitions: after-header`"
        )
        related = Related(source.path, step[1].span, "the transitions are here")
        return Diagnostic("RD113", source.path, block.span, problem, remedy, (related,))
    problem = f"{NAMES[block.type]} cannot come after {NAMES.get(step[-1].type, 'this')}"
    text = source.lines[block.line - 1 : block.end_line] if block.type == "TEXT" else ()
    if step[-1].type == "CODE" and (question_in("\n".join(text))[0] or any(map(TASK.match, text))):
        remedy = "a run asks no one beside a command: put the question below its own header"
        return Diagnostic("RD112", source.path, block.span, problem, remedy)
    remedy = f"use the order {ORDER[layout]}; `rdc fmt` does this for you"
    return Diagnostic("RD112", source.path, block.span, problem, remedy)
