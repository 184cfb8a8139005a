"""The scenarios of a document: named runs with the result that they should have (S1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, get_args

Result = Literal["COMPLETE", "STOP"]

_KEYS = {"commands", "result", "description"}


class Scenario(NamedTuple):
    """One scenario: the commands of the reference command line, and how the run must end."""

    name: str
    commands: tuple[str, ...]
    result: Result
    description: str = ""


def read_scenarios(value: object) -> tuple[tuple[Scenario, ...], list[str]]:
    """The scenarios in a plain value, and a text for each thing that is wrong; a scenario with mistakes is left out."""
    if not isinstance(value, Mapping):
        return (), ["the scenarios are not a mapping of names to scenarios"]
    scenarios: list[Scenario] = []
    found: list[str] = []
    for key, content in value.items():
        problems = [f"scenario `{key}`: {problem}" for problem in _problems(content)]
        found += problems
        if not problems:
            commands, about = tuple(content["commands"]), str(content.get("description", ""))
            scenarios.append(Scenario(str(key), commands, content["result"], about))
    return tuple(scenarios), found


def _problems(content: object) -> Iterator[str]:
    if not isinstance(content, Mapping):
        yield "it is not a mapping"
        return
    for key in content:
        if key not in _KEYS:
            yield f"there is no key `{key}`; the keys are {', '.join(sorted(_KEYS))}"
    commands = content.get("commands")
    if not isinstance(commands, list) or not all(isinstance(command, str) for command in commands):
        yield "`commands` is not a list of texts"
    if content.get("result") not in get_args(Result):
        yield f"`result` is {' or '.join(get_args(Result))}"
    if isinstance(content.get("description", ""), (list, Mapping)):
        yield "`description` is not a text"
