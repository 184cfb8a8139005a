"""The option `bind`: where an input has its value from in a run that is given none (E1).

That is a field of the event that starts the run, a fixed text, or what a command says before the run begins.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from backends.base import OptionFinding
from backends.github.events import events_with
from backends.github.options import Bound, GithubOptions
from compiler.diagnostic import Diagnostic
from compiler.ir.program import Input, Program
from compiler.ir.wellformed import input_problems
from compiler.source import KeyPath
from compiler.suggestions import did_you_mean

_GIVING = frozenset({"workflow_dispatch", "workflow_call"})
"""The events that give inputs by themselves; a workflow that is called has the event of its caller too."""


def with_fixed(program: Program, options: GithubOptions) -> Program:
    """A program in which the fixed texts of the option are the defaults of their inputs."""
    fixed = {name: options.fixed(name) for name in options.bind if options.is_fixed(name)}
    if not fixed:
        return program
    inputs = (
        replace(declared, default=fixed[declared.name]) if declared.name in fixed else declared
        for declared in program.inputs
    )
    return replace(program, inputs=tuple(inputs))


def unfit_bindings(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """What the option binds that cannot be: an input that there is not, a field that no event has, a wrong value."""
    inputs = {declared.name: declared for declared in program.inputs}
    events = set(options.triggers())
    for name, value in options.bind.items():
        if name not in inputs:
            problem = f"`bind` names {name}, and the document has no such input{did_you_mean(name, inputs)}"
            yield _finding(program, ("bind", name), "RD013", problem, "write the name of a declared input")
        elif options.is_of_event(name) and not events & {*_events(options, name), "workflow_call"}:
            said = ", ".join(f"`{event}`" for event in sorted(events))
            problem = f"`bind` takes {name} from `{value}`, which no event of `on` has: {said}"
            remedy = f"add {' or '.join(f'`{event}`' for event in sorted(_events(options, name)))} to `on`"
            yield _finding(program, ("bind", name), "RD013", problem, remedy)
        elif options.is_fixed(name) and (wrong := _wrong(inputs[name], options.fixed(name))):
            problem = f"`bind` gives {name} the value `{options.fixed(name)}`: {wrong}"
            yield _finding(program, ("bind", name), "RD013", problem, "write a value that fits the input")
    yield from _without_source(with_fixed(program, options), options, events)


def _wrong(declared: Input, value: str) -> str:
    return next((problem for _, problem in input_problems(replace(declared, default=value))), "")


def _events(options: GithubOptions, name: str) -> frozenset[str]:
    return events_with(options.event_field(name)) or frozenset()


def _without_source(program: Program, options: GithubOptions, events: set[str]) -> Iterator[Diagnostic]:
    """Required inputs that some event of `on` leaves without a value."""
    for declared in program.inputs:
        if not declared.required or declared.default is not None or isinstance(options.bind.get(declared.name), Bound):
            continue
        given = _GIVING | (_events(options, declared.name) if options.is_of_event(declared.name) else frozenset())
        lacking = sorted(events - given)
        if lacking:
            problem = f"the input `{declared.name}` is required, and the event `{lacking[0]}` gives it no value"
            remedy = (
                "give the input a default, bind it by the option `bind`, such as "
                f"`bind: {{{declared.name}: event.issue.title}}`, or start the workflow by hand alone"
            )
            yield _finding(program, ("on",), "RD534", problem, remedy)


def _finding(program: Program, option: KeyPath, code: str, problem: str, remedy: str) -> Diagnostic:
    return OptionFinding(code, program.sources[0].path, None, problem, remedy, option=option)
