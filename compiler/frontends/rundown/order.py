"""What to say about a block that stands where the grammar has no place for it (V6, V7)."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostic import Diagnostic, Related
from compiler.frontends.rundown.blocks import Block
from compiler.frontends.rundown.options import Layout
from compiler.source import Source

NAMES = {
    "TEXT": "text",
    "CODE": "a code block",
    "RUNBOOK": "a runbook list",
    "TRANSITION": "a transition",
}
ORDER = {"after-body": "prompt, body, transitions", "after-header": "transitions, prompt, body"}


def unexpected_block(source: Source, step: Sequence[Block], block: Block, layout: Layout) -> Diagnostic:
    """The diagnostic for a refused block; `step` is what stands before it, from the step's header on."""
    kinds = {earlier.type for earlier in step}
    if block.type == "SUBSTEP":
        problem = "a substep before the first step"
        return Diagnostic("RD031", source.path, block.span, problem, "put a step header (`## 1. Title`) above it")
    if block.type == "CODE" and "CODE" in kinds:
        remedy = "join the commands in one block, or split the step into two"
        return _second_body(source, step, block, "RD110", "a second code block in one step", remedy)
    if {block.type, *kinds} >= {"CODE", "RUNBOOK"} and block.type in {"CODE", "RUNBOOK"}:
        remedy = "give the code and the runbooks a step each"
        return _second_body(source, step, block, "RD109", "a step has code or a runbook list, not both", remedy)
    return _misplaced(source, step, block, layout)


def _second_body(
    source: Source, step: Sequence[Block], block: Block, code: str, problem: str, remedy: str
) -> Diagnostic:
    first = next(earlier for earlier in step if earlier.type in {"CODE", "RUNBOOK"})
    related = Related(source.path, first.span, "the first body stands here")
    return Diagnostic(code, source.path, block.span, problem, remedy, (related,))


def _misplaced(source: Source, step: Sequence[Block], block: Block, layout: Layout) -> Diagnostic:
    if layout == "after-body" and [earlier.type for earlier in step[1:2]] == ["TRANSITION"]:
        problem = f"{NAMES[block.type]} after transitions that stand straight after the header"
        remedy = (
            "move the transitions to the end of the step (`rdc fmt` does that), or choose the other order with the "
            "option `transitions: after-header`"
        )
        related = Related(source.path, step[1].span, "the transitions stand here")
        return Diagnostic("RD113", source.path, block.span, problem, remedy, (related,))
    problem = f"{NAMES[block.type]} cannot stand after {NAMES.get(step[-1].type, 'this')}"
    remedy = f"the order in a step is: {ORDER[layout]}; `rdc fmt` puts it in order"
    return Diagnostic("RD112", source.path, block.span, problem, remedy)
