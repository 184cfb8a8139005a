"""Advise about steps that no run reaches (V12), and warn about values that no step reads (E1, E2, I8)."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from compiler.analyses.values import read_too_early, unread_inputs, value_flow
from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.link import Document
from compiler.frontends.rundown.names import Frame
from compiler.frontends.rundown.numbering import heading_of, numbered_header, with_number
from compiler.frontends.rundown.prose import jump_targets, may_be_prose, prose_advice
from compiler.frontends.rundown.syntax import Goto, Step, all_steps
from compiler.ir.patterns import SEPARATE, overlap, overlapping
from compiler.ir.program import Program
from compiler.ir.tasks import End, Shell
from compiler.source import Span

Position = tuple[str, Span | None]

FIX_GOTO = "a GOTO names this step but never fires: fix that transition, or remove it and this step"


def advise_unreachable(found: Iterable[Diagnostic], documents: Collection[Document]) -> list[Diagnostic]:
    """Add the remedy that fits the step to each diagnostic about an unreachable step."""
    everything = list(found)
    if all(item.code != "RD401" for item in everything):
        return everything
    advice = dict(advised for document in documents for advised in _advice(document))
    named = {position for document in documents for position in _named(document)}
    return [_advised(item, advice, named) for item in everything]


def _advised(item: Diagnostic, advice: Mapping[Position, str], named: Container[Position]) -> Diagnostic:
    if item.code != "RD401":
        return item
    position = (item.path, item.span)
    remedy = FIX_GOTO if position in named else item.help
    return replace(item, help=f"{remedy}; {advice[position]}" if position in advice else remedy)


def _named(document: Document) -> Iterator[Position]:
    """Yield the places of steps that are the target of a GOTO."""
    transitions = (transition for node in all_steps(document.runbook) for transition in node.transitions)
    targets = [transition.action.target for transition in transitions if isinstance(transition.action, Goto)]
    ids = {(target.step, target.child) for target in targets}
    for step in document.runbook.steps:
        if (step.id, None) in ids:
            yield document.source.path, step.substeps[0].span if step.substeps else step.span
        yield from ((document.source.path, item.span) for item in step.substeps if (step.id, item.id) in ids)


def _advice(document: Document) -> Iterator[tuple[Position, str]]:
    """Yield the suggestions for a document's named steps, with their places."""
    source, steps = document.source, document.runbook.steps
    targets = jump_targets(document.runbook)
    names_only = all(isinstance(step.id, str) for step in steps)
    for number, step in enumerate(steps, 1):
        numbered = numbered_header(step)
        if numbered or (names_only and step.id not in targets):
            header = numbered or with_number(source, step, number)
            yield (source.path, step.span), f"to run it after the step above, number it: `{header}`"
        elif may_be_prose(step, targets) and _is_text(step):
            yield (source.path, step.span), prose_advice(heading_of(source, step))


def _is_text(step: Step) -> bool:
    return not (step.substeps or step.runbooks or (step.code and step.code.interpreter))


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
