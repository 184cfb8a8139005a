"""What to do about a named step that nothing reaches: give it its number, or say that it is text (V12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.link import Document
from compiler.frontends.rundown.numbering import heading_of, numbered_header, with_number
from compiler.frontends.rundown.prose import jump_targets, may_be_prose, prose_advice
from compiler.frontends.rundown.syntax import Step
from compiler.source import Span


def advise_unreachable(found: Iterable[Diagnostic], documents: Iterable[Document]) -> list[Diagnostic]:
    """The findings, those about unreachable steps with the remedy that fits the step."""
    everything = list(found)
    if all(item.code != "RD401" for item in everything):
        return everything
    remedies = {place: remedy for document in documents for place, remedy in _remedies(document)}
    return [_advised(item, remedies) for item in everything]


def _advised(item: Diagnostic, remedies: dict[tuple[str, Span | None], str]) -> Diagnostic:
    remedy = remedies.get((item.path, item.span)) if item.code == "RD401" else None
    return replace(item, help=f"{item.help}; {remedy}") if remedy else item


def _remedies(document: Document) -> Iterator[tuple[tuple[str, Span | None], str]]:
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
