"""Read the option `steps` of formats with calls: time limits (I21) and settings for targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostic import Issue
from compiler.frontends.name_lists import unknown_key
from compiler.issues import InvalidError, Place, Places
from compiler.options import Level, Option, Options, Table
from compiler.source import nearest
from compiler.times import duration_remedy, read_duration

TIMEOUT = "timeout"
KEYS = (TIMEOUT, "secrets", "environment")
"""The last two are for targets, which check them against their own options."""


class TimeLimit(Struct, frozen=True):
    """The time limit of a step, with its place."""

    step: str
    seconds: int
    place: Place | None


class Nodes(Struct, frozen=True):
    """The settings of steps: time limits, and settings for targets."""

    limits: tuple[TimeLimit, ...]
    for_targets: Table


def _read(content: object, places: Places) -> Nodes:
    if not isinstance(content, Mapping):
        remedy = 'write `steps: {"2": {timeout: 10m}}`'
        raise InvalidError(Issue((), "`steps` must be a mapping of steps to settings", remedy))
    said = {str(node): value for node, value in content.items()}
    if found := [issue for node, value in said.items() for issue in _issues(node, value)]:
        raise InvalidError(*found)
    limits = tuple(
        TimeLimit(node, read_duration(value[TIMEOUT]) or 0, nearest(places, (node, TIMEOUT)))
        for node, value in said.items()
        if TIMEOUT in value
    )
    rest = {node: {key: each for key, each in value.items() if key != TIMEOUT} for node, value in said.items()}
    kept = {node: value for node, value in rest.items() if value}
    return Nodes(limits, Table(kept, {path: place for path, place in places.items() if not path or path[0] in kept}))


def _issues(node: str, said: object) -> Iterator[Issue]:
    if not isinstance(said, Mapping):
        remedy = f"write `{node}: {{{TIMEOUT}: 10m}}`; the keys are {', '.join(KEYS)}"
        yield Issue((node,), f"the settings of step {node} must be a mapping", remedy)
        return
    for key in said:
        if key not in KEYS:
            yield unknown_key(str(key), KEYS, f"the settings of step {node}", (node, str(key)))
    if TIMEOUT in said and not read_duration(said[TIMEOUT]):
        problem = f"the settings of step {node}: `{TIMEOUT}` must be a duration from a second to a year"
        yield Issue((node, TIMEOUT), problem, duration_remedy(said[TIMEOUT]))


STEPS: Option[Nodes] = Option(
    "steps", "Settings of steps: time limits of calls, and settings for targets.", _read, levels=(Level.DOCUMENT,)
)
NO_STEPS = Nodes((), Table())


def with_nodes(options: Options, nodes: Nodes) -> Options:
    """Return the document's options with the settings of steps for targets."""
    if not nodes.for_targets.values:
        return options
    return replace(options, targets={**options.targets, STEPS.name: nodes.for_targets})
