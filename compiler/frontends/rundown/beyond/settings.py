"""Read the step settings of a document (E3), and the part of them that only targets use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from compiler.diagnostic import Issue
from compiler.frontends.name_lists import name_issues, text_problem, unknown_key
from compiler.frontends.rundown.beyond.declarations import EVERY, StepSettings
from compiler.issues import InvalidError, Place, Places
from compiler.options import Table
from compiler.source import KeyPath
from compiler.times import duration_remedy, read_duration

OF_TARGETS = ("secrets", "environment")
"""Keys that targets check against their own options."""

KEYS = ("timeout", "retry-delay", "retry-backoff", "env", *OF_TARGETS)

LARGEST_BACKOFF = 1000


def read_steps(content: object, places: Places) -> tuple[StepSettings, ...]:
    """Read the settings from a plain value whose scalars are unparsed strings."""
    if not isinstance(content, Mapping):
        remedy = 'write `steps: {"1": {timeout: 10m}}`'
        raise InvalidError(Issue((), "`steps` must be a mapping of steps to settings", remedy))
    said = {str(step): value for step, value in content.items()}
    if found := [issue for step, value in said.items() for issue in _issues(step, value)]:
        raise InvalidError(*found)
    inside: dict[str, dict[KeyPath, Place]] = {step: {(): places[()]} for step in said}
    for path, place in places.items():
        if path:
            inside[path[0]][path[1:]] = place
    return tuple(_settings(step, value or {}, inside[step]) for step, value in said.items())


def _settings(step: str, said: Mapping[str, Any], places: Places) -> StepSettings:
    backoff = said.get("retry-backoff")
    return StepSettings(
        step,
        places,
        read_duration(said.get("timeout")),
        read_duration(said.get("retry-delay")),
        None if backoff is None else int(backoff),
        dict(said.get("env") or {}),
    )


def _issues(step: str, said: object) -> Iterator[Issue]:
    if said is None:
        return
    inside = f"the settings of {'all steps' if step == EVERY else f'step {step}'}"
    if not isinstance(said, Mapping):
        remedy = f"write `{step}: {{timeout: 10m}}`; the keys are {', '.join(KEYS)}"
        yield Issue((step,), f"{inside} must be a mapping", remedy)
        return
    for key, value in said.items():
        yield from _key_issues(inside, str(key), value, (step, str(key)))


def _key_issues(inside: str, key: str, value: object, path: KeyPath) -> Iterator[Issue]:
    if key not in KEYS:
        yield unknown_key(key, KEYS, inside, path)
    elif key == "env":
        yield from _env_issues(inside, value, path)
    elif key == "retry-backoff":
        if not (isinstance(value, str) and value.isascii() and value.isdigit() and _number(value) >= 1):
            problem = f"{inside}: `{key}` must be a whole number from 1 to {LARGEST_BACKOFF}"
            yield Issue(path, problem, "write the factor for each further delay, for example 2")
    elif key not in OF_TARGETS:
        seconds = read_duration(value)
        if seconds is None or (key == "timeout" and seconds == 0):
            yield Issue(path, f"{inside}: `{key}` must be a duration of at most a year", duration_remedy(value))


def _number(digits: str) -> int:
    """Return the number, or 0 if it is too large."""
    return int(digits) if len(digits) < 6 and int(digits) <= LARGEST_BACKOFF else 0


def _env_issues(inside: str, env: object, path: KeyPath) -> Iterator[Issue]:
    if env is not None and not isinstance(env, Mapping):
        yield Issue(path, f"{inside}: `env` must be a mapping of names to strings", "write `env: {NAME: string}`")
        return
    for key, value in (env or {}).items():
        name, place = str(key), (*path, str(key))
        yield from name_issues(name, "an environment variable", place, is_set=True)
        if problem := text_problem(value):
            yield Issue(place, f"{inside}: the value of `{name}` is not a valid string: {problem}", "quote it")


# --- Settings for targets --------------------------------------------------------------------------------------------


def table_for_targets(content: object, places: Places) -> Table | None:
    """Return the settings under `steps` that are for targets, or None if there are none."""
    steps = content if isinstance(content, Mapping) else {}
    said = {str(step): _for_targets(value) for step, value in steps.items() if isinstance(value, Mapping)}
    kept = {step: value for step, value in said.items() if value}
    return Table(kept, {path: place for path, place in places.items() if _is_kept(path, kept)}) if kept else None


def _for_targets(said: Mapping[str, object]) -> dict[str, object]:
    return {str(key): value for key, value in said.items() if key in OF_TARGETS}


def _is_kept(path: KeyPath, kept: Mapping[str, Mapping[str, object]]) -> bool:
    return not path or (path[0] in kept and (len(path) == 1 or path[1] in kept[path[0]]))


def joined_tables(tables: Iterable[tuple[str, Table]]) -> Table:
    """Join the tables of a document and its included documents, outer documents first.

    Each table comes with the id of its inclusion. The outermost environment of a step wins; secrets add up.
    """
    values: dict[str, dict[str, object]] = {}
    places: dict[KeyPath, Place] = {}
    for inclusion, table in tables:
        for step, said in table.values.items():
            values[full_id(inclusion, step)] = _joined(values.get(full_id(inclusion, step), {}), said)
        for path, place in table.places.items():
            places.setdefault((full_id(inclusion, path[0]), *path[1:]) if path else (), place)
    return Table(values, places)


def _joined(outer: Mapping[str, object], inner: Any) -> dict[str, object]:  # noqa: ANN401 (targets check the type)
    mine, other = outer.get("secrets"), inner.get("secrets")
    both = {"secrets": [*mine, *other]} if isinstance(mine, list) and isinstance(other, list) else {}
    return {**inner, **outer, **both}


def full_id(inclusion: str, step: str) -> str:
    """Return the program-wide id of a step in the document included at `inclusion`."""
    if not inclusion:
        return step
    return inclusion if step == EVERY else f"{inclusion}/{step}"
