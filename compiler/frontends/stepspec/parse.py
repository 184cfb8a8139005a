"""Parse YAML or JSON into the models of a specification, with a diagnostic for each error of form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel
from pydantic_core import ErrorDetails

from compiler.diagnostics.issues import Position, SourceMap, duplicate_keys
from compiler.diagnostics.model import DataPath, Diagnostic, Issue
from compiler.frontends.common.interface import Job
from compiler.frontends.stepspec.syntax import (
    LARGEST_NUMBER,
    NO_RUNTIME,
    STEPS,
    Configuration,
    Document,
    Guardrail,
    Guardrails,
    Hitl,
    Policy,
    Retries,
    Runtime,
    StepSpec,
    ToolCall,
    ToolCommand,
    has_safeguards,
    layered,
)
from compiler.project.options import hidden_safeguard, is_about_text, looks_like_safeguard
from compiler.project.project import Located
from compiler.reading.data import BrokenDataError, Data, read_data
from compiler.reading.validate import SHAPES, Codes, Form, Found, validated
from compiler.text.files import FileIssue
from compiler.text.source import Source, below
from compiler.text.suggestions import did_you_mean, nearest_name

if TYPE_CHECKING:
    from compiler.reading.yaml import Reading


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
        *Policy.model_fields,
        *Guardrails.model_fields,
        *Guardrail.model_fields,
    }
)
"""Safety-relevant keys. A misspelled one is an error, because a run would not stop where it should."""

_MODELS: Mapping[str, type[BaseModel]] = {
    STEPS: StepSpec,
    "tools": ToolCall,
    "retries": Retries,
    "runtime": Runtime,
    "hitl": Hitl,
    "policy": Policy,
    "guardrails": Guardrails,
    "input": Guardrail,
    "output": Guardrail,
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


def _unknown(model: type[BaseModel], where: Position, key: str) -> Found:
    inside = where.around
    around, known = _called(model, inside), tuple(_model(inside, model).model_fields)
    meant = nearest_name(key, known)
    if meant in SAFEGUARDS and not is_about_text(key):
        problem = f"there is no key `{key}` in {around}; did you mean `{meant}`?"
        return "RD873", Issue(where.path, problem, f"write `{meant}`, or remove the key", meant)
    if key in Policy.model_fields or looks_like_safeguard(key):
        problem = f"`{key}` has no effect in {around}, so no one would be asked to approve"
        return "RD873", Issue(where.path, problem, _instead(inside, key))
    if hidden := _hidden(key, where.value):
        problem = f"`{hidden}` has no effect in `{key}`, so no one would be asked to approve"
        return "RD873", Issue(where.path, problem, _instead(inside, hidden))
    problem = f"there is no key `{key}` in {around}, so it is ignored{did_you_mean(key, known)}"
    return "RD853", Issue(where.path, problem, f"remove it, or use one of {', '.join(known)}", meant)


def _hidden(key: str, value: object) -> str:
    """Return a safeguard below an unknown key, or a part of the policy directly in it."""
    own = (
        (name for name in value if isinstance(name, str) and name in Policy.model_fields)
        if isinstance(value, dict)
        else ()
    )
    return next(iter(own), "") or hidden_safeguard(key, value)


def _instead(inside: Position, key: str) -> str:
    if key in Policy.model_fields:
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
        return ToolCommand
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


FORM, CONFIGURATION_FORM = _form(Document), _form(Configuration)


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


NAMES = ("config/runtime.yaml", "config/runtime.yml")
NOUN = "configuration"


class Configured(Struct, frozen=True):
    """The settings of a specification, and the errors in them.

    `files` has none if they are in the document itself. `own` are the settings at `places`, and `site` those of
    `config/runtime.yaml` beside them.
    """

    runtime: Runtime
    files: tuple[Source, ...]
    places: SourceMap
    own: Runtime
    diagnostics: list[Diagnostic]
    site: Configured | None = None


def configuration_of(job: Job, data: Data, places: SourceMap) -> Configured:
    """Return the configuration of a document."""
    content = data.values.get("config")
    nothing = Configured(NO_RUNTIME, (), places, NO_RUNTIME, [])
    site = _site(job, nothing) if job.link else None
    if content is None:
        return site or nothing
    own = _own(job, data, nothing)
    names = {file.name for file in own.files}
    return own if site is None or names.intersection(file.name for file in site.files) else _beside(own, site)


def _beside(own: Configured, site: Configured) -> Configured:
    """Return the document's settings with those of the project; of a named file, only safeguards are added (B8)."""
    if own.files and not (site.diagnostics or has_safeguards(site.own)):
        return own
    runtime = layered(own.own, site.own, is_whole=not own.files)
    found = [*own.diagnostics, *site.diagnostics]
    return replace(own, runtime=runtime, files=(*own.files, *site.files), diagnostics=found, site=site)


