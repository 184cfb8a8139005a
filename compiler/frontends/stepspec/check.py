"""Check the rules of step specifications (B2, B3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, Severity
from compiler.frontends.modeled import texts_in
from compiler.frontends.stepspec import paths
from compiler.frontends.stepspec.configuration import Configured
from compiler.frontends.stepspec.context_keys import context_findings
from compiler.frontends.stepspec.contract import phase_of
from compiler.frontends.stepspec.fitting_tools import configured_findings, tool_findings
from compiler.frontends.stepspec.names import Called
from compiler.frontends.stepspec.naming_rules import name_findings
from compiler.frontends.stepspec.parse import Parsed
from compiler.frontends.stepspec.placeholders import (
    FOLDERS,
    PLACEHOLDER,
    doubled,
    filled_texts,
    known_path,
    placeholders,
    single_names,
)
from compiler.frontends.stepspec.policy import Subject, unmet_rules
from compiler.frontends.stepspec.syntax import STEPS, Document, StepSpec
from compiler.frontends.stepspec.validation import checks_of, skipped_checks
from compiler.issues import Path, SourceMap, on_one_line
from compiler.suggestions import did_you_mean


class Scene(Struct, frozen=True):
    """A step and its position."""

    places: SourceMap
    path: Path
    step: StepSpec
    configured: Configured

    def finding(self, code: str, inner: Path, problem: str, remedy: str) -> Diagnostic:
        """Return a diagnostic for a part of the step."""
        return self.places.diagnostic(code, (*self.path, *inner), problem, remedy)


_OF_EMPTY = frozenset({"RD854", "RD856", "RD859", "RD860", "RD870"})
"""Diagnostics of empty strings, which also replace the parts that the models rejected."""


def check(parsed: Parsed, configured: Configured, called: Called, *, is_linked: bool) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a specification. Parts that the models rejected are skipped."""
    wrong = (item for item in (*parsed.diagnostics, *configured.diagnostics) if item.severity is Severity.ERROR)
    told = {(item.path, item.span) for item in wrong}
    document = parsed.document
    if document is not None:
        found = _findings(document, parsed, configured, called, is_linked=is_linked)
        yield from (item for item in found if item.code not in _OF_EMPTY or (item.path, item.span) not in told)


def _findings(
    document: Document, parsed: Parsed, configured: Configured, called: Called, *, is_linked: bool
) -> Iterator[Diagnostic]:
    yield from name_findings(document, called, parsed.places)
    texts = texts_in([value for step in document.step_specs for _, value in filled_texts(step)])
    is_doubled = any("{{" in text for text in texts)  # most documents have none
    known = cache(lambda: {*single_names(document.step_specs), *configured.runtime.values, *FOLDERS})
    for number, step in enumerate(document.step_specs):
        scene = Scene(parsed.places, (STEPS, number), step, configured)
        yield from _evidence(scene)
        yield from _outputs(scene)
        yield from _paths(scene)
        if is_doubled:
            yield from _doubled(scene, known)
        yield from _validation(scene)
        yield from _gate(scene, is_linked=is_linked)
        yield from context_findings(step, parsed.places, scene.path)
        yield from tool_findings(step, configured.runtime, parsed.places, scene.path, is_linked=is_linked)
    layers = [layer for layer in (configured, configured.site) if layer]
    for layer in layers:
        yield from configured_findings(layer.own, layer.places)
        yield from _variables(document, layer, is_site=layer is configured.site)
        yield from _rules(document, called, configured, layer)


def _evidence(scene: Scene) -> Iterator[Diagnostic]:
    step = scene.step
    if step.level is None:
        remedy = "write none, L0, L1 or L2"
        yield scene.finding("RD855", ("evidence",), f"`{step.evidence}` is not an evidence level", remedy)
    elif "/" in (step.evidence or ""):
        problem = f"`{step.evidence}` names several evidence levels; only the lowest, {step.level}, counts"
        found = scene.finding("RD863", ("evidence",), problem, f"write `evidence: {step.level}`")
        fix = scene.places.respelled((*scene.path, "evidence"), step.evidence or "", step.level, is_value=True)
        yield replace(found, fix=fix and replace(fix, is_safe=True))


def _outputs(scene: Scene) -> Iterator[Diagnostic]:
    level = scene.step.level or "none"
    if level != "none" and not scene.step.outputs:
        problem = f"the step has no output that its evidence {level} could be about, so it fails"
        yield scene.finding("RD877", ("evidence",), problem, "add the output, or write `evidence: none`")
    for number, output in enumerate(scene.step.outputs or ()):
        if known_path(output, scene.configured.runtime.values).endswith(("/", "/.")):
            remedy = "name each file that the step makes"
            yield scene.finding("RD876", ("outputs", number), f"the output `{output}` is a folder", remedy)
        if not set(FOLDERS).intersection(PLACEHOLDER.findall(output)):
            problem = f"the output `{output}` is not in an output folder"
            remedy = f"start it with {{{FOLDERS[0]}}}/ or {{{FOLDERS[1]}}}/"
            yield scene.finding("RD859", ("outputs", number), problem, remedy)


