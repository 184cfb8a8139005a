"""Read the `[[build]]` tables of a project's configuration, and describe them as JSON Schema (B-1)."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from pydantic.json_schema import models_json_schema

from backends.options.model import Options
from backends.registry import BACKENDS, is_target, load, names
from compiler.diagnostics.issues import InvalidError, OptionSource, diagnostics
from compiler.diagnostics.model import Diagnostic, Issue
from compiler.frontends import all_options, endings
from compiler.project.configuration import (
    BUILD,
    CHECK,
    DOCS_URL,
    LONGEST,
    LONGEST_PROJECT,
    PATTERN,
    PROJECT,
    REQUIRED_VERSION,
    Configuration,
    read_configuration,
)
from compiler.project.options import Level, Option
from compiler.project.project import Project
from compiler.text.source import nearest
from rdc.documents.plan import Rule, files_below, plan

_REMEDY = 'write `[[build]]` with `source = "docs/**/*.md"`, `to = "github"` and `out = "…/{name}.yml"`'


def named_documents(project: Project) -> list[str]:
    """Return the documents that the `[[build]]` tables of a project match, by path from its root."""
    said, _ = rules(read_configuration(project, all_options()))
    files = files_below(project.root, [pattern for rule in said for pattern in rule.patterns]) if said else []
    return list(dict.fromkeys(task.source for task in plan(said, files).tasks))


def rules(configuration: Configuration) -> tuple[list[Rule], list[Diagnostic]]:
    """Return the rules of a project in order, and the errors in its `[[build]]` tables."""
    content, places = configuration.own.values.get(BUILD, []), configuration.own.places
    places = {(): OptionSource("RD501", next(iter(configuration.sources), ""), None), **places}
    if not isinstance(content, list):
        return [], diagnostics([Issue((BUILD,), "`build` is not a list of tables")], places, remedy=_REMEDY)
    good: list[Rule] = []
    found: list[Diagnostic] = []
    for number, item in enumerate(content):
        at = (BUILD, str(number))
        try:
            good.append(_rule(item, nearest(places, at) or places[()]))
        except InvalidError as error:
            issues = (Issue((*at, *one.path), one.message) for one in error.issues)
            found += diagnostics(issues, places, "`[[build]]`: ", _REMEDY)
    return good, found


def _rule(item: object, place: OptionSource) -> Rule:
    if not isinstance(item, Mapping):
        raise InvalidError(Issue((), "it is not a table"))

    said = Build.validated(item)
    backend = load(said.to)
    try:
        backend.options.validated(said.options)
    except InvalidError as error:  # a document may have the missing options
        wrong = [one for one in error.issues if one.path[:1] in [(name,) for name in said.options]]
        if wrong:
            told = (Issue(("options", *one.path), f"target {said.to}: {one.message}") for one in wrong)
            raise InvalidError(*told) from None
    patterns = (said.source,) if isinstance(said.source, str) else tuple(said.source)
    return Rule(patterns, said.to, backend.suffix, endings(), said.out, said.options, place.path, place.span)


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
    kinds: list[type[Options]] = [Build, *(load(name).options for name in BACKENDS)]
    schemas, definitions = models_json_schema([(kind, "validation") for kind in kinds])
    of_build, *of_targets = (schemas[kind, "validation"] for kind in kinds)
    formats = {option.name: _of_format(option) for option in all_options() if Level.PROJECT in option.levels}
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
            **dict(zip(BACKENDS, of_targets, strict=True)),
        },
        **definitions,
    }


def _of_format(option: Option[Any]) -> dict[str, Any]:
    """Return the schema of a format's option. Its values are only described in words, unless it has fixed choices."""
    return {"description": option.help, **({"enum": list(option.choices)} if option.choices else {})}
