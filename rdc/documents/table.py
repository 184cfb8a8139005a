"""The model of a `[[build]]` table, and the JSON Schema of a project's configuration."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field
from pydantic.json_schema import models_json_schema

from backends.options.model import Options
from backends.registry import BACKENDS, is_target, load, names
from compiler.frontends import all_options
from compiler.project.configuration import (
    BUILD,
    CHECK,
    DOCS_URL,
    LONGEST,
    LONGEST_PROJECT,
    MCP,
    MOST_DOCUMENTS,
    OUTPUTS,
    PATTERN,
    PROJECT,
    REQUIRED_VERSION,
    RULE,
)
from compiler.project.options import LABEL, Level
from compiler.project.rules import LONGEST_WHY
from compiler.text.patterns import LONGEST_PATTERN


def _patterns(value: str | list[str]) -> str | list[str]:
    for pattern in [value] if isinstance(value, str) else value:
        plain = pattern.removeprefix("!")
        if not plain or plain.startswith("/") or ".." in plain.split("/") or "\\" in plain:
            raise ValueError("a pattern must be a path from the project root, with `/` and without `..`")
    return value


def _target(name: str) -> str:
    if not is_target(name):
        raise ValueError(f"there is no target {name!r}; the targets are {', '.join(names())}")
    return name


def _out(path: str) -> str:
    plain = path.replace("{dir}", "dir").replace("{name}", "name")
    if "{" in plain or "}" in plain:
        raise ValueError("`{name}` and `{dir}` are the only placeholders")
    if plain.startswith("/") or {"..", ".git"} & set(plain.casefold().split("/")) or "\\" in plain:
        raise ValueError("the path must start at the project root, with `/`, and without `..` or `.git`")
    if plain.endswith("/") or not plain.isprintable():
        raise ValueError("the path must name a file, such as `{dir}/{name}.yml`")
    return path


class Build(Options):
    """One `[[build]]` table."""

    source: Annotated[str | list[str], AfterValidator(_patterns)] = Field(
        description="The documents: a path from the project root with `*` and `**`, or a list of paths. `!` "
        "excludes a path."
    )
    to: Annotated[str, AfterValidator(_target)] = Field(description="The target.")
    out: Annotated[str, AfterValidator(_out)] = Field(
        default="",
        description="The output path from the project root. `{name}` is the document's name without extension, "
        "`{dir}` its folder.",
    )
    options: dict[str, Any] = Field(
        default={}, description="Options of the target. They override options in documents."
    )


_ADDRESS = {
    "type": "string",
    "description": "The address of rdc's documentation, to which messages link.",
    "pattern": f"^{PATTERN}$",
    "maxLength": LONGEST,
}

_CHECK = {
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


_PATTERN = {"type": "string", "minLength": 1, "maxLength": LONGEST_PATTERN}
_RULE = {
    "type": "object",
    "description": "A rule about the order of steps, for many documents.",
    "properties": {
        "name": {"type": "string", "description": "Its name.", "pattern": f"^{LABEL}$"},
        "rule": {"type": "string", "description": "The sentence, such as `Test PASS before Deploy`."},
        "for": {
            "description": "The documents: paths from the project root with `*` and `**`. `!` excludes a path.",
            "anyOf": [_PATTERN, {"type": "array", "minItems": 1, "items": _PATTERN}],
        },
        "why": {"type": "string", "description": "The reason, for messages.", "maxLength": LONGEST_WHY},
        "override": {"type": "boolean", "description": "Whether an operator can let a run pass.", "default": True},
        "try": {"type": "boolean", "description": "Whether to only warn, without enforcement.", "default": False},
    },
    "required": ["name", "rule"],
    "additionalProperties": False,
}

_MCP = {
    "type": "object",
    "description": "The documents that `rdc mcp` serves to agents.",
    "properties": {
        "documents": {
            "description": "The documents: paths from the project root with `*` and `**`. `!` excludes a path.",
            "type": "array",
            "maxItems": MOST_DOCUMENTS,
            "items": _PATTERN,
        },
        "output": {
            "description": "How much of the commands' output agents get: the last lines, or nothing.",
            "enum": list(OUTPUTS),
            "default": OUTPUTS[0],
        },
    },
    "additionalProperties": False,
}


def schema() -> dict[str, Any]:
    """Return the schema: keys of the project, options of formats, and a table for each target."""
    kinds: list[type[Options]] = [Build, *(load(name).options for name in BACKENDS)]
    schemas, definitions = models_json_schema([(kind, "validation") for kind in kinds])
    of_build, *of_targets = (schemas[kind, "validation"] for kind in kinds)
    # The values of formats' options are only described in words, unless they have fixed choices.
    formats = {
        option.name: {"description": option.help, **({"enum": list(option.choices)} if option.choices else {})}
        for option in all_options()
        if Level.PROJECT in option.levels
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rdc.toml",
        "type": "object",
        "properties": {
            REQUIRED_VERSION: {
                "type": "string",
                "description": "The versions of rdc that the project supports, such as `==1.2.0` or `>=1.2,<2`.",
            },
            BUILD: {"type": "array", "description": "The documents to build with `rdc build`.", "items": of_build},
            CHECK: _CHECK,
            DOCS_URL: _ADDRESS,
            MCP: _MCP,
            PROJECT: _PROJECT,
            RULE: {"type": "array", "description": "Rules for many documents.", "items": _RULE},
            **formats,
            **dict(zip(BACKENDS, of_targets, strict=True)),
        },
        **definitions,
    }
