"""Gates that earlier code cannot forge: only GitHub's reviews count as approvals.

Commands and agents in a job can change its journal. So each passed gate needs a review that
GitHub reports, of this run or of one that it continues.
"""

import os
from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from runtime_shim.engine.journal import Record
from runtime_shim.targets.github.api import Api, HaltError, check_run, reviews
from runtime_shim.targets.github.says import plain

LONGEST_NOTE = 2000  # characters
APPROVAL = "approval"  # the key for the run with the review
DECISIONS = {"gate": ("approved", "rejected"), "confirm": ("yes", "no")}  # the outcomes of such steps
WORDS = {"approved": ("approved", "pass", "yes"), "rejected": ("rejected", "fail", "no")}


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
