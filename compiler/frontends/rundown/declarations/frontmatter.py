"""Read the YAML frontmatter of a document."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.issues import InvalidError, OptionSource, diagnostics, duplicate_options
from compiler.diagnostics.model import Diagnostic, Issue
from compiler.frontends.common.names import RULES, SECRETS, text_issue
from compiler.frontends.rundown import INPUTS, OPTIONS, OUTPUTS, SHELL
from compiler.frontends.rundown.declarations.steps import read_steps, table_for_targets
from compiler.frontends.rundown.syntax import Declarations
from compiler.project.options import Known, Level, Options, places_within, read_options, with_texts
from compiler.reading.frontmatter import read_block
from compiler.scenarios.model import Event, Goto, InvalidEvent, Keys, Locate, Reply, Scenario, Script, read_scenarios
from compiler.text.regex import Regex
from compiler.text.source import STANDARD_INPUT, Source, Span, Spans, below
from runtime_shim.values.fitting import unfit

if TYPE_CHECKING:
    from compiler.reading.yaml import Reading


class Frontmatter(Struct, frozen=True):
    """The frontmatter's values, options, scenarios, and declarations without errors, and the next line after it."""

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
    found = _metadata_diagnostics(source, read.values, read.spans)
    options, declared, problems = _options(source, read)
    scenarios, errors = _scenarios(source, read, None if problems else declared)
    return Frontmatter(read.values, options, next_line, scenarios, declared), [*found, *problems, *errors]


def _metadata_diagnostics(source: Source, values: Mapping[str, Any], spans: Spans) -> list[Diagnostic]:
    """Warn about metadata that is ignored because of its type, and about options that are not below `rdc`."""
    texts = ("name", "description", "version", "author")
    wrong = [key for key in texts if isinstance(values.get(key), (list, dict))]
    found = [_ignored(source, spans[(key,)], key, "a string") for key in wrong]
    tags = values.get("tags", [])
    if not isinstance(tags, list) or any(isinstance(tag, (list, dict)) for tag in tags):
        found.append(_ignored(source, spans[("tags",)], "tags", "a list of strings"))
    misplaced = [key for key in (*(option.name for option in OPTIONS), STEPS) if key in values]
    for key in misplaced:
        problem = f"`{key}` has no effect here: it is an option of rdc"
        remedy = f"move it below `rdc`: `rdc: {{{key}: …}}`"
        found.append(Diagnostic("RD012", source.path, spans[(key,)], problem, remedy))
    return found


def _ignored(source: Source, span: Span, key: str, form: str) -> Diagnostic:
    problem = f"`{key}` in the frontmatter is ignored because it is not {form}"
    return Diagnostic("RD012", source.path, span, problem, f"write {form}, or remove the key")


STEPS = "steps"
"""The key of step settings; some are for the compiler, others go to the targets as a table of this name (E3)."""


def _options(source: Source, read: Reading) -> tuple[Options, Declarations, list[Diagnostic]]:
    if "rdc" not in read.values:
        return Options(), Declarations(), []
    place, spans = OptionSource("RD013", source.path, read.spans[("rdc",)]), below(read.spans, "rdc")
    plain, known = read.values["rdc"], Known(OPTIONS, Level.DOCUMENT)
    if not isinstance(plain, Mapping):
        options, found = read_options(plain, place, spans, known)
        return options, Declarations(), found
    names, written = {STEPS, *(option.name for option in OPTIONS if option.as_written)}, read.as_written["rdc"]
    # Some values are as the author wrote them, so that version 1.10 stays 1.10.
    given = {key: with_texts(value, written[key], is_text=key in names) for key, value in plain.items()}
    once = {*names, RULES.name}
    repeated = (key for key in read.repeated if key.path[0] == "rdc" and not once.isdisjoint(key.path[1:2]))
    options, found = read_options({key: value for key, value in given.items() if key != STEPS}, place, spans, known)
    declared = Declarations(
        INPUTS.first(options.values) or (),
        {**_unread(given, options, place), **(OUTPUTS.first(options.values) or {})},
        SECRETS.first(options.values) or {},
        shell=SHELL.first(options.values) or "",
        rules=RULES.first(options.values) or (),
    )
    found += duplicate_options(source, repeated)
    if STEPS not in given:
        return options, declared, found
    places = places_within(place, spans)[STEPS]
    try:
        steps = read_steps(given[STEPS], places)
    except InvalidError as error:
        asked = replace(declared, outputs={**dict.fromkeys(_asked(given[STEPS]), place), **declared.outputs})
        return options, asked, [*found, *diagnostics(error.issues, places)]
    table = table_for_targets(plain[STEPS], places)
    targets = {**options.targets, **({STEPS: table} if table else {})}
    declared = replace(declared, steps=steps, for_targets=table)
    declared = replace(declared, outputs={**declared.asked, **declared.outputs})
    return Options(options.values, targets), declared, found


