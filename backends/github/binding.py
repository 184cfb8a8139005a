"""The option `bind`: where an input gets its value if the run is given none (E1).

A value is a field of the event that starts the run, a fixed string, or the output of a command that runs first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from msgspec.structs import replace

from backends.base import about_option
from backends.github.events import events_with, example_field
from backends.github.options import Bound, GithubOptions
from compiler.diagnostic import Diagnostic
from compiler.ir.program import Input, Program
from compiler.ir.wellformed import input_problems
from compiler.suggestions import did_you_mean

_GIVING = frozenset({"workflow_dispatch", "workflow_call"})
"""Events whose runs have inputs. A called workflow also has the event of its caller."""


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
    return next((problem for _, problem in input_problems(replace(declared, default=value))), "")


def _events(options: GithubOptions, name: str) -> frozenset[str]:
    return events_with(options.event_field(name)) or frozenset()


def _without_source(program: Program, options: GithubOptions, events: set[str]) -> Iterator[Diagnostic]:
    """Report required inputs that an event in `on` leaves without a value."""
    for declared in program.inputs:
        if not declared.required or declared.default is not None or isinstance(options.bind.get(declared.name), Bound):
            continue
        given = _GIVING | (_events(options, declared.name) if options.is_of_event(declared.name) else frozenset())
        lacking = sorted(events - given)
        if lacking:
            problem = f"the event `{lacking[0]}` gives the required input `{declared.name}` no value"
            remedy = (
                f"give the input a default, {_by_bind(declared, events - _GIVING)}, or use only the event "
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
