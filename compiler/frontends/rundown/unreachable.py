"""Word warnings about the flow, and suggest how to make an unreachable step reachable (V12).

The author can fix the GOTO, number the step, or mark it as text.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping

from msgspec.structs import replace

from compiler.analyses.flow import Wording
from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.link import Document
from compiler.frontends.rundown.numbering import heading_of, numbered_header, with_number
from compiler.frontends.rundown.prose import jump_targets, may_be_prose, prose_advice
from compiler.frontends.rundown.syntax import Goto, Step, all_steps
from compiler.source import Span

Position = tuple[str, Span | None]

WORDING = Wording(
    unreachable=("step {} is unreachable", "add a GOTO to it, or remove it"),
    no_path_out=(
        "a run that reaches step {} can never COMPLETE or STOP",
        "add COMPLETE or STOP to one of its transitions, or to one of a later step",
    ),
    never_completes=(
        "no run of this document can COMPLETE",
        "add COMPLETE to a transition, or let the last step CONTINUE",
    ),
    never_fires=(
        "this transition never fires: no outcome of the step's children leads to it",
        "remove it, or remove the matching transition from one of the step's children to pass on its outcome",
    ),
)
"""The warnings about the flow, for authors of runbooks (V12)."""

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
