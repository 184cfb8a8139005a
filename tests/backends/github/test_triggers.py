"""Events, schedules and permissions that GitHub refuses. actionlint knows GitHub's rules: both must agree."""

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from backends.github import GithubBackend
from backends.github.options.triggers import EVENTS, TYPES
from compiler.diagnostics.issues import InvalidError
from tests.support.github.lint import ACTIONLINT, program

pytestmark = pytest.mark.process

CRONS = {
    "0 0 * * *": "", "*/5 * * * *": "", "5/15 * * * *": "", "0-59/5 * * * *": "",
    "0,30 4-6 1,15 JAN-mar MON-FRI": "", "00 04 * * sun": "", "0 0 30 2 1": "", "0 0 29 2 *": "",
    "0 0 31 */2 *": "", "0 25 * * *": "`25` is not a valid hour", "60 0 * * *": "`60` is not a valid minute",
    "0 0 0 * *": "`0` is not a valid day of the month", "0 0 * 13 *": "`13` is not a valid month",
    "0 0 * FOO *": "`FOO` is not a valid month", "0 0 * * 7": "`7` is not a valid day of the week",
    "0 0 * * FRI-MON": "`FRI-MON` is not a valid day", "0 0 L * *": "`L` is not a valid day",
    "10-5 * * * *": "`10-5` is not a valid minute", "1- * * * *": "`1-` is not a valid minute",
    "*/0 * * * *": "`*/0` is not a valid minute", "1/2/3 * * * *": "`1/2/3` is not a valid minute",
    "@daily": "write five values", "0 0 * * * *": "write five values", "* * * * *": "at least 5 minutes apart",
    "*/3 * * * *": "at least 5 minutes apart", "0,4 3 * * *": "at least 5 minutes apart",
    "0 0 31 2 *": "no month that it names has this day", "0 0 31 4,6 *": "no month that it names has this day",
}  # fmt: skip

SETTINGS: list[tuple[str, object, str]] = [
    ("issues", {"types": ["opened", "labeled"]}, ""),
    ("issues", {"types": "opened"}, ""),
    ("issues", {"types": ["open"]}, "did you mean `opened`?"),
    ("issues", {"types": ["Opened"]}, "did you mean `opened`?"),
    ("issue_comment", {"types": []}, "a list of strings that are not empty"),
    ("watch", {"types": ["zzz"]}, "it has `started`"),
    ("repository_dispatch", {"types": ["anything at all"]}, ""),
    ("pull_request", {"branches": ["main", "!x"], "paths": ["src/**"]}, ""),
    ("pull_request", {"tags": ["v*"]}, "has no setting `tags`"),
    ("pull_request", {"branch": ["v*"]}, "did you mean `branches`?"),
    ("push", {"types": ["opened"]}, "has no setting `types`"),
    ("push", {"branches": ["a"], "tags": ["v[0-9]+.*"], "paths-ignore": ["docs/**"]}, ""),
    ("push", {"branches": ["a"], "branches-ignore": ["b"]}, "both `branches` and `branches-ignore`"),
    ("push", {"tags": ["a"], "tags-ignore": ["b"]}, "both `tags` and `tags-ignore`"),
    ("push", {"paths": ["a"], "paths-ignore": ["b"]}, "both `paths` and `paths-ignore`"),
    ("push", {"branches": ["feature x"]}, "cannot have ` `"),
    ("push", {"branches": ["a~1"]}, "cannot have `~`"),
    ("push", {"branches": ["/main"]}, "cannot have `/` there"),
    ("push", {"branches": ["releases/"]}, "cannot have `/` there"),
    ("push", {"branches": ["releases/**", "a?b", "c+"]}, ""),
    ("push", {"branches": ["v[0-9"]}, "`[` needs characters and `]`"),
    ("push", {"branches": ["v[]"]}, "`[` needs characters and `]`"),
    ("push", {"branches": ["v[12]+", "\\++", "a..b"]}, ""),
    ("push", {"tags": ["*+"]}, "must follow a character"),
    ("push", {"tags": ["?x"]}, "must follow a character"),
    ("push", {"branches": [3, 1.5], "tags": 2}, ""),
    ("push", {"tags": [""]}, "that are not empty"),
    ("push", {"paths": ["./src"]}, "without `.`"),
    ("push", {"paths": ["../b"]}, "without `.`"),
    ("push", {"paths": [" a"]}, "or spaces"),
    ("push", {"paths": ["a b", "!.github/**", "x/"]}, ""),
    ("create", {"branches": ["main"]}, "has no setting `branches`"),
    ("check_run", {"branches": ["main"]}, "has no setting `branches`"),
    ("merge_group", {"branches": ["main"], "types": ["checks_requested"]}, ""),
    ("workflow_run", {"workflows": ["CI"], "types": ["completed"], "branches": ["main"]}, ""),
    ("workflow_run", {"workflows": ["CI"], "branches": ["a"], "branches-ignore": ["b"]}, "both `branches`"),
    ("workflow_run", {"types": ["completed"]}, "needs the names of other workflows"),
    ("workflow_run", None, "needs the names of other workflows"),
    ("schedule", [{"cron": "0 0 * * *", "timezone": "Europe/Berlin"}], ""),
    ("schedule", [{"cron": "0 0 * * *", "tz": "Europe/Berlin"}], "but not `tz`"),
    *(("schedule", [{"cron": cron}], problem) for cron, problem in CRONS.items()),
    *((event, {"types": list(types)}, "") for event, types in TYPES.items() if event != "workflow_run"),
]

