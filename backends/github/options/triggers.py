"""The option `on`, the event fields that `bind` can read, and the inputs that rdc adds."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from backends.github.yaml.scalar import scalar, visible
from compiler.diagnostics.issues import InvalidError
from compiler.diagnostics.model import Issue
from compiler.text.regex import Regex
from compiler.text.source import KeyPath
from compiler.text.suggestions import did_you_mean, nearest_names

_WRITTEN = "created edited deleted "
_CARED = "assigned unassigned milestoned demilestoned opened closed reopened edited labeled unlabeled locked unlocked "
_REVIEWED = "review_requested review_request_removed auto_merge_enabled auto_merge_disabled enqueued dequeued stacked "
_ANSWERED = "labeled unlabeled locked unlocked pinned unpinned transferred category_changed answered unanswered"

_TYPES: tuple[tuple[str, str], ...] = (
    ("branch_protection_rule discussion_comment issue_comment label pull_request_review_comment", _WRITTEN),
    ("check_run", "created rerequested completed requested_action"),
    ("check_suite", "completed"),
    ("discussion", _WRITTEN + _ANSWERED),
    ("issues", _CARED + "pinned unpinned deleted transferred typed untyped field_added field_removed"),
    ("merge_group", "checks_requested destroyed"),
    ("milestone", _WRITTEN + "opened closed"),
    ("pull_request", _CARED + _REVIEWED + "synchronize ready_for_review converted_to_draft"),
    ("pull_request_review", "submitted edited dismissed"),
    ("registry_package", "published updated"),
    ("release", _WRITTEN + "published unpublished prereleased released"),
    ("watch", "started"),
    ("workflow_run", "completed requested in_progress"),
)
TYPES = {event: tuple(types.split()) for events, types in _TYPES for event in events.split()}
"""The activity types of each event. A `repository_dispatch` has any."""

_PATTERN = Regex(r"!?(?:\*|(?:[^*+?\[\\]|\\.|\[[^\[\]]+\])[+?]?)+")
_NOT_IN_REFS = Regex(r"[ ~^:]|^!?/|/$")
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_CRON: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 6, _DAYS),
)
_LONGEST_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_CLOSEST = 5  # minutes between two scheduled runs


def unfit_settings(event: str, settings: Mapping[str, object]) -> Iterator[tuple[KeyPath, str]]:
    """Yield what GitHub refuses in the settings of an event, with the path in them."""
    for key in settings:
        if key.endswith("-ignore") and (other := key.removesuffix("-ignore")) in settings:
            yield (key,), f"`{event}` cannot have both `{other}` and `{key}`; write `!PATTERN` in `{other}` instead"
    if event == "workflow_run" and not settings.get("workflows"):
        yield (), "`workflow_run` needs the names of other workflows: `workflows: [NAME]`"
    for key, value in settings.items():
        listed = value if isinstance(value, list) else [value]
        items = [str(item) if isinstance(item, int | float) else item for item in listed]
        if not items or not all(isinstance(item, str) and item.strip() for item in items):
            yield (key,), f"`{key}` must be a list of strings that are not empty"
            continue
        for number, item in enumerate(map(str, items)):
            if problem := _item_issue(event, key, item):
                yield (key, str(number)) if isinstance(value, list) else (key,), problem


def _item_issue(event: str, key: str, item: str) -> str:
    if key == "types":
        known = TYPES.get(event, (item,))
        near = did_you_mean(item, known) or f"; it has {', '.join(f'`{name}`' for name in known)}"
        return "" if item in known else f"the event `{event}` doesn't have the activity type `{item}`{near}"
    if key == "workflows":
        return ""
    if not _PATTERN.fullmatch(item):
        return f"in the pattern `{item}`, `+` and `?` must follow a character, and `[` needs characters and `]`"
    if key.startswith("paths"):
        is_inside = item == item.strip() and item.removeprefix("!").split("/")[0] not in {".", ".."}
        return "" if is_inside else f"the path `{item}` must start at the root of the repository, without `.` or spaces"
    bad = _NOT_IN_REFS.search(item)
    return f"the name of a branch or tag cannot have `{bad[0]}` there: `{item}`" if bad else ""


def unfit_schedule(said: object) -> Iterator[tuple[KeyPath, str]]:
    """Yield what GitHub refuses or does not keep in a schedule, with the path in it."""
    crons = said if isinstance(said, list) else []
    if not crons or not all(isinstance(item, dict) and isinstance(item.get("cron"), str) for item in crons):
        yield (), "`schedule` is a list of `cron: …`"
        return
    for number, item in enumerate(crons):
        for key in item.keys() - {"cron", "timezone"}:
            yield (str(number), str(key)), f"a schedule has `cron` and `timezone`, but not `{key}`"
        if problem := _cron_issue(item["cron"]):
            yield (str(number), "cron"), f"the schedule `{item['cron']}` doesn't work on GitHub: {problem}"


def _cron_issue(cron: str) -> str:
    words = cron.split()
    if len(words) != len(_CRON):
        return "write five values: minute, hour, day of the month, month, day of the week"
    sets = []
    for word, (name, least, most, names) in zip(words, _CRON, strict=True):
        try:
            sets.append({value for part in word.split(",") for value in _values(part, least, most, names)})
        except ValueError:
            numbers = f"{least} to {most}{' or names' * bool(names)}"
            return f"`{word}` is not a valid {name}; use {numbers}, `*`, `,`, `-` and `/`"
    minutes, _, days, months, _ = sets
    if any(after - before < _CLOSEST for before, after in zip(sorted(minutes), sorted(minutes)[1:], strict=False)):
        return f"two runs must be at least {_CLOSEST} minutes apart"
    if words[4] == "*" and min(days) > max(_LONGEST_MONTHS[month - 1] for month in months):
        return "no month that it names has this day"
    return ""


def _values(part: str, least: int, most: int, names: tuple[str, ...]) -> range:
    """Return the values of a part of a schedule, such as `*/15` or `MON-FRI`; raises `ValueError`."""
    span, slash, step = part.partition("/")
    first, dash, last = span.partition("-")
    start = least if span == "*" else _value(first, least, most, names)
    end = most if span == "*" or (slash and not dash) else _value(last if dash else first, least, most, names)
    if end < start:
        raise ValueError
    return range(start, end + 1, _value(step, 1, 9_999, ()) if slash else 1)


def _value(word: str, least: int, most: int, names: tuple[str, ...]) -> int:
    if word.upper() in names:
        return names.index(word.upper()) + least
    if not (word.isascii() and word.isdigit() and len(word) < 5 and least <= int(word) <= most):
        raise ValueError
    return int(word)


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
    """Return the events with inputs for a reply and for continuing a waiting run. A called one cannot be continued.

    `example` is a reply that the workflow accepts.
    """
    answers = {"description": f"With resume: the answer to the question, for example: {example}", "type": "string"}
    resume = {"description": f"To continue a waiting run, its ID: {_ID}", "type": "string"}
    return _with(events, "workflow_dispatch", answers=answers, resume=resume)


def with_continuation(events: Mapping[str, Any]) -> dict[str, Any]:
    """Return the events with inputs for continuing a run that was blocked, failed or interrupted."""
    resume = {"description": f"To continue a blocked or failed run, its ID: {_ID}", "type": "string"}
    rerun = {"description": "Run an interrupted command again", "type": "boolean", "default": False}
    return _with(events, "workflow_dispatch", resume=resume, rerun=rerun)


def with_secrets(events: Mapping[str, Any], stored: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the events with the secrets that a caller can pass. `stored` has their names on GitHub."""
    if "workflow_call" not in events:
        return events
    called = dict(events["workflow_call"] or {})
    own = {name: {"required": False} for name in stored.values()}
    return {**events, "workflow_call": {**called, "secrets": {**own, **(called.get("secrets") or {})}}}


