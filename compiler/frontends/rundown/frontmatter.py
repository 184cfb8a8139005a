"""Read the YAML frontmatter of a document (D3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostic import Diagnostic
from compiler.frontends.frontmatter import read_block
from compiler.frontends.name_lists import SECRETS
from compiler.frontends.rundown.beyond.declarations import Declarations
from compiler.frontends.rundown.beyond.settings import read_steps, table_for_targets
from compiler.frontends.rundown.commands import scenario_keys
from compiler.frontends.rundown.options import INPUTS, OPTIONS, OUTPUTS, SHELL
from compiler.issues import InvalidError, Place, diagnostics, duplicate_options
from compiler.options import Known, Level, Options, places_within, read_options
from compiler.scenarios import Scenario, read_scenarios
from compiler.source import Source, Span, Spans, below

if TYPE_CHECKING:
    from compiler.yaml_text import Reading


class Frontmatter(Struct, frozen=True):
    """The frontmatter's values, with its options, scenarios and declarations, and the next line after it.

    `declared` has only declarations without errors.
    """

    values: Mapping[str, Any]
    options: Options
    next_line: int
    scenarios: tuple[Scenario, ...] = ()
    declared: Declarations = Declarations()


def read_frontmatter(source: Source) -> tuple[Frontmatter, list[Diagnostic]]:
    """Return the frontmatter at the start of a source, or an empty one, with its problems."""
    read, next_line, broken = read_block(source)
    if read is None:
        return Frontmatter({}, Options(), next_line), broken
    found = _metadata_problems(source, read.values, read.spans)
    options, declared, problems = _options(source, read)
    scenarios, errors = _scenarios(source, read, None if problems else declared)
    return Frontmatter(read.values, options, next_line, scenarios, declared), [*found, *problems, *errors]


def _metadata_problems(source: Source, values: Mapping[str, Any], spans: Spans) -> list[Diagnostic]:
    """Warn about metadata that is ignored because of its type, and about options that are not below `rdc`."""
    texts = ("name", "description", "version", "author")
    wrong = [key for key in texts if isinstance(values.get(key), (list, dict))]
    found = [_ignored(source, spans[(key,)], key, "a string") for key in wrong]
    tags = values.get("tags", [])
    if not isinstance(tags, list) or any(isinstance(tag, (list, dict)) for tag in tags):
        found.append(_ignored(source, spans[("tags",)], "tags", "a list of strings"))
    misplaced = [key for key in (*(option.name for option in OPTIONS), STEPS) if key in values]
    return [*found, *(_misplaced(source, spans[(key,)], key) for key in misplaced)]


def _misplaced(source: Source, span: Span, key: str) -> Diagnostic:
    problem = f"`{key}` has no effect here: it is an option of rdc"
    return Diagnostic("RD012", source.path, span, problem, f"move it below `rdc`: `rdc: {{{key}: …}}`")


def _ignored(source: Source, span: Span, key: str, form: str) -> Diagnostic:
    problem = f"`{key}` in the frontmatter is ignored because it is not {form}"
    return Diagnostic("RD012", source.path, span, problem, f"write {form}, or remove the key")


STEPS = "steps"
"""The key of step settings; some are for the compiler, others go to the targets as a table of this name (E3)."""


def _options(source: Source, read: Reading) -> tuple[Options, Declarations, list[Diagnostic]]:
    """Return the options for rdc and its targets, the declarations, and the problems in both."""
    if "rdc" not in read.values:
        return Options(), Declarations(), []
    place, spans = Place("RD013", source.path, read.spans[("rdc",)]), below(read.spans, "rdc")
    plain, known = read.values["rdc"], Known(OPTIONS, Level.DOCUMENT)
    if not isinstance(plain, Mapping):
        options, found = read_options(plain, place, spans, known)
        return options, Declarations(), found
    given = _with_texts(read, plain)
    names = {STEPS, *(option.name for option in OPTIONS if option.as_written)}
    repeated = (key for key in read.repeated if key.path[0] == "rdc" and not names.isdisjoint(key.path[1:2]))
    options, found = read_options({key: value for key, value in given.items() if key != STEPS}, place, spans, known)
    declared = Declarations(
        INPUTS.first(options.values) or (),
        OUTPUTS.first(options.values) or {},
        SECRETS.first(options.values) or {},
        shell=SHELL.first(options.values) or "",
    )
    found += duplicate_options(source, repeated)
    if STEPS not in given:
        return options, declared, found
    places = places_within(place, spans)[STEPS]
    try:
        steps = read_steps(given[STEPS], places)
    except InvalidError as error:
        return options, declared, [*found, *diagnostics(error.issues, places)]
    table = table_for_targets(plain[STEPS], places)
    targets = {**options.targets, **({STEPS: table} if table else {})}
    return Options(options.values, targets), replace(declared, steps=steps, for_targets=table), found


def _with_texts(read: Reading, plain: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options with some values as the author wrote them, so that version 1.10 stays 1.10 (E1)."""
    wanted = {STEPS, *(option.name for option in OPTIONS if option.as_written)} & plain.keys()
    if not wanted:
        return plain
    written = read.as_written["rdc"]
    return {key: written[key] if key in wanted else value for key, value in plain.items()}


def _scenarios(
    source: Source, read: Reading, declared: Declarations | None
) -> tuple[tuple[Scenario, ...], list[Diagnostic]]:
    """Return the scenarios and the problems with their form (S1)."""
    if "scenarios" not in read.values:
        return (), []
    keys, spans = scenario_keys(source.name, declared), below(read.spans, "scenarios")
    scenarios, issues = read_scenarios(_with_inputs(read), spans, keys)
    remedy = "a scenario has `commands`, `result` and optionally `inputs` and `description`; see `rdc explain RD013`"
    return scenarios, diagnostics(issues, Place("RD013", source.path, None).around(spans), remedy=remedy)


def _with_inputs(read: Reading) -> object:
    """Return the scenarios as plain values, with inputs as the author wrote them."""
    plain = read.values["scenarios"]
    if not isinstance(plain, Mapping) or not any(map(_has_inputs, plain.values())):
        return plain
    written = read.as_written["scenarios"]
    return {
        name: {**one, "inputs": written[name]["inputs"]} if _has_inputs(one) else one for name, one in plain.items()
    }


def _has_inputs(scenario: object) -> bool:
    return isinstance(scenario, Mapping) and "inputs" in scenario
