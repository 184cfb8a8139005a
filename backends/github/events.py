"""The event fields that `bind` can read, with the events that have them: a fixed list (E1).

Each is a string, a number or a boolean in `github.event`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

from compiler.regex import Regex
from compiler.suggestions import nearest_names

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
