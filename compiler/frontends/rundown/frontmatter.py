"""The YAML frontmatter of a document (D3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostic import Diagnostic
from compiler.frontends.frontmatter import read_block
from compiler.frontends.name_lists import SECRETS
from compiler.frontends.rundown.beyond.declarations import Declarations
from compiler.frontends.rundown.commands import scenario_keys
from compiler.frontends.rundown.options import INPUTS, OPTIONS, OUTPUTS, SHELL
from compiler.options import Known, Level, Options, Place, Problems, Wrong, placed, places_within, read_options
from compiler.scenarios import Scenario, read_scenarios
from compiler.source import Source, Span, Spans, below

if TYPE_CHECKING:
    from compiler.yaml_text import Reading


class Frontmatter(Struct, frozen=True):
    """The values, the options and scenarios among them, and the line on which the document goes on.

    `declared` is what stands beyond the specification, as far as nothing is wrong with it.
    """

    values: Mapping[str, Any]
    options: Options
    next_line: int
    scenarios: tuple[Scenario, ...] = ()
    declared: Declarations = Declarations()


def read_frontmatter(source: Source) -> tuple[Frontmatter, list[Diagnostic]]:
    """The frontmatter at the first line of a source, empty if there is none, with what is wrong in it."""
    read, next_line, broken = read_block(source)
    if read is None:
        return Frontmatter({}, Options(), next_line), broken
    found = _metadata_problems(source, read.values, read.spans)
    options, declared, problems = _options(source, read)
    scenarios, errors = _scenarios(source, read, None if problems else declared)
    return Frontmatter(read.values, options, next_line, scenarios, declared), [*found, *problems, *errors]


def _metadata_problems(source: Source, values: Mapping[str, Any], spans: Spans) -> list[Diagnostic]:
    """Metadata of a wrong type is ignored, but not silently."""
    texts = ("name", "description", "version", "author")
    wrong = [key for key in texts if isinstance(values.get(key), (list, dict))]
    found = [_ignored(source, spans[(key,)], key, "a string") for key in wrong]
    tags = values.get("tags", [])
    if not isinstance(tags, list) or any(isinstance(tag, (list, dict)) for tag in tags):
        found.append(_ignored(source, spans[("tags",)], "tags", "a list of strings"))
    return found


def _ignored(source: Source, span: Span, key: str, form: str) -> Diagnostic:
    problem = f"`{key}` in the frontmatter is not {form}, and is ignored"
    return Diagnostic("RD012", source.path, span, problem, f"give {form}, or leave the key out")


STEPS = "steps"
"""Settings of steps: some are for the compiler, some go on to the targets as a table of that name (E3)."""


def _options(source: Source, read: Reading) -> tuple[Options, Declarations, list[Diagnostic]]:
    """The options for rdc and its targets, and what is declared, with what is wrong in them."""
    if "rdc" not in read.values:
        return Options(), Declarations(), []
    place, spans = Place("RD013", source.path, read.spans[("rdc",)]), below(read.spans, "rdc")
    plain, known = read.values["rdc"], Known(OPTIONS, Level.DOCUMENT)
    if not isinstance(plain, Mapping):
        options, found = read_options(plain, place, spans, known)
        return options, Declarations(), found
    given = _with_texts(read, plain)
    repeated = list(_repeated(read, place)) if given is not plain else []
    options, found = read_options({key: value for key, value in given.items() if key != STEPS}, place, spans, known)
    declared = Declarations(
        INPUTS.first(options.values) or (),
        OUTPUTS.first(options.values) or {},
        SECRETS.first(options.values) or {},
        shell=SHELL.first(options.values) or "",
    )
    found += repeated
    if STEPS not in given:
        return options, declared, found
    from compiler.frontends.rundown.beyond.settings import read_steps, table_for_targets  # noqa: PLC0415 (few have it)

    places = places_within(place, spans)[STEPS]
    steps = read_steps(given[STEPS], places)
    if isinstance(steps, Wrong | Problems):
        return options, declared, [*found, *placed([steps] if isinstance(steps, Wrong) else steps, places)]
    table = table_for_targets(plain[STEPS], places)
    targets = {**options.targets, **({STEPS: table} if table else {})}
    return Options(options.values, targets), replace(declared, steps=steps, for_targets=table), found


def _with_texts(read: Reading, plain: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options, with those that want it as their author wrote them: a version 1.10 stays 1.10 (E1)."""
    wanted = {STEPS, *(option.name for option in OPTIONS if option.as_written)} & plain.keys()
    if not wanted:
        return plain
    written = read.as_written["rdc"]
    return {key: written[key] if key in wanted else value for key, value in plain.items()}


def _repeated(read: Reading, place: Place) -> Iterator[Diagnostic]:
    """Names that are declared twice: YAML forgets the first, and a run would lack what was said there (E1 to E3)."""
    names = {STEPS, *(option.name for option in OPTIONS if option.as_written)}
    for key in read.repeated:
        path = key.path
        if path[0] == "rdc" and len(path) > 1 and path[1] in names:
            problem = f"`{path[-1]}` is twice in `{path[-2]}`, and only the last would count"
            yield replace(place, span=key.span).finding(problem, "make one of the two, or give one another name")


def _scenarios(
    source: Source, read: Reading, declared: Declarations | None
) -> tuple[tuple[Scenario, ...], list[Diagnostic]]:
    """The scenarios, with what is wrong in their form (S1)."""
    if "scenarios" not in read.values:
        return (), []
    keys, spans = scenario_keys(source.name, declared), below(read.spans, "scenarios")
    scenarios, problems = read_scenarios(_with_inputs(read), spans, keys)
    remedy = "a scenario has `commands`, `result` and, if you like, `inputs` and `description`: see `rdc explain RD013`"
    return scenarios, [Place("RD013", source.path, problem.span).finding(problem.text, remedy) for problem in problems]


def _with_inputs(read: Reading) -> object:
    """The scenarios as plain values, with inputs as their author wrote them."""
    plain = read.values["scenarios"]
    if not isinstance(plain, Mapping) or not any(map(_has_inputs, plain.values())):
        return plain
    written = read.as_written["scenarios"]
    return {
        name: {**one, "inputs": written[name]["inputs"]} if _has_inputs(one) else one for name, one in plain.items()
    }


def _has_inputs(scenario: object) -> bool:
    return isinstance(scenario, Mapping) and "inputs" in scenario
