"""The option `on`, with the inputs that rdc adds for replies and continued runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from backends.github.event_settings import TYPES, unfit_schedule, unfit_settings
from backends.github.scalar import scalar, visible
from compiler.diagnostic import Issue
from compiler.issues import InvalidError
from compiler.source import KeyPath
from compiler.suggestions import did_you_mean

INPUTS = ("answers", "resume")
"""The inputs that rdc adds to a workflow that waits for replies."""

OF_CONTINUATION = ("resume", "rerun")
"""The inputs that rdc adds to continue a specification."""

OF_PULL_REQUESTS = frozenset(["pull_request", "pull_request_review", "pull_request_review_comment", "workflow_call"])
"""Events that may be of a pull request. A called workflow runs for its caller's events."""

_ID = "the number at the end of the run's URL"

_BRANCHES = frozenset(["branches", "branches-ignore"])
_DECLARED = frozenset(["inputs", "outputs", "secrets"])
_PATHS = frozenset(["paths", "paths-ignore"])

# The settings of each event that starts a workflow.
EVENTS: dict[str, frozenset[str]] = {
    **dict.fromkeys((*TYPES, "repository_dispatch"), frozenset(["types"])),
    **dict.fromkeys(
        ("create", "delete", "deployment", "deployment_status", "fork", "gollum", "page_build", "public", "status"),
        frozenset[str](),
    ),
    "merge_group": _BRANCHES | {"types"},
    "push": _BRANCHES | _PATHS | {"tags", "tags-ignore"},
    "pull_request": _BRANCHES | _PATHS | {"types"},
    "schedule": frozenset(),
    "workflow_call": _DECLARED,
    "workflow_dispatch": frozenset(["inputs"]),
    "workflow_run": _BRANCHES | {"workflows", "types"},
}


def checked_events(value: Any) -> Any:  # noqa: ANN401 (it comes from a document)
    """Return the option `on`: an event, a list of events, or a mapping of events to settings.

    Raises:
        ValueError: An event is unknown or has an invalid setting.
    """
    names = [value] if isinstance(value, str) else value
    if not names or not isinstance(names, (list, dict)):
        raise ValueError("`on` is an event, a list of events, or a mapping of events to their settings")
    for name in names:
        if name == "pull_request_target":
            raise ValueError(
                "`pull_request_target` would give the repository's secrets to changes by strangers; "
                "use `pull_request`, which gives a fork no secrets"
            )
        if str(name) not in EVENTS:
            raise ValueError(f"GitHub has no event `{name}`{did_you_mean(str(name), EVENTS)}")
    found = [
        Issue((name, *path), problem)
        for name in names
        for path, problem in _unfit(name, names[name] if isinstance(names, dict) else None)
    ]
    if found:
        raise InvalidError(*found)
    return value


def _unfit(name: str, said: object) -> Iterator[tuple[KeyPath, str]]:
    """Yield what GitHub refuses about an event, with the path in its settings."""
    if name == "schedule":
        yield from unfit_schedule(said)
        return
    if not (said is None or isinstance(said, dict)):
        yield (), f"the settings of the event `{name}` must be a mapping or empty"
        return
    settings = said or {}
    for key, value in settings.items():
        if key not in EVENTS[name]:
            yield (key,), f"the event `{name}` has no setting `{key}`{did_you_mean(str(key), EVENTS[name])}"
        elif key == "inputs" and not (value is None or isinstance(value, dict)):
            yield (key,), "`inputs` is a mapping of names to settings"
    yield from unfit_settings(name, {key: value for key, value in settings.items() if key in EVENTS[name] - _DECLARED})


def with_inputs(events: Mapping[str, Any], example: str) -> dict[str, Any]:
    """Return the events with inputs for replies and for continuing a waiting run.

    `example` is a reply that the workflow accepts.
    """
    answers = {"description": f"Replies to questions, for example: {example}", "type": "string"}
    resume = {"description": f"To continue a waiting run, its ID: {_ID}", "type": "string"}
    manual = dict(events.get("workflow_dispatch") or {})
    manual["inputs"] = {**(manual.get("inputs") or {}), "answers": answers, "resume": resume}
    return {**_callable(events, answers), "workflow_dispatch": manual}


def with_continuation(events: Mapping[str, Any]) -> dict[str, Any]:
    """Return the events with inputs for continuing a run that was blocked, failed or interrupted."""
    resume = {"description": f"To continue a blocked or failed run, its ID: {_ID}", "type": "string"}
    rerun = {"description": "Run an interrupted command again", "type": "boolean", "default": False}
    manual = dict(events.get("workflow_dispatch") or {})
    manual["inputs"] = {**(manual.get("inputs") or {}), "resume": resume, "rerun": rerun}
    return {**events, "workflow_dispatch": manual}


def with_secrets(events: Mapping[str, Any], stored: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the events with the secrets that a caller can pass. `stored` has their names on GitHub."""
    if "workflow_call" not in events:
        return events
    called = dict(events["workflow_call"] or {})
    own = {name: {"required": False} for name in stored.values()}
    return {**events, "workflow_call": {**called, "secrets": {**own, **(called.get("secrets") or {})}}}


def _callable(events: Mapping[str, Any], answers: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the events with replies for a called workflow. It cannot be continued, so it has no input for that."""
    if "workflow_call" not in events:
        return events
    called = dict(events["workflow_call"] or {})
    called["inputs"] = {**(called.get("inputs") or {}), "answers": answers}
    return {**events, "workflow_call": called}


def lines(events: Mapping[str, Any]) -> str:
    """Return the lines below `on:`."""
    return "\n".join(_mapping(events, 2))


def value(item: object, indent: int) -> str:
    """Return a plain value as it appears after a key: on the same line, or below it in block style."""
    if isinstance(item, (dict, list)) and item:
        return "".join(f"\n{line}" for line in _block(item, indent))
    return "" if item is None or item == {} else f" {_single(item, indent)}"


def _mapping(values: Mapping[str, Any], indent: int) -> Iterator[str]:
    for key, item in values.items():
        yield f"{' ' * indent}{scalar(str(key))}:{value(item, indent + 2)}"


def _block(item: Mapping[str, Any] | list[Any], indent: int) -> Iterator[str]:
    if isinstance(item, Mapping):
        yield from _mapping(item, indent)
        return
    dash = f"{' ' * indent}- "
    for entry in item:
        if isinstance(entry, (dict, list)) and entry:
            first, *others = "\n".join(_block(entry, indent + 2)).split("\n")
            yield from (dash + first[indent + 2 :], *others)
        else:
            yield dash + _single(entry, indent + 2)


def _single(item: object, indent: int) -> str:
    """Return a value without members: a string as a scalar, anything else as JSON, which is valid YAML."""
    return scalar(item, indent) if isinstance(item, str) else visible(json.dumps(item, ensure_ascii=False))