def _with(events: Mapping[str, Any], event: str, **inputs: object) -> dict[str, Any]:
    """Return the events with more inputs of one of them."""
    trigger = events.get(event) or {}
    return {**events, event: {**trigger, "inputs": {**(trigger.get("inputs") or {}), **inputs}}}


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


PREFIX = "event."

_PULLS = ("pull_request", "pull_request_review", "pull_request_review_comment")
_COMMENTS = ("issue_comment", "pull_request_review_comment", "discussion_comment")
_ISSUE = ("body", "html_url", "number", "state", "title", "user.login")
_DISCUSSION = ("body", "html_url", "number", "title", "user.login")

_OBJECTS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("issue", ("issues", "issue_comment"), _ISSUE),
    ("pull_request", _PULLS, (*_ISSUE, "base.ref", "base.sha", "draft", "head.ref", "head.sha", "merged")),
    ("comment", _COMMENTS, ("body", "html_url", "id", "user.login")),
    ("review", ("pull_request_review",), ("body", "html_url", "state", "user.login")),
    ("discussion", ("discussion", "discussion_comment"), _DISCUSSION),
    ("release", ("release",), ("body", "html_url", "name", "prerelease", "tag_name", "target_commitish")),
    ("head_commit", ("push",), ("id", "message", "url")),
    ("label", ("issues", "label", "pull_request", "discussion"), ("name",)),
    ("milestone", ("milestone",), ("description", "html_url", "number", "title")),
    ("deployment", ("deployment", "deployment_status"), ("environment", "id", "ref", "sha")),
    ("deployment_status", ("deployment_status",), ("description", "environment", "state", "target_url")),
    ("workflow_run", ("workflow_run",), ("conclusion", "event", "head_branch", "head_sha", "html_url", "id", "name")),
    ("check_run", ("check_run",), ("conclusion", "head_sha", "html_url", "name")),
    ("check_suite", ("check_suite",), ("conclusion", "head_branch", "head_sha")),
    ("merge_group", ("merge_group",), ("base_ref", "base_sha", "head_ref", "head_sha")),
)

