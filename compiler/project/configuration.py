"""The configuration of a project: `rdc.toml`, or `[tool.rdc]` of `pyproject.toml`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.issues import InvalidError, OptionSource, OptionSources, diagnostics
from compiler.diagnostics.model import Diagnostic, Issue
from compiler.project.ignores import read_check
from compiler.project.options import Known, Level, Option, Options, TargetOptions, read_options
from compiler.project.project import CONFIGURATION, PYPROJECT, SECTION, Project
from compiler.project.rules import read_shared
from compiler.reading.toml import find_keys, load_toml
from compiler.rules.model import DeclaredRule
from compiler.text.files import read_text
from compiler.text.patterns import is_pattern
from compiler.text.regex import Regex
from compiler.text.source import Source, below
from compiler.text.suggestions import did_you_mean
from compiler.version import __version__

DOCS_URL = "docs-url"

PATTERN = r"(https?://|file:///)[A-Za-z0-9][!$-&(-;=@-Z_a-z~]*"
"""A web address or a folder's address. It has no query, no quotes, no spaces and no control characters."""

LONGEST = 2000  # the longest address in characters

_ADDRESS = Regex(PATTERN)


def read_docs_url(own: Mapping[str, object], place: OptionSource) -> tuple[str, list[Diagnostic]]:
    """Return the value of `docs-url` without a slash at its end, "" if it is invalid or missing, and the errors."""
    address = own.get(DOCS_URL, "")
    if isinstance(address, str) and (not address or (len(address) <= LONGEST and _ADDRESS.fullmatch(address))):
        return address.rstrip("/"), []
    problem = (
        f"`{DOCS_URL}` must be an ASCII address that starts with `https://`, `http://` or `file:///`, "
        "and has no spaces, quotes, `?` or `#`"
    )
    if isinstance(address, str) and len(address) > LONGEST:
        problem = f"`{DOCS_URL}` has more than {LONGEST:,} characters"
    return "", [place.finding(problem, f'write `{DOCS_URL} = "https://docs.example.org/rdc"`, or remove the line')]


LONGEST_PROJECT = 64

REQUIRED_VERSION = "required-version"

BUILD = "build"

CHECK = "check"

MCP = "mcp"

PROJECT = "project"

RULE = "rule"

OWN_KEYS = (REQUIRED_VERSION, BUILD, CHECK, DOCS_URL, MCP, PROJECT, RULE)
"""The configuration keys about the project itself; other keys configure how its documents are read."""

MOST_DOCUMENTS = 100
"""The most patterns of served documents."""

OUTPUTS = ("tail", "none")
"""How much of the commands' output agents get. The first one is the default."""


class Served(Struct, frozen=True):
    """The table `[mcp]`: the patterns of the documents that `rdc mcp` serves, and one of `OUTPUTS`."""

    documents: tuple[str, ...] = ()
    output: str = OUTPUTS[0]


def read_served(table: object, places: OptionSources) -> tuple[Served, list[Diagnostic]]:
    """Return the table `[mcp]`, which serves nothing if it is invalid, and the errors in it."""
    if found := diagnostics(_served_issues(table), places):
        return Served(), found
    given = table if isinstance(table, Mapping) else {}
    return Served(tuple(given.get("documents", ())), given.get("output", OUTPUTS[0])), []


def _served_issues(table: object) -> Iterator[Issue]:
    if not isinstance(table, Mapping):
        yield Issue(
            (), f"`{MCP}` must be a table", f'write `[{MCP}]` with `documents = ["deploy.runbook.md"]` below it'
        )
        return
    names = ("documents", "output")
    for key in map(str, table):
        if key not in names:
            problem = f"unknown key `{key}` in `{MCP}`{did_you_mean(key, names)}"
            yield Issue((key,), problem, "use the keys `documents` and `output`")
    patterns, output = table.get("documents", []), table.get("output", OUTPUTS[0])
    if not isinstance(patterns, list) or len(patterns) > MOST_DOCUMENTS or not all(map(is_pattern, patterns)):
        problem = f"`documents` must be a list of at most {MOST_DOCUMENTS} paths from the project root with `/`"
        yield Issue(("documents",), problem, 'write `documents = ["deploy.runbook.md"]`; `*` and `**` are allowed')
    if output not in OUTPUTS:
        yield Issue(("output",), f"`output` must be {' or '.join(OUTPUTS)}", f'write `output = "{OUTPUTS[1]}"`')


class Configuration(Struct, frozen=True):
    """The options for all documents of a project, the diagnostics for them, and the configuration file.

    `own` has the keys in `OWN_KEYS` as written. `name` is the name of the project, or "". `ignored` are the codes of
    warnings and notes that the project ignores. `rules` are those of `[[rule]]`, and `served` is the table `[mcp]`.
    """

    options: Options
    diagnostics: list[Diagnostic]
    sources: dict[str, Source]
    own: TargetOptions = TargetOptions()
    ignored: frozenset[str] = frozenset()
    docs_url: str = ""
    name: str = ""
    rules: tuple[DeclaredRule, ...] = ()
    served: Served = Served()


