"""The YAML frontmatter of a document (D3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.commands import scenario_keys
from compiler.frontends.rundown.options import OPTIONS
from compiler.options import Known, Level, Options, Place, read_options
from compiler.scenarios import Scenario, read_scenarios
from compiler.source import Source, Span, Spans, beneath

FENCE = re.compile(r"---[ \t]*")


class Frontmatter(NamedTuple):
    """The values, the options and scenarios among them, and the line on which the document goes on.

    `scenario_spans` says where each key and item of the scenarios stands.
    """

    values: Mapping[str, Any]
    options: Options
    next_line: int
    scenarios: tuple[Scenario, ...] = ()


def read_frontmatter(source: Source) -> tuple[Frontmatter, list[Diagnostic]]:
    """The frontmatter at the first line of a source, empty if there is none, with what is wrong in it."""
    lines = source.lines
    if not FENCE.fullmatch(lines[0]):
        return Frontmatter({}, Options(), 1), []
    end = next((number for number, line in enumerate(lines[1:], 2) if FENCE.fullmatch(line)), None)
    if end is None:
        problem = "the frontmatter that begins here never ends"
        return Frontmatter({}, Options(), 1), [
            Diagnostic("RD011", source.path, source.line_span(1), problem, "close it with a line `---`")
        ]
    from compiler.yaml_text import UnreadableError, load_mapping  # noqa: PLC0415 (most documents have no frontmatter)

    try:
        values, spans = load_mapping("\n".join(lines[1 : end - 1]), first_line=2)
    except UnreadableError as error:
        return Frontmatter({}, Options(), end + 1), [_broken(source, error.line, str(error))]
    found = _metadata_problems(source, values, spans)
    options, problems = _options(source, values, spans)
    scenarios, mistakes = _scenarios(source, values, spans)
    return Frontmatter(values, options, end + 1, scenarios), [*found, *problems, *mistakes]


def _broken(source: Source, line: int, problem: str) -> Diagnostic:
    text = f"the frontmatter is not valid YAML: {problem}"
    remedy = "write `key: value` lines; quote values that hold `: ` or `#`"
    return Diagnostic("RD010", source.path, source.line_span(line), text, remedy)


def _metadata_problems(source: Source, values: Mapping[str, Any], spans: Spans) -> list[Diagnostic]:
    """Metadata of a wrong type is ignored, but not in silence."""
    texts = ("name", "description", "version", "author")
    wrong = [key for key in texts if isinstance(values.get(key), (list, dict))]
    found = [_ignored(source, spans[(key,)], key, "a text") for key in wrong]
    tags = values.get("tags", [])
    if not isinstance(tags, list) or any(isinstance(tag, (list, dict)) for tag in tags):
        found.append(_ignored(source, spans[("tags",)], "tags", "a list of texts"))
    return found


def _ignored(source: Source, span: Span, key: str, form: str) -> Diagnostic:
    problem = f"`{key}` in the frontmatter is not {form}, and is ignored"
    return Diagnostic("RD012", source.path, span, problem, f"give {form}, or leave the key out")


def _options(source: Source, values: Mapping[str, Any], spans: Spans) -> tuple[Options, list[Diagnostic]]:
    """The options for rdc and its targets, with what is wrong in them."""
    if "rdc" not in values:
        return Options(), []
    place, known = Place("RD013", source.path, spans[("rdc",)]), Known(OPTIONS, Level.DOCUMENT)
    return read_options(values["rdc"], place, beneath(spans, "rdc"), known)


def _scenarios(
    source: Source, values: Mapping[str, Any], spans: Spans
) -> tuple[tuple[Scenario, ...], list[Diagnostic]]:
    """The scenarios, with what is wrong in their form (S1)."""
    if "scenarios" not in values:
        return (), []
    scenarios, mistakes = read_scenarios(values["scenarios"], beneath(spans, "scenarios"), scenario_keys(source.name))
    remedy = "a scenario has `commands`, `result` and, if you like, `description`: see `rdc explain RD013`"
    return scenarios, [Place("RD013", source.path, mistake.span).finding(mistake.text, remedy) for mistake in mistakes]
