"""Parse YAML into the models of a workflow, with a diagnostic for each error of form."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from compiler.diagnostics.issues import Position, SourceMap, duplicate_keys
from compiler.diagnostics.model import DataPath, Diagnostic, Issue
from compiler.frontends.agent_workflow.syntax import Condition, Entry, Report, Step, Workflow
from compiler.project.options import hidden_safeguard, looks_like_safeguard
from compiler.reading.data import unreadable
from compiler.reading.validate import SHAPES, Codes, Form, Found, validated
from compiler.reading.yaml import Reading, UnreadableError, read_mapping
from compiler.text.regex import Regex
from compiler.text.source import Source
from compiler.text.suggestions import did_you_mean, nearest_name

_MODELS: Mapping[str, type[BaseModel]] = {"steps": Step, "parallel": Entry, "conditions": Condition, "report": Report}
_VALUES = {**SHAPES, "string_type": "a string", "bool_type": "true or false", "literal_error": "`all` or `any`"}
_VALUES["int_type"] = "a whole number from 1 to 1,000,000"
_VALUES["too_short"] = "add a step with `name` and `prompt`"

_KINDS: Mapping[str, str] = {
    "human": "bool_type",
    "end": "bool_type",
    "check": "literal_error",
    "report": "model_type",
    "max_visits": "int_type",
    **dict.fromkeys(("steps", "parallel", "conditions"), "list_type"),
}
_MAY_BE_EMPTY = ("description", "prompt")
_DECISION = Regex(r"<!--\s*DECISION\s*:")

_EXAMPLES: Mapping[str, str] = {
    "steps": "`steps: [{name: plan, prompt: …}]`, or one `- name: plan` a step",
    "conditions": "`conditions: [{keyword: READY, goto: ship}]`, or one `- keyword: READY` a condition",
    "parallel": "`parallel: [{agent: reviewer, prompt: …}]`, or one `- agent: reviewer` an entry",
    "report": "`report: {name: review, format: …}`",
    "rdc": "`rdc: {secrets: [TOKEN]}`",
}


class Parsed(NamedTuple):
    """A workflow as it was read, without the parts that have errors. `workflow` is None if nothing is usable."""

    workflow: Workflow | None
    reading: Reading | None
    places: SourceMap
    diagnostics: list[Diagnostic]


def parse(source: Source) -> Parsed:
    """Parse the workflow in a source."""
    places = SourceMap(source, {})
    if refused := FORM.refusal(source):
        return Parsed(None, None, places, [refused])
    try:
        reading = read_mapping("\n".join(source.lines))
    except UnreadableError as error:
        return Parsed(None, None, places, [unreadable(source, error).finding("RD800", source, "workflow")])
    places = SourceMap(source, reading.spans)
    repeated = list(duplicate_keys("RD802", source, reading.repeated))
    plain = reading.as_written
    if too_many := _too_many(source, plain):
        return Parsed(None, reading, places, [*repeated, too_many])
    if newer := _newer_schema(places, reading.values):
        return Parsed(None, reading, places, [*repeated, newer])
    workflow, errors = validated(Workflow, plain, {"steps": []})
    known = {error["loc"] for error in errors}
    errors += (error for error in unfit_values(reading.values) if error["loc"] not in known)
    errors.sort(key=lambda error: _is_warning(Position(places, plain, error["loc"]), error["type"]))
    return Parsed(workflow, reading, places, [*repeated, *FORM.findings(places, plain, errors)])


def _too_many(source: Source, plain: Mapping[str, Any]) -> Diagnostic | None:
    steps = list(_mappings(plain.get("steps")))
    entries = (step["parallel"] for step in steps if isinstance(step.get("parallel"), list))
    listed = plain["steps"] if isinstance(plain.get("steps"), list) else []
    return FORM.excess(source, len(listed) + sum(map(len, entries)), "steps and entries", listed)


def _newer_schema(places: SourceMap, values: Mapping[str, Any]) -> Diagnostic | None:
    steps = values.get("steps")
    is_mapping = isinstance(steps, dict) and steps and all(isinstance(step, dict) for step in steps.values())
    found: tuple[DataPath, str] | None = (("steps",), "`steps` as a mapping") if is_mapping else None
    for number, step in enumerate(steps if isinstance(steps, list) else ()):
        if found is None and isinstance(step, dict):
            prompts = [step.get("prompt"), *(entry.get("prompt") for entry in _mappings(step.get("parallel")))]
            following = step.get("next")
            if any("goto" in one or "if" in one for one in _mappings([following, *_mappings(following)])):
                found = ("steps", number, "next"), "`next` with `if` and `goto`"
            elif any(isinstance(prompt, str) and _DECISION.search(prompt) for prompt in prompts):
                found = ("steps", number), "`DECISION` comments in prompts"
    if found is None:
        return None
    problem = f"the workflow has the newer schema of agent workflows ({found[1]}); rdc does not read it"
    remedy = (
        "list the steps under `steps` with a `name` each, write `conditions` with `keyword` and `goto` and one step as "
        "`next`, and let each agent end with a line that is just a keyword"
    )
    return places.diagnostic("RD819", found[0], problem, remedy)


def _mappings(value: object) -> Iterator[Mapping[str, Any]]:
    yield from (item for item in (value if isinstance(value, list) else ()) if isinstance(item, dict))


def unfit_values(values: Mapping[str, Any]) -> Iterator[ErrorDetails]:
    """Yield values that are empty, and strings and booleans of another type. `as_written` hides these (W1)."""
    yield from _unfit(values, (), "")
    for number, step in enumerate(values["steps"] if isinstance(values.get("steps"), list) else ()):
        path: DataPath = ("steps", number)
        if isinstance(step, dict):
            yield from _unfit(step, path, "steps")
            yield from _unfit(step.get("report"), (*path, "report"), "report")
            for kind in ("parallel", "conditions"):
                for index, item in enumerate(step[kind] if isinstance(step.get(kind), list) else ()):
                    yield from _unfit(item, (*path, kind, index), kind)


def _unfit(part: object, path: DataPath, kind: str) -> Iterator[ErrorDetails]:
    for key, value in part.items() if isinstance(part, dict) else ():
        wanted = _KINDS.get(key, "string_type")
        if key not in _MODELS.get(kind, Workflow).model_fields or key in ("rdc", "scenarios"):
            continue
        is_unfit = key not in _MAY_BE_EMPTY and (value is None or (isinstance(value, str) and not value.strip()))
        if wanted == "bool_type":
            is_unfit |= not isinstance(value, bool)
        elif wanted == "string_type" and isinstance(value, int | float | date):
            is_unfit = not (isinstance(value, bool) and key in ("keyword", "goto", "next"))  # YES and NO
        if is_unfit:
            yield ErrorDetails(type=wanted, loc=(*path, key), msg="", input=value)


def _is_warning(where: Position, kind: str) -> bool:
    """Return whether an error is only a warning. The others are shown first."""
    key = str(where.path[-1])
    return kind == "extra_forbidden" and not _is_safeguard(key) and not hidden_safeguard(key, where.value)


def _is_safeguard(key: str) -> bool:
    return looks_like_safeguard(key) or nearest_name(key, Step.model_fields) == "human"


def _unknown(where: Position, key: str) -> Found:
    """Return the issue of an unknown key, with a hint for some of them (W2, W4)."""
    around = where.around
    if key == "human" and around.kind == "parallel":
        problem = "an entry under `parallel` cannot wait for approval"
        return "RD810", Issue(where.path, problem, "write `human: true` in the step; it applies to all entries")
    if _is_safeguard(key):
        problem = f"there is no key `{key}` in {called(around)}, so no one would be asked to approve"
        return "RD873", Issue(where.path, problem, "write `human: true` in the step that needs approval")
    if hidden := hidden_safeguard(key, where.value):
        problem = f"`{hidden}` in `{key}` has no effect, so no one would be asked to approve"
        return "RD873", Issue(where.path, problem, "write `human: true` in the step that needs approval")
    if key == "end" and around.kind == "conditions":
        remedy = "add a step with `end: true`, and name it in `goto`"
        return "RD812", Issue(where.path, "a condition cannot have `end`; only a step can", remedy)
    known = tuple(_MODELS.get(around.kind, Workflow).model_fields)
    problem = f"there is no key `{key}` in {called(around)}, so it is ignored{did_you_mean(key, known)}"
    remedy = f"remove it, or use one of {', '.join(known)}"
    return "RD803", Issue(where.path, problem, remedy, nearest_name(key, known))


def called(where: Position) -> str:
    """Return the name of a part in messages, such as "step `plan`"."""
    match where.path:
        case ():
            return "the workflow"
        case ("steps", int() as number):
            name = where.value.get("name") if isinstance(where.value, dict) else None
            return f"step `{name}`" if isinstance(name, str) and name else f"step {number + 1}"
        case (*_, "parallel", int() as number):
            return f"entry {number} of {called(where.around.around)}"
        case (*_, "conditions", int() as number):
            return f"condition {number + 1} of {called(where.around.around)}"
        case (*_, "report"):
            return f"the report of {called(where.around)}"
        case _:
            return f"`{where.path[-1]}`"


def _named(where: Position) -> str:
    key = where.path[-1]
    return called(where) if isinstance(key, int) else f"`{key}` of {called(where.around)}"


FORM = Form(
    "workflow",
    Codes("RD801", "RD804", "RD805"),
    "`name` and `steps`",
    "the prompts",
    called,
    _named,
    _VALUES,
    lambda key, _: f", such as {_EXAMPLES[key]}" if key in _EXAMPLES else "",
    _unknown,
    is_written=True,
)
