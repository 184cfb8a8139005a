"""Requests to GitHub's API about other runs and their reviews, and the gates that only these reviews approve.

Commands and agents in a job can change its journal. So each passed gate needs a review that GitHub reports, of this
run or of one that it continues.
"""

import json
import os
import re
import time
from collections import Counter
from collections.abc import Collection
from typing import Any, NamedTuple

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.targets.github.messages import plain

ANSWERED_WITHIN = 60  # seconds
PAUSES = (1, 2)  # seconds before retries
AGAIN = (0, 408, 429, 500, 502, 503, 504)  # statuses to retry
COMMIT = "[0-9a-f]{40,64}"
STATE = "rdc-state"  # the artifact of a waiting run
KEPT_PART = f"{STATE}-part_[0-9]{{1,4}}"
RUN_NUMBER = "[1-9][0-9]{0,18}"
LONGEST_NOTE = 2000  # characters
APPROVAL = "approval"  # the key for the run with the review
DECISIONS = {"gate": ("approved", "rejected"), "confirm": ("yes", "no")}  # the outcomes of such steps
WORDS = {"approved": ("approved", "pass", "yes"), "rejected": ("rejected", "fail", "no")}


class HaltError(Exception):
    """A reason to end the step: a title and a text for the run summary."""


class Api:
    """GitHub's API for this repository. The token never shows in a process list or follows a redirect."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._where = f"{os.environ.get('GITHUB_API_URL', '')}/repos/{os.environ.get('GITHUB_REPOSITORY', '')}"

    def get(self, path: str) -> tuple[int, Any]:
        """Return the HTTP status, or 0 for no answer, and the JSON answer, or None."""
        found: tuple[int, Any] = (0, None)
        for pause in (*PAUSES, 0):
            found = self._asked(path)
            if found[0] not in AGAIN or not pause:
                break
            time.sleep(pause)
        return found

    def _asked(self, path: str) -> tuple[int, Any]:
        import urllib.error  # slow to import
        import urllib.request

        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_about: Any) -> None:
                """Follow no redirect."""

        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/vnd.github+json"}
        request = urllib.request.Request(f"{self._where}/{path}", headers=headers)  # the runner's address
        try:
            with urllib.request.build_opener(Stay).open(request, timeout=ANSWERED_WITHIN) as answer:
                status, data = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, None
        except (OSError, ValueError):
            return 0, None
        try:
            return status, json.loads(data)
        except (ValueError, RecursionError):
            return status, None


def check_run(api: Api, number: str, events: list[str]) -> None:
    """Refuse to continue a foreign run, since anyone who can start it can forge its state."""
    if not re.fullmatch(RUN_NUMBER, number):
        says = "The input `resume` is not the number of a run. Copy it from the summary of the waiting run"
        raise HaltError("No run", says)
    status, run = api.get(f"actions/runs/{number}")
    if status == 404:
        raise HaltError("No run", f"This repository has no run {number}. Copy the number from the run summary")
    if status in (401, 403):
        raise HaltError("No permission", f"The job may not read run {number}. It needs the permission `actions: read`")
    if status != 200:
        said = f"GitHub did not answer whether run {number} can be continued (HTTP {status:03})"
        raise HaltError("No answer", f"{said}. Try again later")
    problem = problem_of(run, number, events) if isinstance(run, dict) else None
    if problem:
        raise HaltError("Another run", f"Run {number} cannot be continued: {problem}")
    commit = run.get("head_sha") if problem is not None else None
    if not isinstance(commit, str) or not re.fullmatch(COMMIT, commit):
        raise HaltError("No answer", f"GitHub gave an unexpected answer about run {number}. Try again later")
    if commit != os.environ["GITHUB_SHA"]:
        _check_commit(api, number, commit)


def find_kept(api: Api, number: str, any_part: bool) -> str:
    """Return the artifact of a waiting run, or ""; with `any_part` also of one that waited for an approval."""
    status, found = api.get(f"actions/runs/{number}/artifacts?per_page=100")
    listed = found.get("artifacts") if status == 200 and isinstance(found, dict) else None
    if not isinstance(listed, list):
        says = f"GitHub did not list the artifacts of run {number} (HTTP {status:03})"
        raise HaltError("No answer", f"{says}. Try again later")
    names = [str(one.get("name")) for one in listed if isinstance(one, dict) and not one.get("expired")]
    parts = [name for name in names if any_part and re.fullmatch(KEPT_PART, name)]
    kept = sorted(parts, key=lambda name: int(name.rpartition("_")[2])) + [name for name in names if name == STATE]
    return kept[-1] if kept else ""


def problem_of(run: Table, number: str, events: list[str]) -> Any:  # a string, or None
    """Return why a run is foreign, "" if it is not; None if the answer is not about a run."""
    here, workflow, branch = os.environ["GITHUB_REPOSITORY"], workflow_path(), os.environ["GITHUB_REF_NAME"]
    try:
        if str(run.get("id")) != number or not _is_here(run.get("repository"), here):
            return "it belongs to another repository"
        if not _is_here(run.get("head_repository"), here):
            return "it was started from a fork"
        if run["path"] != workflow and not run["path"].startswith(f"{workflow}@"):
            return f"it is not a run of {workflow}"
        if run["head_branch"] != branch:
            return f"it did not run on {branch}. Start this workflow on the branch of that run (`--ref`)"
        if run["status"] != "completed":
            return "it has not ended. Wait for it, or cancel it"
        return "" if run["event"] in events else "it was started by an event that this workflow does not have"
    except (KeyError, TypeError, AttributeError):
        return None


def workflow_path() -> str:
    """Return the path of this workflow in the repository."""
    path = os.environ.get("GITHUB_WORKFLOW_REF", "").split("@refs/")[0]
    return path[len(os.environ["GITHUB_REPOSITORY"]) + 1 :]


def _is_here(repository: Any, here: str) -> bool:  # GitHub's answer
    return isinstance(repository, dict) and str(repository.get("full_name")).lower() == here.lower()


def _check_commit(api: Api, number: str, commit: str) -> None:
    """Refuse a run whose commit is not on the branch, since a tag may have the branch's name."""
    status, found = api.get(f"compare/{commit}...{os.environ['GITHUB_SHA']}?per_page=1")
    how = found.get("status") if status == 200 and isinstance(found, dict) else None
    branch = os.environ["GITHUB_REF_NAME"]
    if how in ("ahead", "identical"):
        return
    if status == 404 or how in ("behind", "diverged"):
        said = f"Run {number} cannot be continued: its commit {commit} is not on {branch}"
        raise HaltError("Another commit", f"{said}. Start a new run")
    if status in (401, 403):
        raise HaltError("No permission", "The job may not compare commits. It needs the permission `contents: read`")
    said = f"GitHub did not answer whether {branch} has the commit of run {number} (HTTP {status:03})"
    raise HaltError("No answer", f"{said}. Try again later")