_FIELDS: dict[str, frozenset[str]] = {
    **{f"{name}.{field}": frozenset(events) for name, events, fields in _OBJECTS for field in fields},
    **dict.fromkeys(("after", "before", "compare"), frozenset({"push"})),
    "ref": frozenset({"create", "delete", "push"}),
    "ref_type": frozenset({"create", "delete"}),
    "schedule": frozenset({"schedule"}),
}

_EXAMPLES = (
    "issue.title",
    "pull_request.title",
    "discussion.title",
    "release.tag_name",
    "head_commit.message",
    "ref",
    "label.name",
    "milestone.title",
    "deployment.environment",
    "workflow_run.head_branch",
    "check_run.name",
    "check_suite.head_branch",
    "merge_group.head_ref",
)
"""Fields with a short string in most runs of their events."""

AUTHORED = {
    "issue_comment": "comment",
    "discussion_comment": "comment",
    "pull_request_review_comment": "comment",
    "pull_request_review": "review",
    "issues": "issue",
    "discussion": "discussion",
    "pull_request": "pull_request",
}
"""The events about something that a person wrote, and its name in `github.event`."""

_PAYLOAD = Regex(r"client_payload\.[A-Za-z_][A-Za-z0-9_]*")
"""Fields of a `repository_dispatch`. Its sender chooses the names."""


def written_by(associations: Collection[str], events: Collection[str]) -> Iterator[str]:
    """Yield the conditions that a run's event is about something by such an author, or about nothing by a person."""
    wanted = json.dumps(list(associations))
    for event in (event for event in events if event in AUTHORED):
        test = f"contains(fromJSON('{wanted}'), github.event.{AUTHORED[event]}.author_association)"
        yield test if len(events) == 1 else f"github.event_name != '{event}' || {test}"


def events_with(field: str) -> frozenset[str] | None:
    """Return the events that have a field such as `issue.body`, or None if an input cannot be bound to the field."""
    if _PAYLOAD.fullmatch(field):
        return frozenset({"repository_dispatch"})
    return _FIELDS.get(field)


def example_field(events: Collection[str]) -> str:
    """Return a field that all of these events have, such as `event.issue.title`, or "" if there is no useful one."""
    return next((PREFIX + field for field in _EXAMPLES if _FIELDS[field].issuperset(events)), "")


def can_be_long(field: str) -> bool:
    """Return whether people can write more into a field than an environment variable can hold."""
    return field.rpartition(".")[2] in {"body", "description", "message"}


def problem_with(field: str) -> str:
    """Return what is wrong with the name of a field, or ""."""
    if events_with(field) is not None:
        return ""
    close = nearest_names(field, _FIELDS, 1)
    hint = f"did you mean `{PREFIX}{close[0]}`?" if close else "use `event.issue.body`, for example"
    return f"an input cannot be bound to `{PREFIX}{field}`; {hint}"
