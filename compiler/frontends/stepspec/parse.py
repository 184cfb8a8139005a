"""Parse YAML or JSON into the models of a specification, with a diagnostic for each error of form (B1, B2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace
from pydantic import BaseModel

from compiler.diagnostic import Diagnostic
from compiler.frontends.data_text import BrokenDataError, Data, read_data
from compiler.frontends.modeled import SHAPES, Codes, Form, validated
from compiler.frontends.stepspec import runtime
from compiler.frontends.stepspec.syntax import LARGEST_NUMBER, STEPS, Document, Retries, StepSpec, ToolCall
from compiler.issues import Position, SourceMap, duplicate_keys
from compiler.safeguards import hidden_safeguard, is_about_text, looks_like_safeguard
from compiler.source import Source
from compiler.suggestions import did_you_mean, nearest_name

if TYPE_CHECKING:
    from compiler.yaml_text import Reading

_NUMBER = f"a whole number from 0 to {LARGEST_NUMBER:,}"
_WANTED = {
    **SHAPES,
    "string_type": "a string",
    "bool_type": "true or false",
    "int_type": _NUMBER,
    "greater_than_equal": _NUMBER,
    "less_than_equal": _NUMBER,
    "too_short": "add a step with an `id`",
}
SAFEGUARDS = frozenset(
    {
        *("human_gate", "gate", "risk", "required", "hitl", "policy", "guardrails"),
        *runtime.Policy.model_fields,
        *runtime.Guardrails.model_fields,
        *runtime.Guardrail.model_fields,
    }
)
"""Safety-relevant keys. A misspelled one is an error, because a run would not stop where it should."""

_MODELS: Mapping[str, type[BaseModel]] = {
    STEPS: StepSpec,
    "tools": ToolCall,
    "retries": Retries,
    "runtime": runtime.Runtime,
    "hitl": runtime.Hitl,
    "policy": runtime.Policy,
    "guardrails": runtime.Guardrails,
    "input": runtime.Guardrail,
    "output": runtime.Guardrail,
}

_EXAMPLES: Mapping[str, str] = {
    "workflow": "workflow: {module: docs, workflow: release}",
    STEPS: "step_specs: [{id: draft}]",
    "inputs": 'inputs: {artifacts: ["{output_folder}/notes.md"]}',
    "outputs": 'outputs: ["{output_folder}/notes.md"]',
    "templates": 'templates: ["template:notes.md"]',
    "tools": "tools: [{name: search}]",
    "retries": "retries: {max: 3}",
}
LONGEST_SHOWN = 60


def _called(model: type[BaseModel], where: Position) -> str:
    """Return the name of a part in messages, such as "step `draft`"."""
    match where.path:
        case ():
            return "the document" if model is Document else "the configuration"
        case ("step_specs", int() as number):
            name = where.value.get("id") if isinstance(where.value, dict) else None
            return f"step `{name}`" if isinstance(name, str) and name else f"step {number + 1}"
        case ("step_specs", int(), "tools", int() as number):
            return f"tool {number + 1} of {_called(model, where.around.around)}"
        case (*_, int() as number):
            return f"item {number + 1} of {_called(model, where.around)}"
        case ("step_specs", int(), str() as key):
            return f"`{key}` of {_called(model, where.around)}"
        case (*_, "tools", str() as key):
            return f"the tool `{key}`"
        case _:
            return f"`{where.path[-1]}`"


def _unknown(model: type[BaseModel], where: Position, key: str) -> Diagnostic:
    inside = where.around
    around, known = _called(model, inside), tuple(_model(inside, model).model_fields)
    meant = nearest_name(key, known)
    if meant in SAFEGUARDS and not is_about_text(key):
        problem = f"there is no key `{key}` in {around}; did you mean `{meant}`?"
        found = where.diagnostic("RD873", problem, f"write `{meant}`, or remove the key")
    elif is_misplaced(key) or looks_like_safeguard(key):
        problem = f"`{key}` has no effect in {around}, so no one would be asked to approve"
        return where.diagnostic("RD873", problem, _instead(inside, key))
    elif hidden := _hidden(key, where.value):
        problem = f"`{hidden}` has no effect in `{key}`, so no one would be asked to approve"
        return where.diagnostic("RD873", problem, _instead(inside, hidden))
    else:
        problem = f"there is no key `{key}` in {around}, so it is ignored{did_you_mean(key, known)}"
        found = where.diagnostic("RD853", problem, f"remove it, or use one of {', '.join(known)}")
    return replace(found, fix=where.places.respelled(where.path, key, meant))


def is_misplaced(key: str) -> bool:
    """Return whether a key belongs to the policy. Elsewhere it has no effect."""
    return key in runtime.Policy.model_fields


def _hidden(key: str, value: object) -> str:
    """Return a safeguard below an unknown key, or a part of the policy directly in it."""
    own = (name for name in value if isinstance(name, str) and is_misplaced(name)) if isinstance(value, dict) else ()
    return next(iter(own), "") or hidden_safeguard(key, value)


def _instead(inside: Position, key: str) -> str:
    """Return the remedy for a safeguard that has no effect here."""
    if is_misplaced(key):
        return "move it to `policy` under `hitl` in the configuration"
    if inside.path[:1] == (STEPS,):
        is_tool = "tools" in inside.path
        return "write `gate: NAME`, or `risk: high`" if is_tool else "write `human_gate: required`"
    return "write `human_gate: required` in the steps that need approval"


def _example(key: str, value: object) -> str:
    """Return an example for a list or a mapping. For retries it uses the number that was written."""
    if key not in _EXAMPLES:
        return ""
    if key == "retries" and isinstance(value, int):
        return f", such as `retries: {{max: {value}}}`"
    if (
        isinstance(value, str)
        and key in ("outputs", "templates")
        and len(value) <= LONGEST_SHOWN
        and value.isprintable()
    ):
        return f", such as `{key}: [{json.dumps(value, ensure_ascii=False)}]`"
    return f", such as `{_EXAMPLES[key]}`"


def _model(inside: Position, model: type[BaseModel]) -> type[BaseModel]:
    if model is not Document and inside.path[-2:-1] == ("tools",):
        return runtime.ToolCommand
    return _MODELS.get(inside.kind, model)


def _form(model: type[BaseModel]) -> Form:
    called = partial(_called, model)
    return Form(
        "specification",
        Codes("RD851", "RD854", "RD855"),
        "`step_specs` with a step",
        "`inputs`",
        called,
        called,
        _WANTED,
        _example,
        partial(_unknown, model),
    )


FORM, CONFIGURATION_FORM = _form(Document), _form(runtime.Configuration)


class Parsed(NamedTuple):
    """A specification as it was read, without the parts that have errors. `document` is None if nothing is usable."""

    document: Document | None
    data: Data | None
    places: SourceMap
    diagnostics: list[Diagnostic]

    @property
    def reading(self) -> Reading | None:
        """What was read of a document in YAML."""
        return self.data.yaml if self.data else None


def parse(source: Source) -> Parsed:
    """Parse the specification in a source."""
    places = SourceMap(source, {})
    if refused := FORM.refusal(source):
        return Parsed(None, None, places, [refused])
    try:
        data = read_data(source, STEPS)
    except BrokenDataError as error:
        return Parsed(None, None, places, [error.finding("RD850", source, "specification")])
    places = SourceMap(source, data.spans)
    twice = list(duplicate_keys("RD852", source, data.repeated))
    steps = data.values.get(STEPS)
    count = len(steps) if isinstance(steps, list) else 0
    if too_many := FORM.excess(source, count, "steps", data.values):
        return Parsed(None, data, places, [*twice, too_many])
    document, errors = validated(Document, data.values, {STEPS: []})
    return Parsed(document, data, places, [*twice, *FORM.findings(places, data.values, errors)])
