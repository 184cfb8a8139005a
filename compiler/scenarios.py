"""The scenarios of a document: named runs with the end that they should have (S1), whatever its format.

What happens in a run, each format writes in keys of its own; a front end brings how these are read (`Keys`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal, get_args

from msgspec import Struct

from compiler.source import KeyPath, Span, Spans, nearest

Result = Literal["COMPLETE", "STOP"]

_COMMON = ("result", "description")


class Reply(Struct, frozen=True):
    """The word or the text that answers a step: that one, or None for whichever asks next.

    `values` are those that come with it where a command was not run (E2).
    """

    step: str | None
    text: str
    values: tuple[tuple[str, str], ...] = ()
    span: Span | None = None

    @property
    def line(self) -> str:
        """The reply as a line of a file of answers."""
        return self.text if self.step is None else f"{self.step} {self.text}"


class Goto(Struct, frozen=True):
    """The operator's own jump: the run goes on at that step. `spelled` is what the format calls it."""

    step: str
    span: Span | None
    spelled: str


class Unclear(Struct, frozen=True):
    """What cannot be understood or carried out, what is wrong with it, and what to do, if its format cannot tell."""

    problem: str
    span: Span | None
    remedy: str = ""


class Said(Struct, frozen=True):
    """What the agent or the tool of a step says when it is called; no text where the call fails."""

    step: str
    text: str | None
    span: Span | None = None


Event = Reply | Said | Goto | Unclear


class Script(Struct, frozen=True):
    """What happens in a run, in order, with the values of the inputs that it is started with.

    With `prompted` no command is executed: each reply decides the step that is next, whatever it is. `outputs` are the
    texts that must have come of it at the end, by name or by step.
    """

    replies: tuple[Event, ...]
    prompted: bool = False
    inputs: Mapping[str, str] = MappingProxyType({})
    outputs: Mapping[str, str] = MappingProxyType({})


class Scenario(Struct, frozen=True):
    """One scenario: what happens in it, as in `Script`, and how the run must end."""

    name: str
    description: str
    prompted: bool
    inputs: Mapping[str, str]
    replies: tuple[Event, ...]
    ends: Result
    outputs: Mapping[str, str] = MappingProxyType({})

    @property
    def answers(self) -> tuple[Reply, ...]:
        """The replies alone, in order."""
        return tuple(event for event in self.replies if isinstance(event, Reply))

    @property
    def jumps(self) -> tuple[Goto, ...]:
        """The jumps alone, in order."""
        return tuple(event for event in self.replies if isinstance(event, Goto))


class Flaw(Struct, frozen=True):
    """What is wrong in the form of one scenario, and the path to it from there."""

    path: KeyPath
    text: str


Locate = Callable[[KeyPath], Span | None]
"""Where a key or an item of a scenario stands, else what is around it."""


class Keys(Struct, frozen=True):
    """The keys in which a format writes what happens, beside the common ones, and how their values are read."""

    names: frozenset[str]
    read: Callable[[Mapping[str, object], Locate], Script | list[Flaw]]


class Problem(Struct, frozen=True):
    """What is wrong in the form of the scenarios."""

    text: str
    span: Span | None


def read_scenarios(value: object, spans: Spans, keys: Keys) -> tuple[tuple[Scenario, ...], list[Problem]]:
    """The scenarios in a plain value, and each error of form; a scenario with errors is left out.

    Args:
        value: What stands under `scenarios`.
        spans: Where that stands, and each key and item in it.
        keys: The format's own keys.
    """
    if value is None:
        return (), []
    if not isinstance(value, Mapping):
        return (), [Problem("the scenarios are not a mapping of names to scenarios", nearest(spans, ()))]
    scenarios: list[Scenario] = []
    found: list[Problem] = []
    for key, content in value.items():
        name = str(key)

        def locate(path: KeyPath, name: str = name) -> Span | None:
            return nearest(spans, (name, *path))

        read = _read(name, content, keys, locate)
        if isinstance(read, Scenario):
            scenarios.append(read)
        else:
            found += [Problem(f"scenario `{name}`: {flaw.text}", locate(flaw.path)) for flaw in read]
    return tuple(scenarios), found


def _read(name: str, content: object, keys: Keys, locate: Locate) -> Scenario | list[Flaw]:
    if not isinstance(content, Mapping):
        return [Flaw((), "it is not a mapping")]
    script = keys.read(content, locate)
    flaws = [*_unknown(content, keys), *(script if isinstance(script, list) else ()), *_common_flaws(content)]
    if flaws or isinstance(script, list):
        return flaws
    about = "" if content.get("description") is None else str(content["description"])
    return Scenario(name, about, script.prompted, script.inputs, script.replies, content["result"], script.outputs)


def _unknown(content: Mapping[str, object], keys: Keys) -> Iterator[Flaw]:
    known = sorted(keys.names.union(_COMMON))
    for key in content:
        if key not in known:
            yield Flaw((str(key),), f"there is no key `{key}`; the keys are {', '.join(known)}")


def _common_flaws(content: Mapping[str, object]) -> Iterator[Flaw]:
    if content.get("result") not in get_args(Result):
        yield Flaw(("result",), f"`result` is {' or '.join(get_args(Result))}")
    if isinstance(content.get("description", ""), (list, Mapping)):
        yield Flaw(("description",), "`description` is not a string")