def _paths(scene: Scene) -> Iterator[Diagnostic]:
    """Check that paths stay inside the project, as far as their placeholders are known (B3)."""
    values = scene.configured.runtime.values
    for inner, written in paths.all_paths(scene.step):
        path = known_path(written, values)
        if problem := _path_problem(path):
            shown = f"`{written}`" if path == written else f"`{written}`, which is `{path}`,"
            remedy = "write a path relative to the folder where you start the run, with `/` and without `..`"
            yield scene.finding("RD860", inner, f"the path {shown} {problem}", remedy)
    said = (scene.step.inputs or {}).get(paths.TARGETS)
    if said is not None and (not isinstance(said, list) or any(not isinstance(one, str) for one in said)):
        problem = f"`{paths.TARGETS}` is not a list of paths"
        yield scene.finding("RD855", ("inputs", paths.TARGETS), problem, "write a list of paths")


def _doubled(scene: Scene, known: Callable[[], Collection[str]]) -> Iterator[Diagnostic]:
    """Check placeholders in double braces: in paths always, elsewhere if the name is a known placeholder (B3)."""
    for inner, written in doubled(scene.step):
        if inner[0] in ("outputs", "templates") or written in known():
            problem = f"`{{{{{written}}}}}` has double braces, so its value would stay in braces"
            found = scene.finding("RD874", inner, problem, f"write `{{{written}}}`")
            at, wrong = (*scene.path, *inner), f"{{{{{written}}}}}"
            fix = scene.places.respelled(at, wrong, f"{{{written}}}", is_value=True)
            yield replace(found, fix=fix and replace(fix, is_safe=True))


def _path_problem(path: str) -> str:
    if not path.strip() or not path.isprintable():
        return "is empty, or has line breaks or other invisible characters"
    if path.startswith("/") or "\\" in path:
        return "is absolute or contains a backslash"
    return "leaves the folder of the run with `..`" if ".." in path.split("/") else ""


def _validation(scene: Scene) -> Iterator[Diagnostic]:
    policy = scene.step.validation
    if policy and checks_of(policy) == ("exists",):
        problem = f"the validation policy `{policy}` names no check, so a run only checks that the files exist"
        remedy = "use one or more of the words format, template, schema, AST, type and lint"
        yield scene.finding("RD867", ("validation",), problem, remedy)
    for problem, remedy in skipped_checks(policy or "", paths.validated(scene.step)):
        yield scene.finding("RD878", ("validation",), problem, remedy)


def _gate(scene: Scene, *, is_linked: bool) -> Iterator[Diagnostic]:
    """Warn about a conditional gate whose policy never asks for it (B8)."""
    policy, gate = scene.configured.runtime.policy, scene.step.human_gate
    has_rules = policy.conditional_phases or policy.conditional_keywords
    if is_linked and gate == "conditional" and not (policy.conditional_required and has_rules):
        problem = "`human_gate: conditional` never asks for approval, because the policy sets no condition"
        remedy = "in the policy, set conditional_required, and conditional_phases or conditional_keywords"
        yield scene.finding("RD872", ("human_gate",), problem, remedy)


def _rules(document: Document, called: Called, configured: Configured, layer: Configured) -> Iterator[Diagnostic]:
    """Warn about conditional rules that no step can meet (B8)."""
    steps = [(step, Subject(phase_of(step, document), called.workflow)) for step in document.step_specs]
    applies, places = bool(configured.runtime.policy.conditional_required), layer.places
    for key, number, why in unmet_rules(steps, layer.own.policy, applies=applies, is_shared=bool(layer.files)):
        ways: tuple[Path, ...] = (("hitl", "policy", key, number), ("runtime", "hitl", "policy", key, number))
        at = next((way for way in ways if tuple(map(str, way)) in places.spans), ())
        word = (getattr(layer.own.policy, key) or ())[number]
        remedy = "correct the rule, or remove it"
        yield places.diagnostic("RD875", at, f"no step can meet `{word}` in `{key}`: {why}", remedy)


def _variables(document: Document, configured: Configured, *, is_site: bool) -> Iterator[Diagnostic]:
    """Check for variables without a placeholder, and for values that no placeholder can take."""
    if not configured.own.values:
        return
    names, places = placeholders(document.step_specs), configured.places
    for name, value in configured.own.values.items():
        choices = (("variables", name), ("runtime", "variables", name))
        span = next((places.spans[choice] for choice in choices if choice in places.spans), None)
        if name not in names and not is_site:
            problem = f"no step uses the variable `{name}`{did_you_mean(name, names)}"
            yield Diagnostic("RD866", places.source.path, span, on_one_line(problem), "remove the variable, or use it")
        elif not value.isprintable():
            problem = f"the value of the variable {name} has line breaks or other invisible characters"
            yield Diagnostic("RD855", places.source.path, span, problem, "write a value on one line")
