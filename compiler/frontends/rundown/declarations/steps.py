"""Read the step settings of a document, and the part of them that only targets use."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from compiler.diagnostics.issues import InvalidError, OptionSource, OptionSources
from compiler.diagnostics.model import Issue
from compiler.frontends.common import limits
from compiler.frontends.common.names import LABELS, MOST, label_issues, name_issues, text_issue, unknown_key
from compiler.frontends.rundown.declarations.asks import asks_issues, read_asks, single_step_issue
from compiler.frontends.rundown.syntax import EVERY, DeclaredInput, StepSettings
from compiler.ir.program import Input
from compiler.ir.verify_tasks import Field, input_issues
from compiler.project.options import TargetOptions
from compiler.text.durations import duration_remedy, read_duration
from compiler.text.source import KeyPath, nearest
from runtime_shim.values.fitting import TOO_SLOW

OF_TARGETS = ("secrets", "environment")
"""Keys that targets check against their own options."""

BY, AGENT = "by", "agent"

KEYS = ("timeout", "retry-delay", "retry-backoff", "env", "asks", BY, LABELS, *limits.KEYS, *OF_TARGETS)

LARGEST_BACKOFF = 1000


def read_steps(content: object, places: OptionSources) -> tuple[StepSettings, ...]:
    """Read the settings from a plain value whose scalars are unparsed strings."""
    if not isinstance(content, Mapping):
        remedy = 'write `steps: {"1": {timeout: 10m}}`'
        raise InvalidError(Issue((), "`steps` must be a mapping of steps to settings", remedy))
    settings = {str(step): value for step, value in content.items()}
    if found := [issue for step, value in settings.items() for issue in _issues(step, value)]:
        raise InvalidError(*found)
    inside: dict[str, dict[KeyPath, OptionSource]] = {step: {(): places[()]} for step in settings}
    for path, place in places.items():
        if path:
            inside[path[0]][path[1:]] = place
    return tuple(_settings(step, value or {}, inside[step]) for step, value in settings.items())


def _settings(step: str, said: Mapping[str, Any], places: OptionSources) -> StepSettings:
    backoff = said.get("retry-backoff")
    return StepSettings(
        step,
        places,
        read_duration(said.get("timeout")),
        read_duration(said.get("retry-delay")),
        None if backoff is None else int(backoff),
        dict(said.get("env") or {}),
        read_asks(asks) if (asks := said.get("asks")) else None,
        limits.limits_of(step, said, {(step, *path): place for path, place in places.items()}),
        tuple(said.get(LABELS) or ()),
        said.get(BY) == AGENT,
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
    yield from limits.limit_issues(inside, said, (step,))
    if step == EVERY and limits.MAX_VISITS in said:
        problem = f"`{limits.MAX_VISITS}` limits one step, not all steps"
        yield Issue((step, limits.MAX_VISITS), problem, "set it for a step of the loop")


def _key_issues(inside: str, key: str, value: object, path: KeyPath) -> Iterator[Issue]:
    if key not in KEYS:
        yield unknown_key(key, KEYS, inside, path)
    elif key in _ISSUES:
        yield from _ISSUES[key](inside, value, path)
    elif key == "retry-backoff":
        is_short_number = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 6
        if not (is_short_number and 1 <= int(str(value)) <= LARGEST_BACKOFF):
            problem = f"{inside}: `{key}` must be a whole number from 1 to {LARGEST_BACKOFF}"
            yield Issue(path, problem, "write the factor for each further delay, for example 2")
    elif key not in (*limits.KEYS, *OF_TARGETS):
        seconds = read_duration(value)
        if seconds is None or (key == "timeout" and seconds == 0):
            yield Issue(path, f"{inside}: `{key}` must be a duration of at most a year", duration_remedy(value))


def _env_issues(inside: str, env: object, path: KeyPath) -> Iterator[Issue]:
    if env is not None and not isinstance(env, Mapping):
        yield Issue(path, f"{inside}: `env` must be a mapping of names to strings", "write `env: {NAME: string}`")
        return
    for key, value in (env or {}).items():
        name, place = str(key), (*path, str(key))
        yield from name_issues(name, "an environment variable", place, is_set=True)
        if problem := text_issue(value):
            yield Issue(place, f"{inside}: the value of `{name}` is not a valid string: {problem}", "quote it")


def _by_issues(inside: str, value: object, path: KeyPath) -> Iterator[Issue]:
    if issue := single_step_issue(inside, BY, path):
        yield issue
    elif value != AGENT:
        remedy = f"write `{BY}: {AGENT}` if an agent does the step, or remove `{BY}`"
        yield Issue(path, f"{inside}: `{BY}` must be `{AGENT}`", remedy)


_ISSUES: Mapping[str, Callable[[str, object, KeyPath], Iterator[Issue]]] = {
    "env": _env_issues,
    "asks": asks_issues,
    BY: _by_issues,
    LABELS: label_issues,
}


def table_for_targets(content: object, places: OptionSources) -> TargetOptions | None:
    """Return the settings under `steps` that are for targets, or None if there are none."""
    steps = content if isinstance(content, Mapping) else {}
    settings = {str(step): value for step, value in steps.items() if isinstance(value, Mapping)}
    own = {step: {str(key): one for key, one in value.items() if key in OF_TARGETS} for step, value in settings.items()}
    for_targets = {step: value for step, value in own.items() if value}
    return (
        TargetOptions(for_targets, {path: place for path, place in places.items() if _is_kept(path, for_targets)})
        if for_targets
        else None
    )


def _is_kept(path: KeyPath, kept: Mapping[str, Mapping[str, object]]) -> bool:
    return not path or (path[0] in kept and (len(path) == 1 or path[1] in kept[path[0]]))


def joined_tables(tables: Iterable[tuple[str, TargetOptions]]) -> TargetOptions:
    """Join tables with their inclusions, outer ones first: a step's outermost environment wins, secrets add up."""
    values: dict[str, dict[str, object]] = {}
    places: dict[KeyPath, OptionSource] = {}
    for inclusion, table in tables:
        for step, output in table.values.items():
            values[full_id(inclusion, step)] = _joined(values.get(full_id(inclusion, step), {}), output)
        for path, place in table.places.items():
            places.setdefault((full_id(inclusion, path[0]), *path[1:]) if path else (), place)
    return TargetOptions(values, places)


