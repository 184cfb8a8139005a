"""The JSON Schema of `rdc.toml`, published as `docs/project.schema.json` (B-1)."""

from __future__ import annotations

from typing import Any

from backends.options.schema import schema as of_options
from backends.registry import BACKENDS, load
from compiler.documentation import DOCS_URL, LONGEST, PATTERN
from compiler.frontends import all_options
from compiler.options import Level, Option
from compiler.project import BUILD, CHECK, LONGEST_PROJECT, PROJECT, REQUIRED_VERSION
from rdc.building.configuring import Build

_ADDRESS = {
    "type": "string",
    "description": "The address of rdc's documentation, to which messages link.",
    "pattern": f"^{PATTERN}$",
    "maxLength": LONGEST,
}


_PROJECT = {
    "type": "object",
    "description": "The project itself.",
    "properties": {
        "name": {
            "type": "string",
            "description": "Its name, which keeps the runs of workers apart in a shared database.",
            "minLength": 1,
            "maxLength": LONGEST_PROJECT,
        }
    },
    "required": ["name"],
    "additionalProperties": False,
}


def schema() -> dict[str, Any]:
    """Return the schema: keys of the project, options of formats, and a table for each target."""
    targets = {name: {"description": load(name).summary, **of_options(load(name).options)} for name in BACKENDS}
    formats = {option.name: _of_format(option) for option in all_options() if Level.PROJECT in option.levels}
    for table in targets.values():
        table.pop("required", None)  # documents may have the required options
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rdc.toml",
        "type": "object",
        "properties": {
            REQUIRED_VERSION: {
                "type": "string",
                "description": "The versions of rdc that the project supports, such as `==1.2.0` or `>=1.2,<2`.",
            },
            BUILD: {
                "type": "array",
                "description": "The documents to build with `rdc build`.",
                "items": of_options(Build),
            },
            CHECK: {
                "type": "object",
                "description": "Settings of `rdc check`.",
                "properties": {
                    "ignore": {
                        "type": "array",
                        "description": "Warnings and notes to ignore, by code or name.",
                        "items": {"type": "string"},
                    }
                },
                "additionalProperties": False,
            },
            DOCS_URL: _ADDRESS,
            PROJECT: _PROJECT,
            **formats,
            **targets,
        },
    }


def _of_format(option: Option[Any]) -> dict[str, Any]:
    """Return the schema of a format's option. Its values are only described in words, unless it has fixed choices."""
    return {"description": option.help, **({"enum": list(option.choices)} if option.choices else {})}