def _unread(given: Mapping[str, Any], options: Options, place: OptionSource) -> dict[str, OptionSource]:
    """Return the names in declarations with an error: no one needs to declare them again."""
    values = [given.get(option.name) for option in (INPUTS, OUTPUTS) if option.name not in options.values]
    return {str(name): place for value in values if isinstance(value, Mapping | list) for name in value}


def _asked(steps: object) -> list[str]:
    """Return the outputs that questions ask for, in settings with an error."""
    settings = steps.values() if isinstance(steps, Mapping) else ()
    asks = [setting.get("asks") for setting in settings if isinstance(setting, Mapping)]
    names = (one.get("output") if isinstance(one, Mapping) else one for one in asks)
    return [name for name in names if isinstance(name, str)]


Commands = tuple[tuple[Scenario, ...], list[Diagnostic]]


def _scenarios(source: Source, read: Reading, declared: Declarations | None) -> Commands:
    if "scenarios" not in read.values:
        return (), []
    content = _with_inputs(read.values["scenarios"], read.as_written["scenarios"])
    return read_commands(source, source.name, content, below(read.spans, "scenarios"), declared)


def read_file(file: Source, document: str, read: Reading, spans: Spans, declared: Declarations | None) -> Commands:
    """Return the scenarios in the companion file of a document, and the problems with their form."""
    return read_commands(file, document, _with_inputs(read.values, read.as_written), spans, declared)


def read_commands(
    source: Source, document: str, content: object, spans: Spans, declared: Declarations | None
) -> Commands:
    """Return the scenarios in a plain value, whose commands run a document, and the problems with their form."""
    scenarios, issues = read_scenarios(content, spans, scenario_keys(document, declared))
    remedy = "a scenario has `commands`, `result` and optionally `inputs` and `description`; see `rdc explain RD013`"
    return scenarios, diagnostics(issues, OptionSource("RD013", source.path, None).around(spans), remedy=remedy)


def _with_inputs(plain: object, written: Mapping[str, Any]) -> object:
    if not isinstance(plain, Mapping):
        return plain
    having = [name for name, one in plain.items() if isinstance(one, Mapping) and "inputs" in one]
    return {**plain, **{name: {**plain[name], "inputs": written[name]["inputs"]} for name in having}}


GOTO = "rd goto"

_WORDS: Mapping[str, str] = {**dict.fromkeys(("pass", "yes", "ok"), "pass"), **dict.fromkeys(("fail", "no"), "fail")}
"""The word after `rd` in a reply, and its outcome."""


def scenario_keys(document: str, declared: Declarations | None = None) -> Keys:
    """Return the keys of the scenarios of a file, which they must run; `declared` is None if it is unknown."""
    return Keys(frozenset({"commands", "inputs"}), partial(_read, document, declared))


def _read(document: str, declared: Declarations | None, content: Mapping[str, object], locate: Locate) -> Script:
    lines, inputs = content.get("commands"), content.get("inputs") or {}
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise InvalidError(Issue(("commands",), "`commands` must be a list of strings"))
    if not isinstance(inputs, Mapping):
        raise InvalidError(Issue(("inputs",), "`inputs` must be a mapping of names to values"))
    script, output = _script(document, lines, locate)
    given = [*(Given(str(name), value, locate(("inputs", str(name)))) for name, value in inputs.items()), *output]
    problems = tuple(unfit_inputs(declared, given, locate(("commands", "0")))) if declared else ()
    fitting = {item.name: item.value for item in given if isinstance(item.value, str)}
    return replace(script, replies=(*problems, *script.replies), inputs=fitting)


def _script(document: str, lines: list[str], locate: Locate) -> tuple[Script, list[Given]]:
    """Return the events after the first command and the inputs of that command, skipping lines with only a comment."""
    read = [(line, _words(line), locate(("commands", str(number)))) for number, line in enumerate(lines)]
    read = [(line, words, span) for line, words, span in read if words != []]
    if not read:
        return Script((InvalidEvent("there is no `rd run` to start the run", locate(("commands",))),)), []
    (_, first, span), *rest = read
    found = _parted(first or [], "--input")
    given, words = found or ([], first or [])
    problem = _run_issue(words, document) if found else "`--input` needs NAME=VALUE"
    begun = (InvalidEvent(problem, span),) if problem else ()
    events = tuple(_event(line, words, span) for line, words, span in rest)
    return Script((*begun, *events), prompted="--prompted" in words), [Given(*pair, span) for pair in given]


