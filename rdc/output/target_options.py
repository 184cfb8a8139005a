"""Checks the options in documents and in the project's configuration against the targets."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from backends.base import Backend
from backends.registry import is_target, load, names
from compiler.diagnostics.issues import InvalidError, diagnostics
from compiler.diagnostics.model import Diagnostic, Issue
from compiler.frontends import all_options
from compiler.ir.program import Program
from compiler.project.options import TargetOptions
from compiler.text.suggestions import nearest_name

STEPS = "steps"
"""The settings of single steps are next to the tables of targets. Targets with this option receive them."""


def table_of(backend: Backend[Any], tables: Mapping[str, TargetOptions]) -> TargetOptions:
    """Return the options of a target, including settings of steps if it supports them."""
    table, steps = tables.get(backend.name, TargetOptions()), tables.get(STEPS)
    if steps is None or STEPS not in backend.options.model_fields:
        return table
    places = {(STEPS, *path): place for path, place in steps.places.items()}
    return table.over(TargetOptions({STEPS: dict(steps.values)}, places))


def check_tables(tables: Mapping[str, TargetOptions], program: Program | None) -> list[Diagnostic]:
    """Return problems in the tables of all targets. The command line may still add missing options.

    The backends' own cautions about options need the program.
    """
    found = list(check_names(tables))
    for name in names() if STEPS in tables else filter(is_target, tables):
        table = table_of(load(name), tables)
        if table.values:
            wrong = _issues(load(name), table.values)
            if program and not wrong:
                cautions = load(name).cautions(program, load(name).options.validated(table.values))
                found += [one.placed(table) for one in cautions]
            found += _placed(name, table, [item for item in wrong if not item.path or item.path[0] in table.values])
    return found


def check_options(backend: Backend[Any], table: TargetOptions, given: Mapping[str, object]) -> list[Diagnostic]:
    """Return problems in a target's table, overridden by the options of the command line.

    Raises:
        InvalidError: A problem is not in a table.
    """
    wrong = _issues(backend, {**table.values, **given})
    elsewhere = [item for item in wrong if item.path[:1] in [(name,) for name in given] or not table.places]
    if elsewhere:
        raise InvalidError(*elsewhere)
    return _placed(backend.name, table, wrong)


def check_words(backend: Backend[Any], words: Mapping[str, str]) -> Mapping[str, object]:
    """Return the options of the command line as plain values; raises `InvalidError` if one is wrong in any case."""
    given: Mapping[str, object] = backend.options.from_words(words)
    wrong = [item for item in _issues(backend, given) if item.path and item.path[0] in given]
    if wrong:
        raise InvalidError(*wrong)
    return given


def _issues(backend: Backend[Any], options: Mapping[str, object]) -> tuple[Issue, ...]:
    try:
        backend.options.validated(options)
    except InvalidError as error:
        return error.issues
    return ()


def _placed(name: str, table: TargetOptions, issues: Collection[Issue]) -> list[Diagnostic]:
    return diagnostics(issues, table.places, f"target {name}: ", f"`rdc targets {name}` lists the valid options")


def check_names(tables: Mapping[str, TargetOptions]) -> Iterator[Diagnostic]:
    """Yield problems for tables of unknown targets."""
    for name, table in tables.items():
        place = table.place(())
        if place and name != STEPS and not is_target(name):
            known = names()
            close = nearest_name(name, [*known, *(option.name for option in all_options())])
            hint = f"did you mean `{close}`?" if close else f"the targets are {', '.join(known)}"
            remedy = f"replace `{name}` with `{close}`" if close else "`rdc targets` lists the targets"
            if close == name:  # an option of another format
                hint, remedy = "it is an option of another document format", "remove it"
            yield place.finding(f"there is no option or target `{name}`; {hint}", remedy)
