"""What starts a workflow: the option `on`, with the inputs that a workflow with prompts needs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from backends.github.scalar import scalar, visible
from compiler.suggestions import did_you_mean

INPUTS = ("answers", "resume")
"""The names of the inputs that a workflow with prompts needs."""

OF_CONTINUATION = ("resume", "rerun")
"""The names of the inputs by which a specification goes on."""

OF_PULL_REQUESTS = frozenset(["pull_request", "pull_request_review", "pull_request_review_comment", "workflow_call"])
"""The events that may be of a pull request: a workflow that is called runs on those of its caller."""

_ID = "the number at the end of its address"

_PATTERNS = frozenset(["branches", "branches-ignore", "tags", "tags-ignore", "paths", "paths-ignore"])
_PULLS = frozenset(["branches", "branches-ignore", "paths", "paths-ignore", "types"])

# What can be said of each event that starts a workflow.
_EVENTS: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        (
            "branch_protection_rule", "check_run", "check_suite", "discussion", "discussion_comment", "issue_comment",
            "issues", "label", "merge_group", "milestone", "pull_request_review", "pull_request_review_comment",
            "registry_package", "release", "repository_dispatch", "watch",
        ),
        frozenset(["types"]),
    ),
    **dict.fromkeys(
        ("create", "delete", "deployment", "deployment_status", "fork", "gollum", "page_build", "public", "status"),
        frozenset[str](),
    ),
    "push": _PATTERNS,
    "pull_request": _PULLS,
    "schedule": frozenset(),
    "workflow_call": frozenset(["inputs", "outputs", "secrets"]),
    "workflow_dispatch": frozenset(["inputs"]),
    "workflow_run": frozenset(["workflows", "types", "branches", "branches-ignore"]),
}  # fmt: skip


def checked_events(value: Any) -> Any:  # noqa: ANN401 (it comes from a document)
    """The option `on`: an event, a list of events, or a mapping from each to what is said of it.

    Raises:
        ValueError: An event is unknown, or cannot have what is said of it.
    """
    names = [value] if isinstance(value, str) else value
    if not names or not isinstance(names, (list, dict)):
        raise ValueError("`on` is an event, a list of events, or a mapping from events to what is said of them")
    for name in names:
        if name == "pull_request_target":
            raise ValueError(
                "`pull_request_target` gives the secrets of the repository to what strangers propose; "
                "take `pull_request`, which gives those of a fork none"
            )
        if str(name) not in _EVENTS:
            raise ValueError(f"GitHub has no event `{name}`{did_you_mean(str(name), _EVENTS)}")
        _check_event(name, names[name] if isinstance(names, dict) else None)
    return value


def _check_event(name: str, said: object) -> None:
    if name == "schedule":
        crons = said if isinstance(said, list) else []
        if not crons or not all(isinstance(item, dict) and isinstance(item.get("cron"), str) for item in crons):
            raise ValueError("`schedule` is a list of `cron: …`")
        return
    for key, value in said.items() if isinstance(said, dict) else ():
        if key not in _EVENTS[name]:
            raise ValueError(f"the event `{name}` cannot have `{key}`")
        if key == "inputs" and not (value is None or isinstance(value, dict)):
            raise ValueError("`inputs` is a mapping from names to what is said of them")
    if not (said is None or isinstance(said, dict)):
        raise ValueError(f"what is said of the event `{name}` is a mapping, or nothing")


def with_inputs(events: Mapping[str, Any], example: str) -> dict[str, Any]:
    """Events with the inputs by which a workflow gets answers, and goes on with a run that waits for one.

    `example` is an answer that the workflow takes.
    """
    answers = {"description": f"Answers to prompts, such as: {example}", "type": "string"}
    resume = {"description": f"The ID of a run that waits, to go on with it: {_ID}", "type": "string"}
    manual = dict(events.get("workflow_dispatch") or {})
    manual["inputs"] = {**(manual.get("inputs") or {}), "answers": answers, "resume": resume}
    return {**_callable(events, answers), "workflow_dispatch": manual}


def with_continuation(events: Mapping[str, Any]) -> dict[str, Any]:
    """Events with the inputs by which a workflow goes on with a run that was blocked, failed or cut off."""
    resume = {"description": f"The ID of a run that was blocked or failed: {_ID}", "type": "string"}
    rerun = {"description": "Do a command again that was interrupted", "type": "boolean", "default": False}
    manual = dict(events.get("workflow_dispatch") or {})
    manual["inputs"] = {**(manual.get("inputs") or {}), "resume": resume, "rerun": rerun}
    return {**events, "workflow_dispatch": manual}


def with_secrets(events: Mapping[str, Any], stored: Mapping[str, str]) -> Mapping[str, Any]:
    """Events with the secrets that whoever calls the workflow can give it; `stored` has what GitHub calls them."""
    if "workflow_call" not in events:
        return events
    called = dict(events["workflow_call"] or {})
    own = {name: {"required": False} for name in stored.values()}
    return {**events, "workflow_call": {**called, "secrets": {**own, **(called.get("secrets") or {})}}}


def _callable(events: Mapping[str, Any], answers: Mapping[str, str]) -> Mapping[str, Any]:
    """Events with answers for a workflow that is called; it cannot be continued, so it has no input for that."""
    if "workflow_call" not in events:
        return events
    called = dict(events["workflow_call"] or {})
    called["inputs"] = {**(called.get("inputs") or {}), "answers": answers}
    return {**events, "workflow_call": called}


def lines(events: Mapping[str, Any]) -> str:
    """The lines below `on:`."""
    return "\n".join(_mapping(events, 2))


def value(item: object, indent: int) -> str:
    """A plain value as it stands behind a key: on the line of the key, or below it in block style."""
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
    """A value that has nothing in it: a text as a scalar, all else as JSON, which YAML contains."""
    return scalar(item, indent) if isinstance(item, str) else visible(json.dumps(item, ensure_ascii=False))
