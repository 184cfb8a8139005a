"""JSON Schemas of the parts that documents of all formats share: their options below `rdc`, and their scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from compiler.project.options import Level, Option

Schema = dict[str, Any]

_DURATION = {"type": "string"}
_TEXT = {"type": "string"}
_NAMES = {"type": "array", "items": {"type": "string"}}


def _object(parts: Mapping[str, tuple[str, Schema]]) -> Schema:
    known = {name: {"description": about, **schema} for name, (about, schema) in parts.items()}
    return {"type": "object", "properties": known, "additionalProperties": False}


def _each(schema: Schema) -> Schema:
    return {"type": "object", "additionalProperties": schema}


INPUT = _object(
    {
        "type": ("The type of the value.", {"enum": ["string", "number", "boolean", "choice"]}),
        "description": ("Shown when rdc asks for the value.", _TEXT),
        "default": ("The value if a run gives none.", _TEXT),
        "options": ("The values of a `choice`.", _NAMES),
        "pattern": ("A regular expression that must match the whole value.", _TEXT),
        "required": ("With `false`, an input without a default may be unset.", {"type": "boolean"}),
    }
)
ASKS = _object(
    {
        "output": ("The output that the reply becomes.", _TEXT),
        "type": ("The type of the reply.", {"enum": ["text", "number", "choice"]}),
        "options": ("The values of a `choice`.", _NAMES),
        "pattern": ("A regular expression that must match the whole reply.", _TEXT),
    }
)
STEP = _object(
    {
        "timeout": ("The time limit of one attempt: `90s`, `10m`, `2h`.", _DURATION),
        "max-visits": ("How often a run may visit the step.", {"type": "integer"}),
        "then": ('What happens instead of one more visit: `STOP` or `STOP "message"`.', _TEXT),
        "expire": ("The time after which a question without an answer fails.", _DURATION),
        "labels": ("Names for rules.", _NAMES),
        "secrets": ("Secrets of this step only, on GitHub.", _NAMES),
        "environment": ("The environment of the step's job on GitHub.", _TEXT),
    }
)
STEP_OF_RUNBOOK = _object(
    {
        **{name: (part["description"], part) for name, part in STEP["properties"].items()},
        "retry-delay": ("The pause before each RETRY.", _DURATION),
        "retry-backoff": ("The factor for the delay each time, a whole number.", {"type": "integer"}),
        "env": ("Environment variables of the command.", _each(_TEXT)),
        "asks": ("The output that the reply to the question becomes.", {"anyOf": [_TEXT, ASKS]}),
        "by": ("With `agent`, an agent does the step, and the command checks the work.", {"enum": ["agent"]}),
    }
)
RULE = _object(
    {
        "rule": ("The sentence, such as `Test PASS before Deploy`.", _TEXT),
        "why": ("The reason, for messages.", _TEXT),
        "override": ("Whether an operator can let a run pass.", {"type": "boolean"}),
    }
)
_EACH = ("result", "description", "inputs")
"""The keys that the scenarios of all formats have."""

SCENARIO = _object(
    {
        "result": ("The expected end of the run.", {"enum": ["COMPLETE", "STOP"]}),
        "description": ("The purpose of the scenario.", _TEXT),
        "inputs": ("The values of inputs by name.", _each(_TEXT)),
        "answers": ("The replies of people by step, or in order.", _each({"anyOf": [_TEXT, _NAMES]})),
        "agents": ("The answers of agents by step.", _each({})),
        "tools": ("The answers of tools by step.", _each({})),
        "outputs": ("The expected outputs by name or step.", _each(_TEXT)),
    }
)
SCENARIO_OF_RUNBOOK = _object(
    {
        **{name: (SCENARIO["properties"][name]["description"], SCENARIO["properties"][name]) for name in _EACH},
        "commands": ("The commands of the run: `rd run FILE`, then `rd pass`, `rd fail` or `rd goto STEP`.", _NAMES),
    }
)
FRONTMATTER = _object(
    {
        "name": ("A name for readers.", _TEXT),
        "description": ("A description for readers.", _TEXT),
        "version": ("The version of the document, for readers.", _TEXT),
        "author": ("The author, for readers.", _TEXT),
        "tags": ("Words for readers.", _NAMES),
    }
)


def document_schema(own: Schema | None, options: Iterable[Option[Any]], targets: Mapping[str, Schema]) -> Schema:
    """Return the schema of a document with its options and scenarios, or of its frontmatter if `own` is None.

    `targets` are the schemas of the tables of targets.
    """
    known = [option for option in options if Level.DOCUMENT in option.levels]
    is_runbook = any(option.name == "inputs" for option in known)
    step, scenario = (STEP_OF_RUNBOOK, SCENARIO_OF_RUNBOOK) if is_runbook else (STEP, SCENARIO)
    parts = {"inputs": _each(INPUT), "steps": _each(step), "rules": _each({"anyOf": [_TEXT, RULE]}), "secrets": _NAMES}
    parts |= {"outputs": _NAMES, "prose": _NAMES, "logs": {"type": "boolean"}, "notify": _TEXT}
    settings = {option.name: (option.help, _choices(option) or parts.get(option.name, {})) for option in known}
    settings.setdefault("steps", ("Settings of steps.", parts["steps"]))
    rdc = _object({**settings, **{name: (f"Options of the target {name}.", one) for name, one in targets.items()}})
    shared = {
        "rdc": {"description": "Options of rdc.", **rdc},
        "scenarios": {"description": "Test runs with their expected results, for `rdc test`.", **_each(scenario)},
    }
    base = FRONTMATTER if own is None else own
    return {**base, "properties": {**base.get("properties", {}), **shared}}


def _choices(option: Option[Any]) -> Schema:
    return {"enum": list(option.choices)} if option.choices else {}
