"""Declared inputs as inputs of a workflow: typed, and given to the first step, which checks them (I8)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from backends.github.identifiers import identifiers
from backends.github.scalar import OPEN, Expression, label
from compiler.ir.program import Input

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_GIVING = ("workflow_dispatch", "workflow_call")
_NO_EVENTS: Mapping[str, Any] = MappingProxyType({})


def input_names(inputs: Sequence[Input], events: Mapping[str, Any] = _NO_EVENTS) -> dict[str, str]:
    """What GitHub calls each input: by its name, if GitHub takes that and the events have no other input of it."""
    taken = {name for event in _GIVING for name in (events.get(event) or {}).get("inputs") or {}}
    others = [name.lower() for name in taken] + [declared.name.lower() for declared in inputs]
    plain = {
        declared.name: declared.name
        for declared in inputs
        if _NAME.fullmatch(declared.name) and others.count(declared.name.lower()) == 1
    }
    rest = ((declared.name, declared.name) for declared in inputs if declared.name not in plain)
    found = plain | identifiers(rest, (*plain.values(), *taken))
    return {declared.name: found[declared.name] for declared in inputs}


def variable_names(inputs: Iterable[Input]) -> dict[str, str]:
    """The end of the variable that has the value of each input in the first step."""
    return identifiers(((declared.name, declared.name) for declared in inputs), ())


def given(inputs: tuple[Input, ...], events: Mapping[str, Any]) -> dict[str, str]:
    """The environment that gives the values of inputs to the first step."""
    names, variables = input_names(inputs, events), variable_names(inputs)
    return {f"RDC_INPUT_{variables[name]}": Expression(f"${{{{ inputs.{names[name]} }}}}") for name in names}


def with_declared(events: Mapping[str, Any], inputs: tuple[Input, ...]) -> dict[str, Any]:
    """Events whose runs are given values: those by hand, and calls of another workflow."""
    found = dict(events)
    names = input_names(inputs, events)
    for event in _GIVING:
        if event in found and inputs:
            said = dict(found[event] or {})
            is_continued = event == "workflow_dispatch" and "resume" in (said.get("inputs") or {})
            own = {names[declared.name]: _declared(declared, event, is_continued) for declared in inputs}
            found[event] = said | {"inputs": {**(said.get("inputs") or {}), **own}}
    return found


def _declared(declared: Input, event: str, is_continued: bool) -> dict[str, Any]:
    """An input as GitHub has it.

    A number is a `string`, since GitHub writes 1.50 as 1.5, and takes none for 0; for the same reason a truth value
    that need not be given is one too, and so is such a choice, since a form has its first option chosen. A call of a
    workflow knows no choice. Whoever continues a run gives no inputs, so that GitHub must not ask for any: the first
    step does, when a run begins.
    """
    said: dict[str, Any] = {"description": label(declared.description or declared.name), "type": "string"}
    has_value = declared.required or declared.default is not None
    if declared.type == "boolean" and has_value:
        said["type"] = "boolean"
    is_form = event == "workflow_dispatch" and has_value
    if declared.type == "choice" and is_form and not any(OPEN in item for item in declared.options):
        said |= {"type": "choice", "options": list(declared.options)}
    if declared.default is not None and OPEN not in declared.default and "\0" not in declared.default:
        said["default"] = declared.default == "true" if said["type"] == "boolean" else declared.default
    elif declared.required and declared.default is None and not is_continued:
        said["required"] = True
    return said
