"""Read the option `steps` of formats with calls: time limits (I21) and settings for targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from compiler.frontends.name_lists import unknown_key
from compiler.options import Level, Option, Options, Place, Places, Problems, Table, Wrong
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


def _read(content: object, places: Places) -> Nodes | Wrong | Problems:
    if not isinstance(content, Mapping):
        return Wrong("`steps` must be a mapping of steps to settings", 'write `steps: {"2": {timeout: 10m}}`')
    said = {str(node): value for node, value in content.items()}
    if found := [wrong for node, value in said.items() for wrong in _problems(node, value)]:
        return Problems(found)
    limits = tuple(
        TimeLimit(node, read_duration(value[TIMEOUT]) or 0, nearest(places, (node, TIMEOUT)))
        for node, value in said.items()
        if TIMEOUT in value
    )
    rest = {node: {key: each for key, each in value.items() if key != TIMEOUT} for node, value in said.items()}
    kept = {node: value for node, value in rest.items() if value}
    return Nodes(limits, Table(kept, {path: place for path, place in places.items() if not path or path[0] in kept}))


def _problems(node: str, said: object) -> Iterator[Wrong]:
    if not isinstance(said, Mapping):
        problem = f"the settings of step {node} must be a mapping"
        yield Wrong(problem, f"write `{node}: {{{TIMEOUT}: 10m}}`; the keys are {', '.join(KEYS)}", (node,))
        return
    for key in said:
        if key not in KEYS:
            yield unknown_key(str(key), KEYS, f"the settings of step {node}", (node, str(key)))
    if TIMEOUT in said and not read_duration(said[TIMEOUT]):
        problem = f"the settings of step {node}: `{TIMEOUT}` must be a duration from a second to a year"
        yield Wrong(problem, duration_remedy(said[TIMEOUT]), (node, TIMEOUT))


STEPS: Option[Nodes] = Option(
    "steps", "Settings of steps: time limits of calls, and settings for targets.", _read, levels=(Level.DOCUMENT,)
)
NO_STEPS = Nodes((), Table())


def with_nodes(options: Options, nodes: Nodes) -> Options:
    """Return the document's options with the settings of steps for targets."""
    if not nodes.for_targets.values:
        return options
    return replace(options, targets={**options.targets, STEPS.name: nodes.for_targets})