def _parted(words: list[str], flag: str) -> tuple[list[tuple[str, str]], list[str]] | None:
    """Return the values of a NAME=VALUE flag and the other words, or None if a value has another form."""
    given: list[tuple[str, str]] = []
    others: list[str] = []
    left = iter(words)
    for word in left:
        if word != flag and not word.startswith(f"{flag}="):
            others.append(word)
            continue
        name, equals, value = (next(left, "") if word == flag else word.removeprefix(f"{flag}=")).partition("=")
        if not (name and equals):
            return None
        given.append((name, value))
    return given, others


_COMMENT = Regex(r"""(?P<quoted>"[^"]*"|'[^']*')|(?<!\S)#.*""", re.DOTALL)
"""Matches a comment, which starts with an unquoted `#` at the start of a word, or a quoted string."""


def _words(line: str) -> list[str] | None:
    """Return a command's words without its comment, or None for several lines or an unclosed quote."""
    if "\n" in line.strip():
        return None
    try:
        return shlex.split(_COMMENT.sub(lambda found: found["quoted"] or "", line))
    except ValueError:
        return None


def _run_issue(words: list[str], document: str) -> str:
    """Return the problem with the first command, which must be `rd run [--prompted] FILE`."""
    if words[:2] != ["rd", "run"]:
        return "the first command must be `rd run [--prompted] FILE`"
    unknown = [word for word in words[2:] if word.startswith("-") and word != "--prompted"]
    if unknown:
        return f"`rd run` has no option `{unknown[0]}` in a scenario, only --prompted and --input"
    files = [word for word in words[2:] if word != "--prompted"]
    if len(files) != 1:
        return f"`rd run` needs exactly one file, found {len(files)}"
    name = posixpath.basename(files[0])
    if posixpath.basename(document) not in {name, STANDARD_INPUT}:
        return f"`rd run` must run this document, not `{name}`"
    return ""


def _event(line: str, words: list[str] | None, span: Span | None) -> Event:
    found = _parted(words or [], "--value")
    if found is None:
        return InvalidEvent("`--value` needs NAME=VALUE", span)
    values, words = found[0], found[1] if words else None
    if values and words and words[1:2] != ["run"] and any(map(text_issue, dict(values).values())):
        return InvalidEvent(f"the output in `{line.strip()}` is too long or is not a valid string", span)
    if values and words and words[1:2] in (["run"], ["goto"]):
        words = None
    match words:
        case ["rd", answer] if answer in _WORDS:
            return Reply(None, _WORDS[answer], tuple(values), span if values else None)
        case ["rd", "goto", step]:
            return Goto(step, span, GOTO)
        case ["rd", "run", *_]:
            return InvalidEvent("second `rd run`; a scenario has only one run", span)
        case _:
            return InvalidEvent(f"`{line.strip()}` must be `rd pass|yes|ok`, `rd fail|no` or `rd goto ID`", span)


class Given(Struct, frozen=True):
    """The value of an input as written, with its place."""

    name: str
    value: object
    span: Span | None


def unfit_inputs(declared: Declarations, given: Sequence[Given], begin: Span | None) -> Iterator[InvalidEvent]:
    """Yield the problems with one scenario's inputs; `begin` is the place of its run."""
    inputs = {item.input.name: item.input for item in declared.inputs}
    for one in given:
        if one.name not in inputs:
            listed = f"the inputs are {', '.join(inputs)}" if inputs else "the document declares no inputs"
            yield InvalidEvent(
                f"there is no input `{one.name}`; {listed}",
                one.span,
                "remove it, or declare it under `rdc: {inputs: …}`",
            )
            continue
        known, problem = inputs[one.name], text_issue(one.value)
        if problem := problem or unfit(str(one.value), known.type, known.options, known.pattern):
            output = f"the value of input `{one.name}` is not valid: {problem}"
            yield InvalidEvent(output, one.span, "change the value")
    missing = [name for name, item in inputs.items() if item.required and item.default is None]
    for name in missing:
        if name not in {item.name for item in given}:
            remedy = f"add `inputs: {{{name}: VALUE}}` to the scenario, or `--input {name}=VALUE` to its `rd run`"
            yield InvalidEvent(f"input `{name}` has no default, and the scenario gives no value", begin, remedy)