def reviews(api: Api, number: str, environment: str) -> list[tuple[str, str, str]]:
    """Return the reviews of an environment in a run: decision, reviewer, comment."""
    status, found = api.get(f"actions/runs/{number}/approvals")
    if status != 200 or not isinstance(found, list):
        said = "The reviews of this run cannot be read. The job needs the permission `actions: read`"
        raise HaltError("No reviews", f"{said}; start a new run")
    return [
        (str(one["state"]), str((one.get("user") or {}).get("login", "")), str(one.get("comment") or ""))
        for one in found
        if isinstance(one, dict) and one.get("state") in ("approved", "rejected") and _is_about(one, environment)
    ]


def _is_about(review: Table, environment: str) -> bool:
    """Return whether a review is about an environment; GitHub ignores the case of names."""
    named = review.get("environments")
    names = [one.get("name") for one in named if isinstance(one, dict)] if isinstance(named, list) else []
    return environment.lower() in [str(name).lower() for name in names]


# --- Gates ---


class Counted(NamedTuple):
    """The number of reviews, the attempt at the run, and earlier runs whose reviews also count."""

    attempt: str
    approved: int
    rejected: int
    runs: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join([self.attempt, str(self.approved), str(self.rejected), *self.runs])


class Decision(NamedTuple):
    """A reviewer's decision."""

    word: str
    by: str
    note: str


def count_reviews(api: Api, number: str, environment: str, runs: tuple[str, ...]) -> Counted:
    """Return the number of reviews of a run so far."""
    found = reviews(api, number, environment)
    states = Counter(state for state, _, _ in found)
    return Counted(os.environ["GITHUB_RUN_ATTEMPT"], states["approved"], states["rejected"], runs)


