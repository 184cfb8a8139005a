"""Warn about outputs read too early or never (E2), inputs never read (E1), and slow patterns (I8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compiler.analyses.values import read_too_early, unread_inputs, value_flow
from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.names import Frame
from compiler.ir.patterns import SEPARATE, overlap, overlapping
from compiler.ir.program import Program
from compiler.ir.tasks import End, Shell


def value_warnings(program: Program, frames: Sequence[Frame]) -> Iterator[Diagnostic]:
    """Yield the warnings for a program, once for each runbook even if it is included several times."""
    yield from _unread_inputs(program, frames)
    yield from _overlapping(frames)
    places = {slot: (name, frame) for frame in frames for name, slot in _outputs(frame)}
    if not places:
        return
    flow = value_flow(program)
    paths = {frame.document.source.name: frame.document.source.path for frame in frames}
    found: dict[Diagnostic, None] = {}
    for node, slot in read_too_early(program, flow):
        name, _ = places[slot]
        reader = "this message" if isinstance(node.task, End) else f"step {node.id}"
        problem = f"{reader} reads the output `{name}`, but no earlier step can have written it"
        remedy = f'write it in an earlier step: `echo "{name}=…" >> "$RDC_OUTPUT"`'
        found[Diagnostic("RD408", paths[node.origin.path], node.origin.span, problem, remedy)] = None
    unread = {slot for slot in places if slot not in flow.used}
    for slot in unread:
        name, frame = places[slot]
        place = frame.document.runbook.declared.outputs[name]
        problem = f"no step reads the output `{name}`"
        remedy = f"use it as `${name}` in a command or `{{{{{name}}}}}` in text, or remove it"
        found[Diagnostic("RD409", place.path, place.span, problem, remedy)] = None
    yield from found


def _overlapping(frames: Sequence[Frame]) -> Iterator[Diagnostic]:
    """Warn about input patterns that can be slow to match."""
    for item in dict.fromkeys(item for frame in frames for item in frame.document.runbook.declared.inputs):
        if character := overlap(item.input.pattern or ""):
            problem = f"the pattern of the input `{item.input.name}` {overlapping(character)}"
            yield Diagnostic("RD136", item.place.path, item.place.span, problem, SEPARATE)


def _unread_inputs(program: Program, frames: Sequence[Frame]) -> Iterator[Diagnostic]:
    """Warn about inputs that are never shown, in programs that run no command; any command may read any input."""
    if any(isinstance(node.task, Shell) for node in program.nodes):
        return
    for name in unread_inputs(program):
        declared = (item for frame in frames for item in frame.document.runbook.declared.inputs)
        place = next(item.place for item in declared if item.input.name == name)
        remedy = f"show it as `{{{{{name}}}}}` in text, or remove it"
        yield Diagnostic("RD410", place.path, place.span, f"no step shows the input `{name}`", remedy)


def _outputs(frame: Frame) -> Iterator[tuple[str, str]]:
    """Yield the outputs that belong to one inclusion, with their slots."""
    own = {slot.name for slot in frame.visible.added}
    for name in frame.visible.outputs:
        if frame.visible.slots[name] in own:
            yield name, frame.visible.slots[name]
