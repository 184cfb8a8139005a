"""What GitHub accepts in `on`: activity types, filters and schedules, as its documentation lists them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.regex import Regex
from compiler.source import KeyPath
from compiler.suggestions import did_you_mean

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
_CLOSEST = 5
"""Minutes between two scheduled runs."""


def unfit_settings(event: str, settings: Mapping[str, object]) -> Iterator[tuple[KeyPath, str]]:
    """Yield what GitHub refuses in the settings of an event, with the path in them."""
    for key in settings:
        if key.endswith("-ignore") and (other := key.removesuffix("-ignore")) in settings:
            yield (key,), f"`{event}` cannot have both `{other}` and `{key}`; write `!PATTERN` in `{other}` instead"
    if event == "workflow_run" and not settings.get("workflows"):
        yield (), "`workflow_run` needs the names of other workflows: `workflows: [NAME]`"
    for key, value in settings.items():
        items = [str(item) if isinstance(item, int | float) else item for item in _listed(value)]
        if not items or not all(isinstance(item, str) and item.strip() for item in items):
            yield (key,), f"`{key}` must be a list of strings that are not empty"
            continue
        for number, item in enumerate(map(str, items)):
            if problem := _item_problem(event, key, item):
                yield (key, str(number)) if isinstance(value, list) else (key,), problem


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _item_problem(event: str, key: str, item: str) -> str:
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
        if problem := _cron_problem(item["cron"]):
            yield (str(number), "cron"), f"the schedule `{item['cron']}` doesn't work on GitHub: {problem}"


def _cron_problem(cron: str) -> str:
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
