"""Read the inputs that a document declares (E1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compiler.diagnostic import Issue
from compiler.frontends.name_lists import MOST, name_issues, text_problem, unknown_key
from compiler.frontends.rundown.beyond.declarations import DeclaredInput
from compiler.ir.program import Input
from compiler.ir.wellformed import Field, input_problems
from compiler.issues import InvalidError, Places
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


def read_inputs(content: object, places: Places) -> tuple[DeclaredInput, ...]:
    """Read inputs from a plain value whose scalars are unparsed strings."""
    if not isinstance(content, Mapping) or len(content) > MOST:
        problem = f"`inputs` must be a mapping of at most {MOST} names to their declarations"
        raise InvalidError(Issue((), problem, "write `inputs: {version: {description: The version to release}}`"))
    said = {str(name): value for name, value in content.items()}
    found: list[Issue] = []
    for name, value in said.items():
        found += _issues(name, value)
        if found and TOO_SLOW in found[-1].message:  # each of the others might take as long
            break
    if found:
        raise InvalidError(*found)
    inputs = ((name, _input(name, value or {})) for name, value in said.items())
    return tuple(DeclaredInput(item, nearest(places, (name,)) or places[()]) for name, item in inputs)


def _issues(name: str, said: object) -> Iterator[Issue]:
    yield from name_issues(name, "an input", (name,))
    if said is None:
        return
    if not isinstance(said, Mapping):
        remedy = f"write `{name}: {{default: …}}`, or `{name}: {{}}`"
        yield Issue((name,), f"the declaration of input `{name}` must be a mapping", remedy)
        return
    wrong = [item for key, value in said.items() for item in _key_issues(name, str(key), value)]
    yield from wrong
    if not wrong:
        for key, problem in input_problems(_input(name, said)):
            yield Issue((name, key), f"input `{name}`: {problem}", _REMEDIES[key])


def _key_issues(name: str, key: str, value: object) -> Iterator[Issue]:
    begin, path = f"input `{name}`: `{key}`", (name, key)
    if key not in KEYS:
        yield unknown_key(key, KEYS, f"input `{name}`", path)
    elif key == "type" and value not in TYPES:
        yield Issue(path, f"{begin} must be one of {', '.join(TYPES)}", f"write one of {', '.join(TYPES)}")
    elif key == "required" and str(value) not in _TRUTH:
        yield Issue(path, f"{begin} must be true or false", "write true or false")
    elif key == "options":
        yield from _option_issues(name, value)
    elif problem := text_problem(value):
        yield Issue(path, f"{begin} is not a valid string: {problem}", 'quote it; write an empty string as `""`')


def _option_issues(name: str, value: object) -> Iterator[Issue]:
    begin, path = f"input `{name}`", (name, "options")
    if not isinstance(value, list):
        yield Issue(path, f"{begin}: `options` must be a list", "write `options: [one, another]`")
        return
    for number, item in enumerate(value):
        if problem := text_problem(item):
            yield Issue((*path, number), f"{begin}: an option is not a valid string: {problem}", "quote it")


def _input(name: str, said: Mapping[str, Any]) -> Input:
    """Build the input from a mapping without problems."""
    plain = {key: value for key, value in said.items() if key in {"type", "description", "default", "pattern"}}
    required = _TRUTH[said.get("required", "true")]
    return Input(name, options=tuple(said.get("options", ())), required=required, **plain)