def runs_before(api: Api, records: list[Record], resumed: str, events: list[str]) -> tuple[str, ...]:
    """Return earlier runs of this workflow with reviews that count for this one.

    Other runs that a journal names later are forged: anyone can find some run with an approval.
    """
    here = os.environ["GITHUB_RUN_ID"]
    named = dict.fromkeys(str(record.get(APPROVAL, "")) for record in records)
    found = tuple(number for number in named if number not in (here, "") and resumed)
    for number in found:
        if number != resumed:  # checked already
            check_run(api, number, events)
    return found


def read_count(text: str) -> Counted:
    """Return the count that an earlier job made before its steps ran."""
    words = text.split()
    if len(words) < 3 or not all(word.isascii() and word.isdigit() for word in words):
        raise HaltError("No reviews", "The reviews before this run are unknown. Start a new run")
    return Counted(words[0], int(words[1]), int(words[2]), tuple(words[3:]))


def passed_gates(finished: list[Record], gates: Collection[str]) -> list[Record]:
    """Return the records of decisions about reviewed gates."""
    return [record for record in finished if record["node"] in gates and record["outcome"] != "resumed"]


def is_approved(record: Record) -> bool:
    """Return whether a record approves a gate."""
    return record["outcome"] in WORDS["approved"]


def check_passed(api: Api, records: list[Record], environment: str, since: Counted) -> list[tuple[str, str, str]]:
    """Refuse decisions without a review on GitHub; return the unused reviews of this run."""
    here = os.environ["GITHUB_RUN_ID"]
    left: list[tuple[str, str, str]] = []
    for number in dict.fromkeys([here, *(str(record.get(APPROVAL, "")) for record in records)]):
        if number not in (here, *since.runs):
            raise unapproved(records)
        found = reviews(api, number, environment)
        own = [record for record in records if str(record.get(APPROVAL, "")) == number]
        before = since if number == here else Counted("", 0, 0)
        for kind in ("approved", "rejected"):
            new = sum(state == kind for state, _, _ in found) - getattr(before, kind)
            used = [record for record in own if is_approved(record) == (kind == "approved")]
            if len(used) > new:
                raise unapproved(used)
            if number == here:
                left += _unused([one for one in found if one[0] == kind], used)[: new - len(used)]
    return left


def _unused(found: list[tuple[str, str, str]], used: list[Record]) -> list[tuple[str, str, str]]:
    """Return the reviews that remain after each record takes one by its reviewer."""
    left = list(found)
    for record in used:
        mine = next((one for one in left if one[1] == record.get("by")), None)
        if mine is None:
            raise unapproved(used)
        left.remove(mine)
    return left


def unapproved(records: list[Record]) -> HaltError:
    """Return the error for a run that passed a gate without approval."""
    gate = plain(records[-1]["node"]) if records else "a gate"
    return HaltError("Not approved", f"The run passed {gate}, but GitHub has no review that approves it")


def next_decision(left: list[tuple[str, str, str]], environment: str) -> Decision:
    """Take the next review, rejections first: people approve only after they are asked again."""
    order = sorted(left, key=lambda one: one[0] != "rejected")
    if not order:
        says = f"GitHub has no review of the environment {environment}. No one has decided, or it has no required"
        remedy = "Add reviewers in the repository's settings. Then start a new run"
        raise HaltError("Not reviewed", f"{says} reviewers. {remedy}")
    left.remove(order[0])
    state, by, comment = order[0]
    return Decision(state, plain(by)[:200], plain(comment)[:LONGEST_NOTE])


def check_used(left: list[tuple[str, str, str]]) -> None:
    """Refuse a run that ignores a rejection: it is not at the gate that people were asked about."""
    if any(state == "rejected" for state, _, _ in left):
        says = "A reviewer rejected a gate, but the run is not at that gate. Start a new run"
        raise HaltError("Not approved", says)


def same_attempt(attempt: object) -> None:
    """Refuse to continue in another attempt than the one that was handed on."""
    if attempt != os.environ["GITHUB_RUN_ATTEMPT"]:
        says = "An earlier attempt continued from here, and this would repeat it. Start a new run"
        raise HaltError("Re-run", says)
