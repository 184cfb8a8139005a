"""Declared inputs as inputs of a workflow: typed, and given to the first step, which checks them (I8)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from backends.github.names import identifiers
from backends.github.scalar import OPEN, Expression, label
from compiler.ir.program import Input

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def input_names(inputs: Iterable[Input]) -> dict[str, str]:
    """What GitHub calls each input: by its name, if GitHub takes that."""
    plain = {declared.name: declared.name for declared in inputs if _NAME.fullmatch(declared.name)}
    lowered = [name.lower() for name in plain]
    plain = {name: name for name in plain if lowered.count(name.lower()) == 1}
    others = ((declared.name, declared.name) for declared in inputs if declared.name not in plain)
    found = plain | identifiers(others, plain.values())
    return {declared.name: found[declared.name] for declared in inputs}


def variable_names(inputs: Iterable[Input]) -> dict[str, str]:
    """The end of the variable that has the value of each input in the first step."""
    return identifiers(((declared.name, declared.name) for declared in inputs), ())


def given(inputs: tuple[Input, ...]) -> dict[str, str]:
    """The environment that gives the values of inputs to the first step."""
    names, variables = input_names(inputs), variable_names(inputs)
    return {f"RDC_INPUT_{variables[name]}": Expression(f"${{{{ inputs.{names[name]} }}}}") for name in names}


def with_declared(events: Mapping[str, Any], inputs: tuple[Input, ...]) -> dict[str, Any]:
    """Events whose runs are given values: those by hand, and calls of another workflow."""
    found = dict(events)
    names = input_names(inputs)
    for event in ("workflow_dispatch", "workflow_call"):
        if event in found and inputs:
            said = dict(found[event] or {})
            own = {names[declared.name]: _declared(declared, event) for declared in inputs}
            found[event] = said | {"inputs": {**(said.get("inputs") or {}), **own}}
    return found


def _declared(declared: Input, event: str) -> dict[str, Any]:
    """An input as GitHub has it.

    A number is a `string`, since GitHub writes 1.50 as 1.5, and takes none for 0; for the same reason a truth value
    that need not be given is one too. A call of a workflow knows no choice.
    """
    said: dict[str, Any] = {"description": label(declared.description or declared.name), "type": "string"}
    if declared.type == "boolean" and (declared.required or declared.default is not None):
        said["type"] = "boolean"
    if (
        declared.type == "choice"
        and event == "workflow_dispatch"
        and not any(OPEN in item for item in declared.options)
    ):
        said |= {"type": "choice", "options": list(declared.options)}
    if declared.default is not None and OPEN not in declared.default and "\0" not in declared.default:
        said["default"] = declared.default == "true" if said["type"] == "boolean" else declared.default
    elif declared.required and declared.default is None:
        said["required"] = True
    return said
