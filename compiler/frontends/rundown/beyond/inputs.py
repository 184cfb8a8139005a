"""Read the inputs that a document declares (E1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compiler.frontends.name_lists import MOST, name_problems, unknown_key
from compiler.frontends.rundown.beyond.declarations import DeclaredInput
from compiler.frontends.rundown.beyond.texts import text_problem
from compiler.ir.program import Input
from compiler.ir.wellformed import Field, input_problems
from compiler.options import Places, Problems, Wrong
from compiler.source import nearest
from runtime_shim.data.fitting import TOO_SLOW

TYPES = ("string", "number", "boolean", "choice")
KEYS = ("type", "description", "default", "options", "pattern", "required")
_TRUTH = {"true": True, "false": False}

_REMEDIES: Mapping[Field, str] = {
    "options": "write `type: choice` with `options: [one, another]`; list each option once",
    "pattern": "fix the regular expression",
    "default": "use a default that is also a valid value, or remove the default",
}


def read_inputs(content: object, places: Places) -> tuple[DeclaredInput, ...] | Wrong | Problems:
    """Read inputs from a plain value whose scalars are unparsed strings."""
    if not isinstance(content, Mapping) or len(content) > MOST:
        problem = f"`inputs` must be a mapping of at most {MOST} names to their declarations"
        return Wrong(problem, "write `inputs: {version: {description: The version to release}}`")
    said = {str(name): value for name, value in content.items()}
    found: list[Wrong] = []
    for name, value in said.items():
        found += _problems(name, value)
        if found and TOO_SLOW in found[-1].problem:  # each of the others might take as long
            break
    if found:
        return Problems(found)
    inputs = ((name, _input(name, value or {})) for name, value in said.items())
    return tuple(DeclaredInput(item, nearest(places, (name,)) or places[()]) for name, item in inputs)


def _problems(name: str, said: object) -> Iterator[Wrong]:
    yield from name_problems(name, "an input", (name,))
    if said is None:
        return
    if not isinstance(said, Mapping):
        problem = f"the declaration of input `{name}` must be a mapping"
        yield Wrong(problem, f"write `{name}: {{default: …}}`, or `{name}: {{}}`", (name,))
        return
    wrong = [item for key, value in said.items() for item in _key_problems(name, str(key), value)]
    yield from wrong
    if not wrong:
        for key, problem in input_problems(_input(name, said)):
            yield Wrong(f"input `{name}`: {problem}", _REMEDIES[key], (name, key))


def _key_problems(name: str, key: str, value: object) -> Iterator[Wrong]:
    begin, path = f"input `{name}`: `{key}`", (name, key)
    if key not in KEYS:
        yield unknown_key(key, KEYS, f"input `{name}`", path)
    elif key == "type" and value not in TYPES:
        yield Wrong(f"{begin} must be one of {', '.join(TYPES)}", f"write one of {', '.join(TYPES)}", path)
    elif key == "required" and str(value) not in _TRUTH:
        yield Wrong(f"{begin} must be true or false", "write true or false", path)
    elif key == "options":
        yield from _option_problems(name, value)
    elif problem := text_problem(value):
        yield Wrong(f"{begin} is not a valid string: {problem}", 'quote it; write an empty string as `""`', path)


def _option_problems(name: str, value: object) -> Iterator[Wrong]:
    begin, path = f"input `{name}`", (name, "options")
    if not isinstance(value, list):
        yield Wrong(f"{begin}: `options` must be a list", "write `options: [one, another]`", path)
        return
    for number, item in enumerate(value):
        if problem := text_problem(item):
            yield Wrong(f"{begin}: an option is not a valid string: {problem}", "quote it", (*path, str(number)))


def _input(name: str, said: Mapping[str, Any]) -> Input:
    """Build the input from a mapping without problems."""
    plain = {key: value for key, value in said.items() if key in {"type", "description", "default", "pattern"}}
    required = _TRUTH[said.get("required", "true")]
    return Input(name, options=tuple(said.get("options", ())), required=required, **plain)