def _own(job: Job, data: Data, nothing: Configured) -> Configured:
    content, places = data.values.get("config"), nothing.places
    if isinstance(content, dict):
        inner = Data(content, below(data.spans, "config"))
        return _read(inner, SourceMap(job.source, inner.spans), None)
    if not isinstance(content, str):
        problem = "`config` is neither a mapping nor the path of a file"
        found = places.diagnostic(
            "RD855", ("config",), problem, "write a mapping, or a path such as config/runtime.yaml"
        )
        return replace(nothing, diagnostics=[found])
    return _in_file(job.project.find(job.source, content, NOUN), nothing, is_named=True) if job.link else nothing


def _site(job: Job, nothing: Configured) -> Configured | None:
    found = job.project.find_above(job.source, NAMES)
    if len(found) > 1:
        problem = f"{' and '.join(NAMES)} are in the same folder"
        wrong = nothing.places.diagnostic("RD868", (), problem, "move the settings into one of them")
        return replace(nothing, diagnostics=[wrong])
    return _in_file(found[0], nothing, is_named=False) if found else None


def _in_file(located: Located | FileIssue, nothing: Configured, *, is_named: bool) -> Configured:
    file = located if isinstance(located, FileIssue) else located.read()
    if isinstance(file, FileIssue):
        at: DataPath = ("config",) if is_named else ()
        problem = f"the configuration cannot be used: {file.message}"
        return replace(nothing, diagnostics=[nothing.places.diagnostic("RD868", at, problem, file.help)])
    try:
        data = read_data(file)
    except BrokenDataError as error:
        return replace(nothing, files=(file,), diagnostics=[error.finding("RD850", file, NOUN)])
    found = _read(data, SourceMap(file, data.spans), file)
    return replace(found, diagnostics=[*duplicate_keys("RD852", file, data.repeated), *found.diagnostics])


def _read(data: Data, places: SourceMap, file: Source | None) -> Configured:
    configuration, errors = validated(Configuration, data.values, {})
    files = () if file is None else (file,)
    relevant = [error for error in errors if file is None or not _is_of_others(error)]
    found = list(CONFIGURATION_FORM.findings(places, data.values, relevant))
    if configuration is None:
        return Configured(NO_RUNTIME, files, places, NO_RUNTIME, found)
    runtime = configuration.runtime or NO_RUNTIME
    found += _conflicts(configuration, runtime, places)
    own = configuration.model_dump(exclude={"runtime"}, exclude_none=True)
    settings = Runtime.model_validate({**own, **runtime.model_dump(exclude_none=True)})
    return Configured(settings, files, places, settings, found)


def _is_of_others(error: ErrorDetails) -> bool:
    *above, key = error["loc"]
    is_outer = above in ([], ["runtime"]) and str(key) not in Policy.model_fields
    return error["type"] == "extra_forbidden" and is_outer and not did_you_mean(str(key), Configuration.model_fields)


def _conflicts(configuration: Configuration, runtime: Runtime, places: SourceMap) -> Iterator[Diagnostic]:
    for name in Runtime.model_fields:
        outer, inner = getattr(configuration, name), getattr(runtime, name)
        if outer is not None and inner is not None and outer != inner:
            problem = f"`{name}` is set both at the top level and under `runtime`, with different values"
            other: tuple[DataPath, str] = (("runtime", name), "the other one")
            yield places.diagnostic("RD869", (name,), problem, "remove one of the two", other)
