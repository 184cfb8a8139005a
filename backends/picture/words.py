"""The words of outcomes as a picture and a trace show them, and which of them are good or bad news."""

from __future__ import annotations

from compiler.ir.tasks import UNREAD, Agent, Ask, Parallel, Task, Verdict, alphabet

WORDS = {Verdict.PASS.value: "PASS", Verdict.FAIL.value: "FAIL"}
ANSWERS = {Verdict.PASS.value: "YES", Verdict.FAIL.value: "NO"}

BROKEN = tuple(word for word in UNREAD if word != "none")
"""The words of answers that something is wrong with; one without a keyword may be as it should."""

_GOOD = (Verdict.PASS.value, "yes", "approved")
_BAD = (Verdict.FAIL.value, "no", "rejected")


def spoken(task: Task, word: str) -> str:
    """A word as it is shown: one that rdc has made in capitals, one that an author has chosen as it is."""
    if isinstance(task, Ask) and task.question == "yes_no":
        return ANSWERS.get(word, word)
    return word if is_chosen(task) else word.upper()


def is_chosen(task: Task) -> bool:
    """Whether an author has chosen the words of a task: the options of a question, the keywords of an answer."""
    if isinstance(task, Ask):
        return task.question == "select"
    return isinstance(task, Agent | Parallel) and len(alphabet(task)) > len(UNREAD)


def verdict_of(task: Task, word: str) -> Verdict | None:
    """Whether a word is good or bad news; None where only its author knows."""
    if is_chosen(task):
        bad = (*BROKEN, *(task.failing if isinstance(task, Parallel) else ()))
        return Verdict.FAIL if word in bad and not isinstance(task, Ask) else None
    return Verdict.PASS if word in _GOOD else Verdict.FAIL if word in _BAD else None
