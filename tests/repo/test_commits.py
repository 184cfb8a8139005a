"""Subjects of commits: one imperative sentence without a period, at most 72 characters."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.conftest import ROOT

COMMITS = 50
LONGEST = 72
FIRST = re.compile(r"[A-Z][a-z]+(?:[-'][a-z]+)*(?= \S)")

OTHER_FORM = re.compile(r"(?:(?<!e)ed|ing|(?<!s)s)$")
"""How a verb ends that isn't imperative: "Added", "Adding", "Adds"."""

IMPERATIVE = {"Embed", "Shed", "Shred", "Wed", "Bring", "Ping", "Ring", "String", "Swing", "Bias", "Focus", "Alias"}
"""Verbs that end like another form."""


def problem(subject: str) -> str:
    """Return the problem of a subject; "" if it has none."""
    first = FIRST.match(subject)
    if len(subject) > LONGEST:
        return f"it has {len(subject)} characters, and {LONGEST} are the most"
    if subject.endswith("."):
        return "it ends with a period"
    if not first:
        return "it doesn't start with a capitalized verb"
    if OTHER_FORM.search(first[0]) and first[0] not in IMPERATIVE:
        return f"{first[0]!r} isn't imperative: write it as a command, such as 'Add'"
    return ""


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def test_subjects_of_the_last_commits() -> None:
    if not (ROOT / ".git").exists() or git("rev-parse", "--is-shallow-repository") != "false":
        pytest.skip("this checkout has no history of commits")
    subjects = git("log", "--no-merges", f"--max-count={COMMITS}", "--format=%s").splitlines()
    assert {subject: why for subject in subjects if (why := problem(subject))} == {}


FINE = (
    "Add a page",
    "Pass the flag on",
    "Feed the parser",
    "Embed fonts",
    "Re-read the lock",
    "Focus on a step",
    "Don't wait",
)
WRONG = (
    "Added a page",
    "Adding a page",
    "Adds a page",
    "add a page",
    "Add a page.",
    "ADD a page",
    "Page",
    "",
    "Add " * 19,
)


@pytest.mark.parametrize("subject", FINE)
def test_subjects_that_are_fine(subject: str) -> None:
    assert problem(subject) == ""


@pytest.mark.parametrize("subject", WRONG)
def test_subjects_that_are_not(subject: str) -> None:
    assert problem(subject)
