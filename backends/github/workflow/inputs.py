"""Declared inputs as typed workflow inputs, which one of the first steps checks (I8), and the option `bind`."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from backends.base import about_option
from backends.common.identifiers import identifiers
from backends.common.templates import render
from backends.github.options.model import Bound, GithubOptions
from backends.github.options.triggers import can_be_long, events_with, example_field
from backends.github.workflow.filling import as_file
from backends.github.yaml.model import PLAIN_SHELL, Limit, Step
from backends.github.yaml.scalar import FILTERS, OPEN, Expression, label
from compiler.diagnostics.model import Diagnostic
from compiler.ir.program import Input, Program
from compiler.ir.verify_tasks import input_issues
from compiler.text.regex import Regex
from compiler.text.suggestions import did_you_mean

_NAME = Regex(r"[A-Za-z_][A-Za-z0-9_-]*")
GIVING = frozenset({"workflow_dispatch", "workflow_call"})
"""Events whose runs have inputs. A called workflow also has the event of its caller."""

_PATIENCE = 10  # minutes for a command that prints the value of an input

_LONGEST_FIELD = 130_000  # in bytes; Linux limits a variable and its name to 128 KiB

_BOUND_SHELL = (
    r'bash -c "set -o pipefail; word=$(od -An -N16 -tx8 /dev/urandom | tr -d \" \"); echo \"::stop-commands::$word\"; '
    r"unset GITHUB_ENV GITHUB_PATH GITHUB_OUTPUT GITHUB_STATE; mkdir -p \"$RUNNER_TEMP/rdc-bound\" && "
    r"bash \"$0\" | head -c 1048577 > \"$RUNNER_TEMP/rdc-bound/%d\"; "
    r'code=$?; printf \"\n::%%s::\n\" \"$word\"; exit $code" {0}'
)
"""Captures a script's output. Longer output than an input allows is truncated, and then refused.

Other lines in the log are not commands to the runner, and the script has no file for passing values to later steps.
"""

_NO_EVENTS: Mapping[str, Any] = MappingProxyType({})


def input_names(inputs: Sequence[Input], events: Mapping[str, Any] = _NO_EVENTS) -> dict[str, str]:
    """Return each input's name on GitHub: its own name where that is valid and unique among all inputs."""
    taken = {name for event in GIVING for name in (events.get(event) or {}).get("inputs") or {}}
    others = [name.lower() for name in taken] + [declared.name.lower() for declared in inputs]
    plain = {
        declared.name: declared.name
        for declared in inputs
        if _NAME.fullmatch(declared.name) and others.count(declared.name.lower()) == 1
    }
    rest = ((declared.name, declared.name) for declared in inputs if declared.name not in plain)
    found = plain | identifiers(rest, (*plain.values(), *taken))
    return {declared.name: found[declared.name] for declared in inputs}


