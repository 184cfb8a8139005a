"""The words of outcomes in pictures and traces, and whether they are good or bad news."""

from __future__ import annotations

from compiler.ir.tasks import UNREAD, Ask, Parallel, Task, Verdict, agents_of

WORDS = {Verdict.PASS.value: "PASS", Verdict.FAIL.value: "FAIL"}
ANSWERS = {Verdict.PASS.value: "YES", Verdict.FAIL.value: "NO"}

BROKEN = tuple(word for word in UNREAD if word != "none")
"""The words of broken answers. An answer without a keyword may be intended."""

_GOOD = (Verdict.PASS.value, "yes", "approved")
_BAD = (Verdict.FAIL.value, "no", "rejected")


def spoken(task: Task, word: str) -> str:
    """Return a word for display: in capitals if it is rdc's, unchanged if an author chose it."""
    if isinstance(task, Ask) and task.question == "yes_no":
        return ANSWERS.get(word, word)
    return word if is_chosen(task) else word.upper()


def is_chosen(task: Task) -> bool:
    """Return whether an author chose the words of a task: a question's options, an answer's keywords."""
    if isinstance(task, Ask):
        return task.question == "select"
    return any(agent.reading.keywords for agent in agents_of(task))


def verdict_of(task: Task, word: str) -> Verdict | None:
    """Return whether a word is good or bad news, or None if only its author knows."""
    if is_chosen(task):
        bad = (*BROKEN, *(task.failing if isinstance(task, Parallel) else ()))
        return Verdict.FAIL if word in bad and not isinstance(task, Ask) else None
    return Verdict.PASS if word in _GOOD else Verdict.FAIL if word in _BAD else None
