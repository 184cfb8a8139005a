"""Put the parts of a step (V7) and the step's own transitions (V8) in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from compiler.frontends.rundown.formatting.pieces import Piece, Section
from compiler.frontends.rundown.layout import BODIES
from compiler.frontends.rundown.options import Layout
from compiler.frontends.rundown.syntax import Transition
from compiler.regex import Regex

ORDER: dict[Layout, tuple[str, ...]] = {
    "after-body": ("TEXT", "CODE", "RUNBOOK", "TRANSITION", "REMARK", "LATER"),
    "after-header": ("TRANSITION", "TEXT", "CODE", "RUNBOOK", "REMARK", "LATER"),
}

MODIFIED = Regex(r"(PASS|FAIL|YES|NO)[ \t]+(ALL|ANY)")


def arrange(sections: Sequence[Section], written: Layout | None, wanted: Layout) -> list[Section]:
    """Return the sections with the parts of each step in order.

    Args:
        sections: All sections of a document.
        written: The document's layout, or None if it mixes both layouts.
        wanted: The layout of the result.
    """
    head, *steps = sections
    return [head, *(_ordered(step, wanted) for step in _settled(steps, written, wanted))]


def _settled(steps: Sequence[Section], written: Layout | None, wanted: Layout) -> list[Section]:
    """Move transitions from below the last substep to their place in the step (V8).

    The layout `after-header` has no such place. There a modifier has no meaning and is removed.
    """
    settled = list(steps)
    for index, node in enumerate(steps):
        following = steps[index + 1].level if index + 1 < len(steps) else "STEP"
        if node.level != "SUBSTEP" or following != "STEP" or any(piece.kind == "RUNBOOK" for piece in node.pieces):
            continue
        late = list(_late(node, written, wanted))
        step = next((number for number in reversed(range(index)) if steps[number].level == "STEP"), index)
        kept = [piece for piece in node.pieces if piece not in late]
        if (written, wanted) == ("after-header", "after-body"):
            kept = [_without_modifier(piece) for piece in kept]
        settled[index] = replace(node, pieces=tuple(kept))
        settled[step] = _with_late(settled[step], late)
    return settled


def _with_late(step: Section, late: Sequence[Piece]) -> Section:
    """Add transitions to the end of a step, above a comment or prose section that ends it."""
    end = len(step.pieces)
    while end and step.pieces[end - 1].kind == "REST":
        end -= 1
    return replace(step, pieces=(*step.pieces[:end], *late, *step.pieces[end:]))


def _late(step: Section, written: Layout | None, wanted: Layout) -> Iterable[Piece]:
    """Return the transitions of a last substep that belong to its step: in the default layout, those with ALL or ANY.

    If a document mixes both layouts, the lines below a body are in the default layout.
    """
    if written == "after-header":
        return []
    begin = 0
    if written is None and wanted == "after-header":
        bodies = (number for number, piece in enumerate(step.pieces) if piece.kind in {"TEXT", "CODE"})
        begin = next(bodies, len(step.pieces))
    return [piece for piece in step.pieces[begin:] if piece.kind == "TRANSITION" and _has_modifier(piece)]


def _has_modifier(piece: Piece) -> bool:
    return bool(piece.block and MODIFIED.match(piece.block.text))


def _without_modifier(piece: Piece) -> Piece:
    if piece.kind != "TRANSITION" or piece.block is None or not isinstance(piece.block.parsed, Transition):
        return piece
    text = MODIFIED.sub(r"\1", piece.block.text, count=1)
    return replace(piece, block=replace(piece.block, text=text, parsed=replace(piece.block.parsed, modifier=None)))


def _ordered(step: Section, layout: Layout) -> Section:
    """Return the step with its parts in order; a comment stays with the part below it, and text below a body there."""
    groups: list[tuple[str, list[Piece]]] = []
    lead: list[Piece] = []
    for piece in step.pieces:
        lead.append(piece)
        if piece.kind == "REMARK" and groups and groups[-1][0] in BODIES:
            groups[-1][1].extend(lead)
            lead = []
        elif piece.kind != "REST":
            groups.append((piece.kind, lead))
            lead = []
    groups.sort(key=lambda group: ORDER[layout].index(group[0]))
    return replace(step, pieces=(*(piece for _, group in groups for piece in group), *lead))