def given(
    inputs: tuple[Input, ...], events: Mapping[str, Any], options: GithubOptions, variables: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment that passes input values to the checking step. `variables` has the ends of their names."""
    names = input_names(inputs, events)
    sources = {item.name: _source(item, names[item.name], events, options) for item in inputs}
    return {f"RDC_INPUT_{variables[name]}": Expression(f"${{{{ {sources[name]} }}}}") for name in names}


def _source(declared: Input, name: str, events: Mapping[str, Any], options: GithubOptions) -> str:
    """Return the expression for an input's value: what the run is given, or the event field that it is bound to."""
    # The `false` of a form is a value too, so it becomes a string before the event is used.
    if not options.is_of_event(declared.name):
        return f"inputs.{name}"
    field = f"github.event.{options.event_field(declared.name)}"
    if not _gives(events):
        return field
    return f"format('{{0}}', inputs.{name}) || {field}" if declared.type == "boolean" else f"inputs.{name} || {field}"


def measured(
    inputs: Sequence[Input], events: Mapping[str, Any], options: GithubOptions, *, waits: bool
) -> Iterator[Step]:
    """Yield the step that refuses event fields that are too long for a variable; none if all are short."""
    found = [item for item in inputs if options.is_of_event(item.name) and can_be_long(options.event_field(item.name))]
    if not found:
        return
    names = input_names(inputs, events)
    fields = {names[item.name]: options.event_field(item.name) for item in found}
    asked = "".join(f"${{{{ !inputs.{name} && '{field} ' || '' }}}}" for name, field in fields.items())
    yield Step(
        name="Measure the event",
        comments=("Stops the run if an event field is too long for the steps below.",),
        condition="${{ !inputs.resume }}" if waits else "",
        shell=PLAIN_SHELL,
        env={"FIELDS": Expression(asked) if _gives(events) else " ".join(fields.values()), "MOST": str(_LONGEST_FIELD)},
        run=render("github/event.sh"),
    )


def taken(inputs: tuple[Input, ...], events: Mapping[str, Any], options: GithubOptions) -> Step:
    """Return the step that checks input values and makes variables of them for later steps.

    Variables contain the names and types of the inputs, so the script has nothing from the document.
    """
    env = given(inputs, events, options, {item.name: item.name for item in inputs})
    declared = ""
    for item in inputs:
        own = item.name
        need = "default" if item.default is not None else "required" if item.required else "optional"
        declared += f"{own} {item.type} {need}\n"
        env |= {f"RDC_DEFAULT_{own}": item.default} if item.default is not None else {}
        env |= {f"RDC_OPTIONS_{own}": "\n".join(item.options)} if item.options else {}
        rule = as_ere(item.pattern or "")
        if item.pattern is not None:
            env |= {f"RDC_RULE_{own}": rule} if rule else {f"RDC_PATTERN_{own}": item.pattern}
    rules, patterns = (any(name.startswith(f"RDC_{kind}_") for name in env) for kind in ("RULE", "PATTERN"))
    types = {item.type for item in inputs}
    script = render("github/inputs.sh", FILTERS, rules=rules, patterns=patterns, types=types, typed=types != {"text"})
    return Step(
        name="Check the inputs",
        comments=("Checks the inputs and passes them to the steps below as variables.",),
        shell=PLAIN_SHELL,
        env={"RDC_INPUTS": declared, **env},
        run=script,
    )


def said(inputs: Iterable[Input], events: Mapping[str, Any], options: GithubOptions, *, waits: bool) -> Iterator[Step]:
    """Yield the steps whose commands print input values; none for an input with a value. They get no secrets."""
    found = list(inputs)
    names = input_names(found, events)
    for number, declared in enumerate(found, 1):
        bound = options.bind.get(declared.name)
        if not isinstance(bound, Bound):
            continue
        tests = [
            *(["!inputs.resume"] if waits else ()),
            *([f"!inputs.{names[declared.name]}"] if _gives(events) else ()),
        ]
        yield Step(
            name=label(f"Get {declared.name}"),
            comments=("Its output is the value of this input, unless the run is given one.",),
            condition=f"${{{{ {' && '.join(tests)} }}}}" if tests else "",
            limit=Limit(_PATIENCE),
            shell=_BOUND_SHELL % number,
            run=as_file(bound.run),
        )


def _gives(events: Mapping[str, Any]) -> bool:
    return any(event in events for event in GIVING)


def with_declared(events: Mapping[str, Any], inputs: tuple[Input, ...]) -> dict[str, Any]:
    """Return the events with the declared inputs, for runs by hand and calls from other workflows."""
    found = dict(events)
    names = input_names(inputs, events)
    for event in GIVING:
        if event in found and inputs:
            declaration = dict(found[event] or {})
            is_continued = event == "workflow_dispatch" and "resume" in (declaration.get("inputs") or {})
            own = {names[declared.name]: _declared(declared, event, is_continued) for declared in inputs}
            found[event] = declaration | {"inputs": {**(declaration.get("inputs") or {}), **own}}
    return found


def _declared(declared: Input, event: str, is_continued: bool) -> dict[str, Any]:
    """Return an input's declaration for GitHub."""
    # A number is a `string`, because GitHub turns 1.50 into 1.5 and 0 into an empty value. An optional boolean or
    # choice is a string for a similar reason: a form preselects the first option. A called workflow has no choices. A
    # run that continues another gets no inputs, so GitHub must not require any; the first step requires them instead.
    declaration: dict[str, Any] = {"description": label(declared.description or declared.name), "type": "string"}
    has_value = declared.required or declared.default is not None
    if declared.type == "boolean" and has_value:
        declaration["type"] = "boolean"
    is_form = event == "workflow_dispatch" and has_value
    if declared.type == "choice" and is_form and not any(OPEN in item for item in declared.options):
        declaration |= {"type": "choice", "options": list(declared.options)}
    if declared.default is not None and OPEN not in declared.default and "\0" not in declared.default:
        declaration["default"] = declared.default == "true" if declaration["type"] == "boolean" else declared.default
    elif declared.required and declared.default is None and not is_continued:
        declaration["required"] = True
    return declaration


_CLASS = r"\[[A-Za-z0-9_.@+/ ](?:[A-Za-z0-9_.@+/ ]|-(?=[A-Za-z0-9\]]))*\]"
_TOKEN = Regex(
    r"(?P<plain>[A-Za-z0-9_ /:@,=~%&<>!#'\"-])"
    rf"|(?P<class>{_CLASS})"
    r"|\\(?P<escaped>[].+*?(){}|/^$\\[-])"
    r"|(?P<opens>\((?:\?:)?(?=[^|)*+?{]))"
    r"|(?P<closes>(?<![(|])\))"
    r"|(?P<other>(?<![(|])\|(?=[^|)]))"
    r"|(?P<times>[*+?](?![*+?{])|\{[0-9]{1,2}(?:,(?:[0-9]{1,2})?)?\}(?![*+?{]))"
)
_SPECIAL = frozenset("].+*?(){}|^$\\[")


def as_ere(pattern: str) -> str | None:
    """Return the pattern as a POSIX extended regular expression, or None if its meaning might differ."""
    if not pattern or pattern.startswith("|") or pattern.endswith("|"):
        return None
    found, place = "", 0
    while place < len(pattern):
        match = _TOKEN.match(pattern, place)
        if match is None:
            return None
        found += _written(match)
        place = match.end()
    return found


def _written(match: re.Match[str]) -> str:
    if match["escaped"]:
        return f"\\{match['escaped']}" if match["escaped"] in _SPECIAL else match["escaped"]
    return "(" if match["opens"] else match[0]


def with_fixed(program: Program, options: GithubOptions) -> Program:
    """Return the program with the fixed values of `bind` as the defaults of their inputs."""
    fixed = {name: options.fixed(name) for name in options.bind if options.is_fixed(name)}
    if not fixed:
        return program
    inputs = (
        replace(declared, default=fixed[declared.name]) if declared.name in fixed else declared
        for declared in program.inputs
    )
    return replace(program, inputs=tuple(inputs))


def unfit_bindings(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """Report bindings of unknown inputs, of fields that no event in `on` has, and of invalid values."""
    inputs = {declared.name: declared for declared in program.inputs}
    events = set(options.triggers())
    for name, value in options.bind.items():
        if name not in inputs:
            problem = f"`bind` names the input {name}, which the document does not declare{did_you_mean(name, inputs)}"
            yield about_option(program, ("bind", name), "RD013", problem, "name a declared input")
        elif options.is_of_event(name) and not events & {*_events(options, name), "workflow_call"}:
            found = ", ".join(f"`{event}`" for event in sorted(events))
            problem = f"`bind` reads {name} from `{value}`, but no event in `on` has this field: {found}"
            remedy = f"add {' or '.join(f'`{event}`' for event in sorted(_events(options, name)))} to `on`"
            yield about_option(program, ("bind", name), "RD013", problem, remedy)
        elif options.is_fixed(name) and (wrong := _wrong(inputs[name], options.fixed(name))):
            problem = f"`bind` sets {name} to `{options.fixed(name)}`, which is not valid: {wrong}"
            yield about_option(program, ("bind", name), "RD013", problem, "set a valid value")
    yield from _without_source(with_fixed(program, options), options, events)


def _wrong(declared: Input, value: str) -> str:
    return next((problem for _, problem in input_issues(replace(declared, default=value))), "")


def _events(options: GithubOptions, name: str) -> frozenset[str]:
    return events_with(options.event_field(name)) or frozenset()


def _without_source(program: Program, options: GithubOptions, events: set[str]) -> Iterator[Diagnostic]:
    for declared in program.inputs:
        if not declared.required or declared.default is not None or isinstance(options.bind.get(declared.name), Bound):
            continue
        given = GIVING | (_events(options, declared.name) if options.is_of_event(declared.name) else frozenset())
        lacking = sorted(events - given)
        if lacking:
            problem = f"the event `{lacking[0]}` gives the required input `{declared.name}` no value"
            remedy = (
                f"give the input a default, {_by_bind(declared, events - GIVING)}, or use only the event "
                "`workflow_dispatch`"
            )
            yield about_option(program, ("on",), "RD534", problem, remedy)


def _by_bind(declared: Input, events: set[str]) -> str:
    """Return how to set an input with `bind`: from a field that all these events have, or to a fixed value."""
    if declared.type in ("string", "text") and (field := example_field(events)):
        return f"set it with the option `bind` (for example `bind: {{{declared.name}: {field}}}`)"
    value = {"number": "1", "boolean": "true", "choice": "".join(declared.options[:1])}.get(declared.type, "main")
    written = json.dumps(value) if declared.type == "choice" else value
    example = "" if _wrong(declared, value) else f" (for example `bind: {{{declared.name}: {written}}}`)"
    return f"set it to a fixed value with the option `bind`{example}"