def read_configuration(project: Project, options: Sequence[Option[Any]]) -> Configuration:
    """Return the project's configuration from `rdc.toml` or `[tool.rdc]`; `options` are those of all formats."""
    own = os.path.join(project.root, CONFIGURATION)
    file = own if project.disk.exists(own) else os.path.join(project.root, PYPROJECT)
    try:
        text = read_text(file, project.root, project.disk)
    except FileNotFoundError:
        text = ""
    except (OSError, ValueError) as error:
        found = [_invalid(os.path.relpath(file), f"cannot read the file: {error}")] if file == own else []
        return Configuration(Options(), found, {})
    if not text or (file != own and SECTION not in text):
        return Configuration(Options(), [], {})
    section = () if file == own else ("tool", "rdc")
    source = Source.from_text(os.path.relpath(file), text)
    return _configuration(source, section, Known(options, Level.PROJECT, OWN_KEYS))


def _configuration(source: Source, section: tuple[str, ...], known: Known) -> Configuration:
    try:
        table: object = load_toml(source.text)
    except (RecursionError, ValueError) as error:
        problem = "its values are nested too deeply" if isinstance(error, RecursionError) else str(error)
        return Configuration(Options(), [_invalid(source.path, problem)], {})
    for key in section:
        table = table.get(key, {}) if isinstance(table, dict) else table
    spans = below(find_keys(source), *section)
    place = OptionSource("RD501", source.path, spans.get(()))
    own, rest = _parted(table)
    places = {path: replace(place, span=span) for path, span in spans.items() if path[:1] in [(name,) for name in own]}
    if wrong := _wrong_version(own, places):
        return Configuration(Options(), [wrong], {source.path: source})
    at = {name: replace(place, span=spans.get((name,))) for name in OWN_KEYS}
    ignored, wrong_codes = read_check(own.get(CHECK, {}), at[CHECK], below(spans, CHECK))
    docs_url, wrong_address = read_docs_url(own, at[DOCS_URL])
    name, wrong_name = _project_name(own.get(PROJECT, {}), at[PROJECT])
    rules, wrong_rules = _rules(own[RULE], at[RULE].around(below(spans, RULE))) if RULE in own else ((), [])
    served, wrong_served = read_served(own.get(MCP, {}), at[MCP].around(below(spans, MCP)))
    options, found = read_options(rest, place, spans, known)
    wrong_keys = [*found, *wrong_codes, *wrong_address, *wrong_name, *wrong_rules, *wrong_served]
    table = TargetOptions(own, places)
    return Configuration(options, wrong_keys, {source.path: source}, table, ignored, docs_url, name, rules, served)


def _rules(content: object, places: OptionSources) -> tuple[tuple[DeclaredRule, ...], list[Diagnostic]]:
    try:
        return read_shared(content, places), []
    except InvalidError as error:
        return (), diagnostics(error.issues, places)


def _project_name(table: object, place: OptionSource) -> tuple[str, list[Diagnostic]]:
    """Return the project's name, "" if it is invalid or missing, and the errors in it."""
    name = table.get("name", "") if isinstance(table, Mapping) and not {*table} - {"name"} else None
    if isinstance(name, str) and name.isprintable() and len(name) <= LONGEST_PROJECT and (name or not table):
        return name, []
    problem = f"`[project]` needs one key, `name`, with a text of 1 to {LONGEST_PROJECT} characters"
    return "", [place.finding(problem, 'write `name = "shop"` below `[project]`, or remove the table')]


def _parted(table: object) -> tuple[dict[str, object], object]:
    if not isinstance(table, Mapping):
        return {}, table
    own = {name: table[name] for name in OWN_KEYS if name in table}
    return own, {name: value for name, value in table.items() if name not in own}


def _wrong_version(own: Mapping[str, object], places: OptionSources) -> Diagnostic | None:
    """Return a diagnostic if the project requires another version of rdc."""
    wanted = own.get(REQUIRED_VERSION)
    if wanted is None:
        return None
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415 (few projects name a version)

    place, text = places[(REQUIRED_VERSION,)], str(wanted) if isinstance(wanted, str) else "?"
    try:
        is_met = SpecifierSet(text if text[:1] in "<>=!~" else f"=={text}").contains(__version__, prereleases=True)
    except ValueError:  # also for numbers that are too long
        problem = f"`{REQUIRED_VERSION}` is not a valid version"
        return place.finding(problem, f'write `{REQUIRED_VERSION} = "=={__version__}"`')
    if is_met:
        return None
    problem = f"this project requires rdc {wanted}, but this is rdc {__version__}"
    return Diagnostic("RD542", place.path, place.span, problem, f"install that version, or change `{REQUIRED_VERSION}`")


def _invalid(path: str, problem: str) -> Diagnostic:
    return OptionSource("RD501", path, None).finding(problem, "fix the file; `rdc explain RD501` shows an example")
