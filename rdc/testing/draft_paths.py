"""Draft scenarios from the paths of a program that no scenario covers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from backends.picture.naming import spoken
from compiler.analyses.enumeration import enumerate_paths
from compiler.analyses.outcomes import beginnings
from compiler.frontends.common.drafts import Draft, Writer
from compiler.ir.answers import usual
from compiler.ir.paths import Path, usual_limit, walk
from compiler.ir.patterns import sample
from compiler.ir.program import Input, Program
from compiler.ir.semantics import Machine
from compiler.scenarios.mock import mock
from compiler.scenarios.model import Result, Scenario
from rdc.trace.text import folded, show_path, with_examples
from runtime_shim.values.fitting import unfit

MOST_COUNTED = 300
"""The limit of paths to count in addition to the written ones."""

MOST_NAMED = 3
"""The maximum number of steps in a scenario's name."""

LONGEST_NAME, LONGEST_DESCRIPTION = 80, 200

Key = tuple[tuple[str, str], ...]
"""The steps of a path with their outcomes."""


class Drafted(Struct, frozen=True):
    """The scenarios to write, and the number of other paths without one. It is a minimum unless `complete`."""

    drafts: tuple[Draft, ...]
    left: int
    complete: bool


def draft_scenarios(program: Program, existing: Sequence[Scenario], writer: Writer, most: int) -> Drafted:
    """Draft a scenario for each path without one: first the path where each step passes, then the shortest."""
    machine = Machine(program)
    known = {key_of(played.path) for played in (mock(program, one) for one in existing) if not played.message}
    limit = usual_limit(program)
    found = enumerate_paths(program, most + len(known) + MOST_COUNTED, limit)
    straight = walk(machine, lambda node, _: usual(node.task), limit, _full(program, {}))
    paths: dict[Key, Path] = {}
    for path in (replace(straight, inputs=()), *found.paths):
        if machine.end(path.state):
            paths.setdefault(key_of(path), path)
    missing = [path for key, path in paths.items() if key not in known and writer.is_possible(program, path)]
    usually = {made.step for made in straight.visits}
    drafts: list[Draft] = []
    for path in missing[:most]:
        taken = {*(one.name for one in existing), *(one.name for one in drafts)}
        name = next(name for name in _names(machine, path, usually) if name not in taken)
        drafts.append(_draft(machine, path, name))
    return Drafted(tuple(drafts), len(missing) - len(drafts), found.is_complete)


def key_of(path: Path) -> Key:
    """Return a key that identifies a path."""
    return tuple((made.step, made.outcome.word) for made in path.visits) + tuple(
        (str(place), step) for place, step in path.jumps
    )


def _draft(machine: Machine, path: Path, name: str) -> Draft:
    end = machine.end(path.state)
    assert end is not None  # noqa: S101 (for mypy)
    given = dict(path.inputs)
    inputs = next((full for full in _tried(machine.program, given) if _leads(machine, path, full)), given)
    steps, arrow, ended = show_path(machine, path).rpartition(" => ")
    about = _shortened(steps, LONGEST_DESCRIPTION) + arrow + _shortened(ended, LONGEST_DESCRIPTION)
    ends: Result = "COMPLETE" if end.result == "complete" else "STOP"
    return Draft(name, about, inputs, frozenset(inputs) - frozenset(given), path, ends)


# --- Inputs ----------------------------------------------------------------------------------------------------------


def _tried(program: Program, given: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield inputs that may lead along the path: the given ones, with examples for missing required ones."""
    yield _full(program, given)
    yield from (_full(program, {**values, **given}) for values in beginnings(program))


def _full(program: Program, given: Mapping[str, str]) -> dict[str, str]:
    full = with_examples(program, given)
    return {one.name: _fitting(one, full[one.name]) for one in program.inputs if one.name in full}


def _fitting(declared: Input, value: str) -> str:
    """Return the value, or one that matches the input's pattern."""
    if declared.pattern and unfit(value, declared.type, declared.options, declared.pattern):
        return sample(declared.pattern)
    return value


def _leads(machine: Machine, path: Path, inputs: Mapping[str, str]) -> bool:
    """Return whether the outcomes of a path lead along it with these inputs."""
    state = machine.start(inputs)
    for made in path.visits:
        if state.node != made.step:
            return False
        state = machine.advance(state, made.outcome).state
    return state.node == path.state.node


# --- Names -----------------------------------------------------------------------------------------------------------


def _names(machine: Machine, path: Path, usually: Collection[str]) -> Iterator[str]:
    """Yield names for a path, the shortest first: `stops after 3 fail ×2`, `completes via 2b`.

    They contain the result, unusual outcomes, and steps off the usual path.
    """
    nodes, end = machine.nodes, machine.end(path.state)
    off = [
        f"{made.step} {spoken(nodes[made.step].task, made.outcome.word).lower()}"
        for made in path.visits
        if made.outcome.word != usual(nodes[made.step].task).word
    ]
    runs = [run for turns in folded(off) for run in turns.items for _ in range(turns.times)]
    said = [run.item + (f" ×{run.times}" if run.times > 1 else "") for run in runs]
    more = [f"{len(said) - MOST_NAMED} more"] if len(said) > MOST_NAMED else []
    given = [f"{name}={value}" for name, value in path.inputs]
    parts = [
        "completes" if end and end.result == "complete" else "stops",
        *_listed("with", given[:MOST_NAMED]),
        *_listed("after", [*said[:MOST_NAMED], *more]),
    ]
    name = _shortened(" ".join(parts), LONGEST_NAME)
    yield name
    via = [step for step in dict.fromkeys(made.step for made in path.visits) if step not in usually]
    longer = _shortened(" ".join([*parts, *_listed("via", via[:MOST_NAMED])]), LONGEST_NAME)
    yield longer
    yield from (f"{longer} ({number})" for number in count(2))


def _listed(preposition: str, items: Sequence[str]) -> list[str]:
    return [f"{preposition} {', '.join(items)}"] if items else []


def _shortened(text: str, most: int) -> str:
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
