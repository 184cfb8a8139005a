"""What to do about an unreachable step: fix the GOTO to it, give it its number, or say that it is text (V12)."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping

from msgspec.structs import replace

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.link import Document
from compiler.frontends.rundown.numbering import heading_of, numbered_header, with_number
from compiler.frontends.rundown.prose import jump_targets, may_be_prose, prose_advice
from compiler.frontends.rundown.syntax import Goto, Step, all_steps
from compiler.source import Span

Position = tuple[str, Span | None]

MEND_GOTO = "a GOTO names it but can never fire: correct that transition, or remove it and this step"


def advise_unreachable(found: Iterable[Diagnostic], documents: Collection[Document]) -> list[Diagnostic]:
    """The findings, those about unreachable steps with the remedy that fits the step."""
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
    remedy = MEND_GOTO if position in named else item.help
    return replace(item, help=f"{remedy}; {advice[position]}" if position in advice else remedy)


def _named(document: Document) -> Iterator[Position]:
    """The places of the steps that a GOTO enters."""
    transitions = (transition for node in all_steps(document.runbook) for transition in node.transitions)
    targets = [transition.action.target for transition in transitions if isinstance(transition.action, Goto)]
    ids = {(target.step, target.child) for target in targets}
    for step in document.runbook.steps:
        if (step.id, None) in ids:
            yield document.source.path, step.substeps[0].span if step.substeps else step.span
        yield from ((document.source.path, item.span) for item in step.substeps if (step.id, item.id) in ids)


def _advice(document: Document) -> Iterator[tuple[Position, str]]:
    """What can be said of the named steps of a document, by their places."""
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
