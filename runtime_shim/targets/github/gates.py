"""Gates hold against the code that ran before them: only GitHub says who has approved what (rule 1).

A journal comes from a job in which commands and agents have run. So each gate that it has passed needs a review that
GitHub reports, of this run or of one that it was continued from.
"""

import os
from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from runtime_shim.engine.journal import Record
from runtime_shim.targets.github.api import Api, HaltError, check_run, reviews
from runtime_shim.targets.github.says import plain

LONGEST_NOTE = 2000  # characters
APPROVAL = "approval"  # the key under which a record names the run in which GitHub has the review
DECISIONS = {"gate": ("approved", "rejected"), "confirm": ("yes", "no")}  # the words by which such steps are left
WORDS = {"approved": ("approved", "pass", "yes"), "rejected": ("rejected", "fail", "no")}


class Counted(NamedTuple):
    """How many reviews there are, in which attempt at the run, and the runs before it whose reviews count as well."""

    attempt: str
    approved: int
    rejected: int
    runs: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join([self.attempt, str(self.approved), str(self.rejected), *self.runs])


class Decision(NamedTuple):
    """What a reviewer has decided."""

    word: str
    by: str
    note: str


def count_reviews(api: Api, number: str, environment: str, runs: tuple[str, ...]) -> Counted:
    """Count the reviews of a run until now."""
    found = reviews(api, number, environment)
    states = Counter(state for state, _, _ in found)
    return Counted(os.environ["GITHUB_RUN_ATTEMPT"], states["approved"], states["rejected"], runs)


def runs_before(api: Api, records: list[Record], resumed: str, events: list[str]) -> tuple[str, ...]:
    """Return the runs in which reviewers have decided before this one began: of this workflow, and none without one.

    Anything else that a journal names later was forged: there are runs with an approval for whoever looks for one.
    """
    here = os.environ["GITHUB_RUN_ID"]
    named = dict.fromkeys(str(record.get(APPROVAL, "")) for record in records)
    found = tuple(number for number in named if number not in (here, "") and resumed)
    for number in found:
        if number != resumed:  # that one was looked at already
            check_run(api, number, events)
    return found


def read_count(text: str) -> Counted:
    """Read what an earlier job has counted before any of its steps ran."""
    words = text.split()
    if len(words) < 3 or not all(word.isascii() and word.isdigit() for word in words):
        raise HaltError("No reviews", "It is not known which reviews came before this run. Begin a new run")
    return Counted(words[0], int(words[1]), int(words[2]), tuple(words[3:]))


def passed_gates(finished: list[Record], gates: Collection[str]) -> list[Record]:
    """Return the records of decisions about gates that reviewers decide about."""
    return [record for record in finished if record["node"] in gates and record["outcome"] != "resumed"]


def is_approved(record: Record) -> bool:
    """Return whether a record lets the run through."""
    return record["outcome"] in WORDS["approved"]


def check_passed(api: Api, records: list[Record], environment: str, since: Counted) -> list[tuple[str, str, str]]:
    """Refuse decisions that GitHub does not report; return the reviews of this run that no record has used."""
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
    """Return the reviews that are left when each record has taken one of its reviewer."""
    left = list(found)
    for record in used:
        mine = next((one for one in left if one[1] == record.get("by")), None)
        if mine is None:
            raise unapproved(used)
        left.remove(mine)
    return left


def unapproved(records: list[Record]) -> HaltError:
    """Return the reason for a run that is past a gate which nobody has approved."""
    gate = plain(records[-1]["node"]) if records else "a gate"
    return HaltError("Not approved", f"The run is past {gate}, and GitHub reports no review that let it through")


def next_decision(left: list[tuple[str, str, str]], environment: str) -> Decision:
    """Take the next review: people reject first what they approve when they are asked again."""
    order = sorted(left, key=lambda one: one[0] != "rejected")
    if not order:
        says = f"GitHub reports no review of the environment {environment}. Nobody has decided, or it has no required"
        raise HaltError(
            "Not reviewed", f"{says} reviewers. Add them in the settings of the repository. Begin a new run"
        )
    left.remove(order[0])
    state, by, comment = order[0]
    return Decision(state, plain(by)[:200], plain(comment)[:LONGEST_NOTE])


def check_used(left: list[tuple[str, str, str]]) -> None:
    """Refuse a run that has not heard of a rejection: it is not where it was when people were asked."""
    if any(state == "rejected" for state, _, _ in left):
        says = "A reviewer has rejected a gate, and the run does not stand before it. Begin a new run"
        raise HaltError("Not approved", says)


def same_attempt(attempt: object) -> None:
    """Refuse to go on in another attempt at the run than what was handed on."""
    if attempt != os.environ["GITHUB_RUN_ATTEMPT"]:
        says = "An earlier attempt has gone on from here, and would be repeated. Begin a new run"
        raise HaltError("Re-run", says)
