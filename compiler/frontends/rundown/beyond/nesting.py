"""Check names that several documents declare: inputs and outputs of nested runbooks (E9), and secrets (E10)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from compiler.diagnostic import Diagnostic, Related
from compiler.frontends.rundown.beyond.declarations import EVERY, Declarations, DeclaredInput, StepSettings
from compiler.frontends.rundown.link import Document, references
from compiler.frontends.rundown.names import step_ref
from compiler.frontends.rundown.syntax import UNKNOWN, Reference, Runbook, all_steps
from compiler.issues import Place
from compiler.source import Source, Span
from compiler.suggestions import did_you_mean


def check_names(documents: Mapping[str, Document]) -> Iterator[Diagnostic]:
    """Report conflicts between the names that a program's documents declare."""
    for document in documents.values():
        yield from _doubled(document.runbook.declared)
        for reference in references(document.runbook):
            inner = documents.get(document.includes.get(reference.path, ""))
            if inner:
                yield from _inclusion(document, reference, inner.runbook.declared)
    yield from _secrets([document.runbook.declared for document in documents.values()])


def _doubled(declared: Declarations) -> Iterator[Diagnostic]:
    inputs = {item.input.name for item in declared.inputs}
    for name, place in declared.outputs.items():
        if name in inputs:
            yield place.finding(f"`{name}` is both an input and an output", "rename one of the two")
    for settings in declared.steps:
        for name in settings.env:
            if name in declared.slots:
                problem = f"`env` sets `{name}`, but there is an input or output with that name"
                yield settings.place("env", name).finding(problem, "rename one of the two")


def _secrets(every: Iterable[Declarations]) -> Iterator[Diagnostic]:
    """Report names that conflict with a secret: a secret is a variable of the whole run."""
    every = list(every)
    secrets = {name for declared in every for name in declared.secrets}
    for declared in every:
        env = {name: item.place("env", name) for item in declared.steps for name in item.env}
        for name, place in {**env, **declared.slots}.items():
            if name in secrets:
                yield place.finding(f"`{name}` is also a secret", "rename one of the two")


def _inclusion(document: Document, reference: Reference, inner: Declarations) -> Iterator[Diagnostic]:
    outer = document.runbook.declared
    inputs = {item.input.name: item for item in outer.inputs}
    for item in inner.inputs:
        name = item.input.name
        if name not in outer.slots and item.input.default is None:
            problem = (
                f"{reference.path} needs input `{name}`, which has no default and is not declared in this document"
            )
            remedy = f"declare `{name}` in this document too, or give it a default in {reference.path}"
            yield _finding("RD305", document, reference, (problem, remedy), item.place)
        elif name in outer.slots and not _is_as_strict(inputs.get(name), item):
            problem = f"{reference.path} declares input `{name}` differently from this document"
            remedy = "use the same declaration in both; values are checked only against the one in this document"
            yield _finding("RD306", document, reference, (problem, remedy), item.place)
    for name in inner.outputs:
        if name in inputs:
            problem = f"`{name}` is an output in {reference.path}, but an input in this document"
            remedy = "declare it under `outputs` in this document too, or rename one of the two"
            yield _finding("RD307", document, reference, (problem, remedy), inner.outputs[name])


def _is_as_strict(outer: DeclaredInput | None, inner: DeclaredInput) -> bool:
    """Return whether every value that fits the outer declaration also fits the inner one."""
    wanted = (inner.input.type, inner.input.options, inner.input.pattern)
    if outer is None:
        return wanted == ("string", (), None)
    return wanted in (("string", (), None), (outer.input.type, outer.input.options, outer.input.pattern))


def _finding(code: str, document: Document, reference: Reference, said: tuple[str, str], place: Place) -> Diagnostic:
    related = Related(place.path, place.span or Span(1, 1, 1, 1), "declared here")
    return Diagnostic(code, document.source.path, reference.span, *said, (related,))


def unknown_steps(_: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Report unknown step names in this document; names in nested runbooks are checked after linking."""
    if not runbook.declared.steps or any(step.id == UNKNOWN for step in all_steps(runbook)):
        return  # the unreadable header could be this step
    known = [step_ref(step, substep).label for step in runbook.steps for substep in (None, *step.substeps)]
    names = {EVERY, *known}
    for settings in runbook.declared.steps:
        if "/" not in settings.step and settings.step not in names:
            yield unknown_step(settings, known)


def unknown_step(settings: StepSettings, known: Iterable[str]) -> Diagnostic:
    """Return the diagnostic for an unknown step, with the nearest known name as a hint."""
    hint = did_you_mean(settings.step, known)
    problem = f"there is no step `{settings.step}`{hint}"
    return settings.place().finding(problem, f"use a step's number or name, or `{EVERY}` for all steps")
