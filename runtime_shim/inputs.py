"""Inputs: values that are given when a run begins (I8)."""

import json
import types
from typing import Any

from runtime_shim.cli import OPTIONS
from runtime_shim.files import LARGEST_INPUT, read_text
from runtime_shim.fitting import unfit
from runtime_shim.program import RefusedError, Table
from runtime_shim.session import BEGINNINGS
from runtime_shim.walk import Registers


def _from_json(path: str) -> dict[str, str]:
    try:
        found = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"{path}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise RefusedError(f"{path}: expected a JSON object with a value for each input")
    return {name: _as_value(path, name, value) for name, value in found.items()}


def _as_value(path: str, name: str, value: Any) -> str:  # noqa: ANN401 (any JSON value)
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    raise RefusedError(f"{path}: {name}: expected a string, a number, true or false")


def _from_words(declared: dict[str, Table], words: list[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise RefusedError(f"--input {word}: expected NAME=VALUE or NAME=@FILE")
        if value.startswith("@"):
            value = read_text(value[1:])
            if declared.get(name, {}).get("type") != "text":
                value = value.removesuffix("\n").removesuffix("\r")
        given[name] = value
    return given


def check_inputs(program: Table, options: types.SimpleNamespace) -> Registers:
    """Return the values of all inputs, or refuse them, every unfit one at once."""
    declared: dict[str, Table] = {item["name"]: item for item in program["inputs"]}
    given = {**(_from_json(options.inputs) if options.inputs else {}), **_from_words(declared, options.input)}
    wrong = [f"{name}: there is no such input; known: {', '.join(declared)}" for name in given if name not in declared]
    found: Registers = {}
    for name, item in declared.items():
        found[name] = value = given.get(name, item.get("default"))
        problem = ""
        if value is None:
            problem = "a value is needed" if item["required"] else ""
        elif any("\ud800" <= character <= "\udfff" for character in value):
            problem = "its value is not UTF-8"
        elif len(value.encode()) > LARGEST_INPUT:
            problem = f"its value is longer than {LARGEST_INPUT:,} bytes"
        else:
            problem = unfit(value, item["type"], item.get("options", ()), item.get("pattern"))
        if problem:
            wrong.append(f"input {name}: {problem}; give it by --input {name}=VALUE")
    if wrong:
        raise RefusedError(*wrong)
    return found


OPTIONS += [
    ("run", "--input", "NAME=VALUE...", "NAME=VALUE or NAME=@FILE"),
    ("run", "--inputs", "FILE", "a JSON object with values of inputs"),
]
BEGINNINGS.append(check_inputs)
