"""JSON Schemas of the parts that documents of all formats share: their options below `rdc`, and their scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from compiler.project.options import Level, Option

Schema = dict[str, Any]

DURATION: Schema = {"type": "string"}
TEXT: Schema = {"type": "string"}
NAMES: Schema = {"type": "array", "items": {"type": "string"}}
TRUTH: Schema = {"type": "boolean"}


def keys(parts: Mapping[str, tuple[str, Schema]]) -> Schema:
    """Return the schema of a mapping with these keys, each with its description and the schema of its value."""
    known = {name: {**schema, "description": about} for name, (about, schema) in parts.items()}
    return {"type": "object", "properties": known, "additionalProperties": False}


def each(schema: Schema) -> Schema:
    """Return the schema of a mapping of any names to values with a schema."""
    return {"type": "object", "additionalProperties": schema}


def with_keys(base: Schema, *names: str, **parts: tuple[str, Schema]) -> Schema:
    """Return the schema of a mapping with some keys of another schema, or all, and with more keys.

    An underscore means a hyphen.
    """
    own = {name: base["properties"][name] for name in names or base["properties"]}
    more = keys({name.replace("_", "-"): part for name, part in parts.items()})
    return {**more, "properties": {**own, **more["properties"]}}


STEP = keys(
    {
        "timeout": ("The time limit of one attempt: `90s`, `10m`, `2h`.", DURATION),
        "max-visits": ("How often a run may visit the step.", {"type": "integer"}),
        "then": ('What happens instead of one more visit: `STOP` or `STOP "message"`.', TEXT),
        "expire": ("The time after which a question without an answer fails.", DURATION),
        "labels": ("Names for rules.", NAMES),
        "secrets": ("Secrets of this step only, on GitHub.", NAMES),
        "environment": ("The environment of the step's job on GitHub.", TEXT),
    }
)
RULE = keys(
    {
        "rule": ("The sentence, such as `Test PASS before Deploy`.", TEXT),
        "why": ("The reason, for messages.", TEXT),
        "override": ("Whether an operator can let a run pass.", TRUTH),
    }
)
SCENARIO = keys(
    {
        "result": ("The expected end of the run.", {"enum": ["COMPLETE", "STOP"]}),
        "description": ("The purpose of the scenario.", TEXT),
        "inputs": ("The values of inputs by name.", each(TEXT)),
        "answers": ("The replies of people by step, or in order.", each({"anyOf": [TEXT, NAMES]})),
        "agents": ("The answers of agents by step.", each({})),
        "tools": ("The answers of tools by step.", each({})),
        "outputs": ("The expected outputs by name or step.", each(TEXT)),
    }
)
_OPTIONS: Mapping[str, Schema] = {
    "steps": each(STEP),
    "rules": each({"anyOf": [TEXT, RULE]}),
    "secrets": NAMES,
    "logs": TRUTH,
    "notify": TEXT,
}


def document_schema(own: Schema, options: Iterable[Option[Any]], targets: Mapping[str, Schema]) -> Schema:
    """Return the schema of a document with its options and scenarios, or of its frontmatter.

    `own` is the schema of the format, with the options that only this format has. `targets` are the schemas of the
    tables of targets.
    """
    known = [option for option in options if Level.DOCUMENT in option.levels]
    settings = {one.name: (one.help, {"enum": list(one.choices)} if one.choices else {}) for one in known}
    shared = keys({**settings, **{name: (f"Options of the target {name}.", one) for name, one in targets.items()}})
    parts = own.get("properties", {})
    mine = parts.get("rdc", {}).get("properties", {})
    for name, schema in (_OPTIONS | mine).items():
        if name in shared["properties"] or name in mine:
            shared["properties"][name] = {**schema, **shared["properties"].get(name, {})}
    scenarios = parts.get("scenarios", {}).get("additionalProperties")
    scenario = scenarios if isinstance(scenarios, dict) else SCENARIO
    rest = {
        "rdc": {**shared, "description": "Options of rdc."},
        "scenarios": {**each(scenario), "description": "Test runs with their expected results, for `rdc test`."},
    }
    return {**own, "properties": {**parts, **rest}}
