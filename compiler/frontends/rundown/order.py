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


def unexpected_block(source: Source, unit: Sequence[Block], block: Block, layout: Layout) -> Diagnostic:
    """The diagnostic for a refused block; `unit` is what stands before it, from the unit's header on."""
    kinds = {earlier.type for earlier in unit}
    if block.type == "SUBSTEP":
        problem = "a substep before the first step"
        return Diagnostic("RD031", source.path, block.span, problem, "put a step header (`## 1. Title`) above it")
    if block.type == "CODE" and "CODE" in kinds:
        remedy = "join the commands in one block, or split the unit into two"
        return _second_body(source, unit, block, "RD110", "a second code block in one unit", remedy)
    if {block.type, *kinds} >= {"CODE", "RUNBOOK"} and block.type in {"CODE", "RUNBOOK"}:
        remedy = "give the code and the runbooks a unit each"
        return _second_body(source, unit, block, "RD109", "a unit has code or a runbook list, not both", remedy)
    return _misplaced(source, unit, block, layout)


def _second_body(
    source: Source, unit: Sequence[Block], block: Block, code: str, problem: str, remedy: str
) -> Diagnostic:
    first = next(earlier for earlier in unit if earlier.type in {"CODE", "RUNBOOK"})
    related = Related(source.path, first.span, "the first body stands here")
    return Diagnostic(code, source.path, block.span, problem, remedy, (related,))


def _misplaced(source: Source, unit: Sequence[Block], block: Block, layout: Layout) -> Diagnostic:
    if layout == "after-body" and [earlier.type for earlier in unit[1:2]] == ["TRANSITION"]:
        problem = f"{NAMES[block.type]} after transitions that stand straight after the header"
        remedy = (
            "move the transitions to the end of the unit (`rdc fmt` does that), or choose the other order with the "
            "option `transitions: after-header`"
        )
        related = Related(source.path, unit[1].span, "the transitions stand here")
        return Diagnostic("RD113", source.path, block.span, problem, remedy, (related,))
    problem = f"{NAMES[block.type]} cannot stand after {NAMES.get(unit[-1].type, 'this')}"
    remedy = f"the order in a unit is: {ORDER[layout]}; `rdc fmt` puts it in order"
    return Diagnostic("RD112", source.path, block.span, problem, remedy)