def _joined(outer: Mapping[str, object], inner: Any) -> dict[str, object]:  # noqa: ANN401 (targets check the type)
    mine, other = outer.get("secrets"), inner.get("secrets")
    both = {"secrets": [*mine, *other]} if isinstance(mine, list) and isinstance(other, list) else {}
    return {**inner, **outer, **both}


def full_id(inclusion: str, step: str) -> str:
    """Return the program-wide id of a step in the document included at `inclusion`."""
    if not inclusion:
        return step
    return inclusion if step == EVERY else f"{inclusion}/{step}"


TYPES = ("string", "number", "boolean", "choice")
INPUT_KEYS = ("type", "description", "default", "options", "pattern", "required")
_TRUTH = {"true": True, "false": False}

_REMEDIES: Mapping[Field, str] = {
    "options": "write `type: choice` with `options: [one, another]`; list each option once",
    "pattern": "fix the regular expression",
    "default": "use a default that is also a valid value, or remove the default",
}


def read_inputs(content: object, places: OptionSources) -> tuple[DeclaredInput, ...]:
    """Read inputs from a plain value whose scalars are unparsed strings."""
    if not isinstance(content, Mapping) or len(content) > MOST:
        problem = f"`inputs` must be a mapping of at most {MOST} names to their declarations"
        raise InvalidError(Issue((), problem, "write `inputs: {version: {description: The version to release}}`"))
    declared = {str(name): value for name, value in content.items()}
    found: list[Issue] = []
    for name, value in declared.items():
        found += _input_issues(name, value)
        if found and TOO_SLOW in found[-1].message:  # each of the others might take as long
            break
    if found:
        raise InvalidError(*found)
    inputs = ((name, _input(name, value or {})) for name, value in declared.items())
    return tuple(DeclaredInput(item, nearest(places, (name,)) or places[()]) for name, item in inputs)


def _input_issues(name: str, said: object) -> Iterator[Issue]:
    yield from name_issues(name, "an input", (name,))
    if said is None:
        return
    if not isinstance(said, Mapping):
        remedy = f"write `{name}: {{default: …}}`, or `{name}: {{}}`"
        yield Issue((name,), f"the declaration of input `{name}` must be a mapping", remedy)
        return
    wrong = [item for key, value in said.items() for item in _input_key_issues(name, str(key), value)]
    yield from wrong
    if not wrong:
        for key, problem in input_issues(_input(name, said)):
            yield Issue((name, key), f"input `{name}`: {problem}", _REMEDIES[key])


def _input_key_issues(name: str, key: str, value: object) -> Iterator[Issue]:
    begin, path = f"input `{name}`: `{key}`", (name, key)
    if key not in INPUT_KEYS:
        yield unknown_key(key, INPUT_KEYS, f"input `{name}`", path)
    elif key == "type" and value not in TYPES:
        yield Issue(path, f"{begin} must be one of {', '.join(TYPES)}", f"write one of {', '.join(TYPES)}")
    elif key == "required" and str(value) not in _TRUTH:
        yield Issue(path, f"{begin} must be true or false", "write true or false")
    elif key == "options":
        yield from _option_issues(name, value)
    elif problem := text_issue(value):
        yield Issue(path, f"{begin} is not a valid string: {problem}", 'quote it; write an empty string as `""`')


def _option_issues(name: str, value: object) -> Iterator[Issue]:
    begin, path = f"input `{name}`", (name, "options")
    if not isinstance(value, list):
        yield Issue(path, f"{begin}: `options` must be a list", "write `options: [one, another]`")
        return
    for number, item in enumerate(value):
        if problem := text_issue(item):
            yield Issue((*path, number), f"{begin}: an option is not a valid string: {problem}", "quote it")


def _input(name: str, said: Mapping[str, Any]) -> Input:
    plain = {key: value for key, value in said.items() if key in {"type", "description", "default", "pattern"}}
    required = _TRUTH[said.get("required", "true")]
    return Input(name, options=tuple(said.get("options", ())), required=required, **plain)
