"""Check the rules of step specifications, their context keys and tool arguments (B9, B17)."""

from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.issues import SourceMap, on_one_line
from compiler.diagnostics.model import DataPath, Diagnostic, Severity
from compiler.frontends.stepspec.parse import Configured, Parsed
from compiler.frontends.stepspec.placeholders import (
    FOLDERS,
    PLACEHOLDER,
    TARGETS,
    all_paths,
    doubled,
    filled_texts,
    known_path,
    names_in,
    placeholders,
    single_names,
    validated_paths,
)
from compiler.frontends.stepspec.syntax import STEPS, Called, Document, Runtime, StepSpec
from compiler.frontends.stepspec.tools import Subject, checks_of, name_findings, phase_of, skipped_checks, unmet_rules
from compiler.ir.patterns import SEPARATE, overlap, overlapping, pattern_issue
from compiler.reading.validate import texts_in
from compiler.text.suggestions import did_you_mean, nearest_name
from runtime_shim.stepspec.tool_schemas import BUILT_IN, TYPES, unfit_arguments


class Scene(Struct, frozen=True):
    """A step and its position."""

    places: SourceMap
    path: DataPath
    step: StepSpec
    configured: Configured

    def finding(self, code: str, inner: DataPath, problem: str, remedy: str) -> Diagnostic:
        """Return a diagnostic for a part of the step."""
        return self.places.diagnostic(code, (*self.path, *inner), problem, remedy)


_OF_EMPTY = frozenset({"RD854", "RD856", "RD859", "RD860", "RD870"})
"""Diagnostics of empty strings, which also replace the parts that the models rejected."""