PERMISSIONS = {
    ("contents", "write"): "", ("id-token", "write"): "", ("id-token", "none"): "",
    ("id-token", "read"): "only `id-token: write`", ("models", "read"): "",
    ("models", "write"): "only `models: read`", ("vulnerability-alerts", "read"): "",
    ("vulnerability-alerts", "write"): "only `vulnerability-alerts: read`",
    ("statuses", "admin"): "should be 'read', 'write' or 'none'", ("code-quality", "read"): "",
    ("content", "read"): "the name `content`",
}  # fmt: skip


def problem(options: Mapping[str, object]) -> str:
    try:
        GithubBackend().options.validated(options)
    except InvalidError as error:
        return str(error)
    return ""


def refused_files(folder: Path, documents: Sequence[Mapping[str, object]]) -> list[bool]:
    """Whether actionlint finds something in each workflow."""
    jobs = {"a": {"runs-on": "ubuntu-latest", "steps": [{"run": "echo a"}]}}
    for number, document in enumerate(documents):
        (folder / f"{number}.yml").write_text(json.dumps({"name": "a", **document, "jobs": jobs}), encoding="utf-8")
    command = [program(ACTIONLINT[0]), *ACTIONLINT[1:], *sorted(map(str, folder.glob("*.yml")))]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    found = {int(match[1]) for match in re.finditer(r"(\d+)\.yml:", done.stdout)}
    return [number in found for number in range(len(documents))]


def test_what_github_refuses_of_an_event(tmp_path: Path) -> None:
    for event, settings, fragment in SETTINGS:
        found = problem({"on": {event: settings}})
        assert (fragment in found, bool(found)) == (True, bool(fragment)), (event, settings, found)
    refused = refused_files(tmp_path, [{"on": {event: settings}} for event, settings, _ in SETTINGS])
    assert refused == [bool(fragment) for _, _, fragment in SETTINGS], "actionlint agrees"


@pytest.mark.parametrize(
    "keys",
    [
        ("branches", "tags-ignore", "paths", "types"),
        pytest.param(("branches-ignore", "tags", "paths-ignore"), marks=pytest.mark.soak),
    ],
)
def test_each_event_has_only_its_own_filters(keys: tuple[str, ...], tmp_path: Path) -> None:
    """rdc refuses just what actionlint refuses, for all events and filters."""
    pairs = [
        (event, {**({"workflows": ["a"]} if event == "workflow_run" else {}), key: [TYPES.get(event, ["x"])[0]]})
        for event in EVENTS
        if event not in {"schedule", "workflow_call", "workflow_dispatch"}
        for key in keys
    ]
    refused = refused_files(tmp_path, [{"on": {event: settings}} for event, settings in pairs])
    assert [bool(problem({"on": {event: settings}})) for event, settings in pairs] == refused


def test_permissions_that_github_refuses(tmp_path: Path) -> None:
    for (scope, access), fragment in PERMISSIONS.items():
        found = problem({"permissions": {scope: access}})
        assert (fragment in found, bool(found)) == (True, bool(fragment)), (scope, access, found)
    documents = [{"on": "push", "permissions": {scope: access}} for scope, access in PERMISSIONS]
    refused = refused_files(tmp_path, documents)
    assert refused == [bool(fragment) for fragment in PERMISSIONS.values()], "actionlint agrees"


def test_all_problems_are_found_at_their_places() -> None:
    on = {"schedule": [{"cron": "0 0 * * *"}, {"cron": "x"}], "issues": {"types": ["opened", "open"]}}
    with pytest.raises(InvalidError) as caught:
        GithubBackend().options.validated({"on": on, "permissions": {"contents": "read", "id-token": "read"}})
    assert [item.path for item in caught.value.issues] == [
        ("on", "schedule", "1", "cron"),
        ("on", "issues", "types", "1"),
        ("permissions", "id-token"),
    ]
