"""Read the scenarios of a document in any format: named runs with an expected result.

Each format describes a run with its own keys; the front end provides a reader for them (`Keys`).
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal, get_args

from msgspec import Struct

from compiler.diagnostics.issues import InvalidError
from compiler.diagnostics.model import Issue
from compiler.text.source import KeyPath, Span, Spans, nearest

Result = Literal["COMPLETE", "STOP"]

_COMMON = ("result", "description")


class Reply(Struct, frozen=True):
    """A reply to a step, or to the next question if `step` is None.

    `values` are outputs that come with the reply: of a command that was not run, or the value that a question asks for.
    """

    step: str | None
    text: str
    values: tuple[tuple[str, str], ...] = ()
    span: Span | None = None

    @property
    def line(self) -> str:
        """The reply as a line of a file of answers."""
        text = self.values[0][1] if self.values else self.text
        return text if self.step is None else f"{self.step} {text}"


class Goto(Struct, frozen=True):
    """A jump by the operator to a step; `spelled` is the format's name for it."""

    step: str
    span: Span | None
    spelled: str


class InvalidEvent(Struct, frozen=True):
    """An unclear or impossible event, with its message and help, or "" for the format's usual remedy."""

    message: str
    span: Span | None
    help: str = ""


class ScenarioAnswer(Struct, frozen=True):
    """The answer of a step's agent or tool; `text` is None if the call fails."""

    step: str
    text: str | None
    span: Span | None = None


Event = Reply | ScenarioAnswer | Goto | InvalidEvent


class Script(Struct, frozen=True):
    """The events of a run in order, with the values of its inputs.

    With `prompted`, no command is executed: each reply is the outcome of the next step. `outputs` are the expected
    strings at the end, by name or by step.
    """

    replies: tuple[Event, ...]
    prompted: bool = False
    inputs: Mapping[str, str] = MappingProxyType({})
    outputs: Mapping[str, str] = MappingProxyType({})


class Scenario(Struct, frozen=True):
    """A scenario: its events as in `Script`, and the expected result."""

    name: str
    description: str
    prompted: bool
    inputs: Mapping[str, str]
    replies: tuple[Event, ...]
    ends: Result
    outputs: Mapping[str, str] = MappingProxyType({})

    @property
    def answers(self) -> tuple[Reply, ...]:
        """The replies, in order."""
        return tuple(event for event in self.replies if isinstance(event, Reply))

    @property
    def jumps(self) -> tuple[Goto, ...]:
        """The jumps, in order."""
        return tuple(event for event in self.replies if isinstance(event, Goto))


Locate = Callable[[KeyPath], Span | None]
"""Returns the place of a scenario's key or item, or of the part around it."""


class Keys(Struct, frozen=True):
    """A format's own keys for the events of a run, and the reader of their values; it raises `InvalidError`."""

    names: frozenset[str]
    read: Callable[[Mapping[str, object], Locate], Script]


def read_scenarios(value: object, spans: Spans, keys: Keys) -> tuple[tuple[Scenario, ...], list[Issue]]:
    """Return the scenarios in a plain value, and all issues of their form; scenarios with issues are left out."""
    if value is None:
        return (), []
    if not isinstance(value, Mapping):
        return (), [Issue((), "the scenarios must be a mapping of names to scenarios")]
    scenarios: list[Scenario] = []
    found: list[Issue] = []
    for key, content in value.items():
        name = str(key)

        def locate(path: KeyPath, name: str = name) -> Span | None:
            return nearest(spans, (name, *path))

        try:
            scenarios.append(_read(name, content, keys, locate))
        except InvalidError as error:
            found += [Issue((name, *one.path), f"scenario `{name}`: {one.message}") for one in error.issues]
    return tuple(scenarios), found


def _read(name: str, content: object, keys: Keys, locate: Locate) -> Scenario:
    if not isinstance(content, Mapping):
        raise InvalidError(Issue((), "it must be a mapping"))
    known = sorted(keys.names.union(_COMMON))
    unknown = (str(key) for key in content if key not in known)
    found = [Issue((key,), f"there is no key `{key}`; the keys are {', '.join(known)}") for key in unknown]
    try:
        script = keys.read(content, locate)
    except InvalidError as error:
        raise InvalidError(*found, *error.issues, *_common_issues(content)) from None
    if found := [*found, *_common_issues(content)]:
        raise InvalidError(*found)
    about = "" if content.get("description") is None else str(content["description"])
    return Scenario(name, about, script.prompted, script.inputs, script.replies, content["result"], script.outputs)


def _common_issues(content: Mapping[str, object]) -> Iterator[Issue]:
    if content.get("result") not in get_args(Result):
        yield Issue(("result",), f"`result` must be {' or '.join(get_args(Result))}")
    if isinstance(content.get("description", ""), (list, Mapping)):
        yield Issue(("description",), "`description` must be a string")