def check(parsed: Parsed, configured: Configured, called: Called, *, is_linked: bool) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a specification. Parts that the models rejected are skipped."""
    wrong = (item for item in (*parsed.diagnostics, *configured.diagnostics) if item.severity is Severity.ERROR)
    reported = {(item.path, item.span) for item in wrong}
    document = parsed.document
    if document is not None:
        found = _findings(document, parsed, configured, called, is_linked=is_linked)
        yield from (item for item in found if item.code not in _OF_EMPTY or (item.path, item.span) not in reported)


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
        yield from _context(scene)
        yield from _tools(scene, is_linked=is_linked)
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
    for inner, written in all_paths(scene.step):
        path = known_path(written, values)
        if problem := _path_issue(path):
            shown = f"`{written}`" if path == written else f"`{written}`, which is `{path}`,"
            remedy = "write a path relative to the folder where you start the run, with `/` and without `..`"
            yield scene.finding("RD860", inner, f"the path {shown} {problem}", remedy)
    printed = (scene.step.inputs or {}).get(TARGETS)
    if printed is not None and (not isinstance(printed, list) or any(not isinstance(one, str) for one in printed)):
        problem = f"`{TARGETS}` is not a list of paths"
        yield scene.finding("RD855", ("inputs", TARGETS), problem, "write a list of paths")


def _doubled(scene: Scene, known: Callable[[], Collection[str]]) -> Iterator[Diagnostic]:
    """Check placeholders in double braces: in paths always, elsewhere if the name is a known placeholder (B3)."""
    for inner, written in doubled(scene.step):
        if inner[0] in ("outputs", "templates") or written in known():
            problem = f"`{{{{{written}}}}}` has double braces, so its value would stay in braces"
            found = scene.finding("RD874", inner, problem, f"write `{{{written}}}`")
            at, wrong = (*scene.path, *inner), f"{{{{{written}}}}}"
            fix = scene.places.respelled(at, wrong, f"{{{written}}}", is_value=True)
            yield replace(found, fix=fix and replace(fix, is_safe=True))


def _path_issue(path: str) -> str:
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
    for problem, remedy in skipped_checks(policy or "", validated_paths(scene.step)):
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
        ways: tuple[DataPath, ...] = (("hitl", "policy", key, number), ("runtime", "hitl", "policy", key, number))
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


PREFIX = "telis_"
LANGUAGES = ("python", "typescript", "javascript", "json", "yaml")
METHODS = ("hover", "signatureHelp")


_Wanted = tuple[str, Callable[[Any], bool]]
"""What a value must be, and whether it is."""

_TEXT: _Wanted = ("a string", TYPES["string"])
_COUNT: _Wanted = (
    "a whole number, 0 or more",
    lambda value: isinstance(value, int) and TYPES["number"](value) and value >= 0,
)
KEYS: dict[str, _Wanted] = {
    "telis_query": _TEXT,
    "telis_language": (f"one of {', '.join(LANGUAGES)}", lambda value: value in LANGUAGES),
    "telis_document_path": _TEXT,
    "telis_document_text": _TEXT,
    "telis_method": (" or ".join(METHODS), lambda value: value in METHODS),
    "telis_line": _COUNT,
    "telis_character": _COUNT,
    "telis_shard_limit": _COUNT,
    "telis_min_score": ("a number", TYPES["number"]),
    "telis_max_phase": _COUNT,
    "telis_phase_tiers": ("a list or a mapping", lambda value: isinstance(value, (list, dict))),
}


def _context(scene: Scene) -> Iterator[Diagnostic]:
    for key, value in (scene.step.inputs or {}).items():
        at: DataPath = ("inputs", key)
        wanted = KEYS.get(key)
        if wanted is None and key.startswith(PREFIX):
            problem = f"there is no context key `{key}`{did_you_mean(key, KEYS)}"
            found = scene.finding("RD862", at, problem, f"use one of {', '.join(KEYS)}")
            yield replace(found, fix=scene.places.respelled((*scene.path, *at), key, nearest_name(key, KEYS)))
        elif wanted and value is not None and not wanted[1](value):
            yield scene.finding("RD861", at, f"`{key}` is not {wanted[0]}", f"write {wanted[0]}")


def _tools(scene: Scene, *, is_linked: bool) -> Iterator[Diagnostic]:
    own = scene.configured.runtime.tools or {}
    known = [*BUILT_IN, *own]
    for number, call in enumerate(scene.step.tools or ()):
        at: DataPath = ("tools", number)
        if call.name and call.name not in known:
            if is_linked:
                then = "the attempt fails" if call.required else "the call is skipped"
                problem = f"there is no tool `{call.name}`, so {then}{did_you_mean(call.name, known)}"
                remedy = "use a built-in tool, or add it to `tools` in the configuration"
                found = scene.finding("RD865", (*at, "name"), problem, remedy)
                meant, place = nearest_name(call.name, known), (*scene.path, *at, "name")
                yield replace(found, fix=scene.places.respelled(place, call.name, meant, is_value=True))
            continue
        arguments = call.args or {}
        tool = own[call.name].arguments if call.name in own else BUILT_IN.get(call.name, {}).get("arguments")
        schema: dict[str, Any] = tool or {}
        is_known = schema and not unfit_schema(schema) and not any(names_in(arguments))
        if is_known and (problem := unfit_arguments(schema, arguments)):
            remedy = f"correct `args`; {call.name} takes {', '.join(schema.get('properties', {}))}"
            printed = f"the arguments of {call.name} are not valid: {problem.removeprefix('the arguments: ')}"
            yield scene.finding("RD864", (*at, "args"), printed, remedy)


def configured_findings(runtime: Runtime, places: SourceMap) -> Iterator[Diagnostic]:
    """Yield the diagnostics of the configured tools and guardrails."""
    above: DataPath = ("runtime",) if ("runtime",) in places.spans else ()
    for name, tool in (runtime.tools or {}).items():
        at = _at(places, above, ("tools", name))
        if name in BUILT_IN:
            problem = f"`{name}` is the name of a built-in tool"
            yield places.diagnostic("RD871", at, problem, "rename the tool")
        if not tool.command.strip():
            problem = f"the command of the tool `{name}` is empty"
            yield places.diagnostic("RD854", (*at, "command"), problem, "write a command")
        if problem := unfit_schema(tool.arguments or {}):
            problem = f"rdc cannot check the argument schema of the tool `{name}`: {problem}"
            yield places.diagnostic(
                "RD855", (*at, "arguments"), problem, "describe them with `type`, `properties` and `required`"
            )
    guardrails = runtime.guardrails
    for side, printed in (("input", guardrails and guardrails.input), ("output", guardrails and guardrails.output)):
        for number, pattern in enumerate((printed and printed.patterns) or ()):
            at = _at(places, above, ("guardrails", side, "patterns", number))
            if problem := pattern_issue(pattern) or ("" if pattern else "is empty"):
                remedy = "correct the pattern; don't nest unlimited repetitions, as in `(a+)+`"
                yield places.diagnostic("RD870", at, f"the pattern {problem}", remedy)
            elif character := overlap(pattern):
                yield places.diagnostic("RD136", at, f"the pattern {overlapping(character)}", SEPARATE)


def _at(places: SourceMap, above: DataPath, path: DataPath) -> DataPath:
    """Return the position of a setting: at the top level, or under `runtime`."""
    return path if tuple(map(str, path)) in places.spans else (*above, *path)


NOTES = ("$schema", "title", "description", "default", "examples")  # these have no effect


def unfit_schema(schema: Any) -> str:  # noqa: ANN401 (any value of a configuration)
    """Return why a value isn't a schema of this subset, or "" if it is one."""
    if not isinstance(schema, dict):
        return "a schema must be an object"
    for key, value in schema.items():
        if key not in NOTES and (key not in PARTS or not PARTS[key](value)):
            return f"the value of `{key}` is not valid" if key in PARTS else f"`{key}` is not one of {', '.join(PARTS)}"
    parts = (
        schema[key] for key in ("items", "additionalProperties") if key in schema and schema[key] not in (True, False)
    )
    return next(filter(None, map(unfit_schema, [*schema.get("properties", {}).values(), *parts])), "")


def _are_types(value: Any) -> bool:  # noqa: ANN401
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(one, str) and one in TYPES for one in names)


PARTS: dict[str, Callable[[Any], bool]] = {
    "type": _are_types,
    "properties": TYPES["object"],
    "required": lambda value: isinstance(value, list) and all(map(TYPES["string"], value)),
    "additionalProperties": lambda value: isinstance(value, bool | dict),
    "enum": lambda value: isinstance(value, list) and bool(value),
    "items": TYPES["object"],
    "minimum": TYPES["number"],
    "maximum": TYPES["number"],
}
