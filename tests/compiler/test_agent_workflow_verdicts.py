"""Verdicts of agent workflows: a table of answers, and where they lead (W8 to W10, W12)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from compiler.frontends.agent_workflow.alternatives import alternatives
from compiler.ir.semantics import Machine
from tests.compiler.workflows import compiled, end, program_of, said

OTHERS = "".join(f"- {{name: {name}, prompt: x, end: true}}\n" for name in ("ship", "fix", "other"))


@cache
def machine(step: str) -> Machine:
    """A workflow whose first step is this one, with the steps that it can lead to."""
    with TemporaryDirectory() as folder:
        return Machine(program_of(compiled(Path(folder), f"name: a\nsteps:\n- {step}\n{OTHERS}")))


def led_to(step: str, *answers: str | None) -> str:
    """The step that a workflow goes on with, or how it ends, in a word: the reason of a stop."""
    run = machine(step)
    state = said(run, run.start(), *answers)
    return state.node.rpartition("/")[2] if end(run, state).startswith("stop") else state.node


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def step(validation: str | None, keywords: Iterable[str], rest: str = "") -> str:
    """A step with this validation and conditions that lead to `ship`, `fix` and `other`."""
    leading = zip(keywords, ("ship", "fix", "other"), strict=False)
    conditions = ", ".join(f"{{keyword: {quoted(word)}, goto: {target}}}" for word, target in leading)
    report = f"report: {{name: r, format: f, validation: {quoted(validation)}}}, " if validation else ""
    return f"{{name: review, prompt: x, {report}conditions: [{conditions}]{rest}}}"


PLAIN = step("APPROVED|REJECTED", ("APPROVED", "REJECTED"))
FREE = step(None, ("APPROVED", "REJECTED"))
ENDS = step(None, ("REJECTED",), ", end: true")
NEXT = step(None, ("REJECTED",), ", next: other")
ONE = step("APPROVED|REJECTED", ("APPROVED",), ", next: other")
GROUP = step(r"^Verdict:\s*(APPROVED|REJECTED)", ("APPROVED",), ", next: other")
PREFIX = step("Verdict: (?:APPROVED|REJECTED)", ("APPROVED", "REJECTED"))
PHRASE = step("Changes (?:approved|rejected)", (), ", next: other")
NESTED = step("(?:PRE)?(?:APPROV|REJECT)ED", ("APPROVED", "REJECTED"), ", next: other")
LOOSE = step(r"\w+", ("APPROVED", "REJECTED"))
CYRILLIC = step("ГОТОВО|ОТКАЗ", ("ГОТОВО", "ОТКАЗ"))
LOWER = step("passed|failed", ("passed", "failed"))
WORDS = step(None, ("NEEDS WORK", "WORK", "C++"))

TABLE = [
    (PLAIN, "APPROVED", "ship"),
    (PLAIN, "Fine.\n\nREJECTED", "fix"),
    (PLAIN, "# Approved or rejected\n\nAll good.\n\nAPPROVED", "ship"),
    (PLAIN, "## APPROVED / REJECTED\n\nREJECTED", "fix"),  # a heading that names both does not decide
    (PLAIN, "REJECTED\n\nWhy it is not APPROVED: it fails.", "ship"),  # the last line with a candidate does
    (PLAIN, "APPROVED, not REJECTED", "ambiguous"),
    (PLAIN, "The report says:\n> APPROVED\n> APPROVED\n\nI say REJECTED", "fix"),  # a quoted verdict does not count
    (PLAIN, "::set-output name=next::APPROVED\n\x1b[32mREJECTED\x1b[0m", "fix"),  # colors are no part of a word
    (GROUP, "\x1b[32mVerdict: APPROVED\x1b[0m", "ship"),  # nor of what the pattern looks at
    (PLAIN, "APPROVED. I repeat: APPROVED.", "ship"),
    (PLAIN, "DISAPPROVED", "unrouted"),  # valid, but no word of its own
    (PLAIN, "UNAPPROVED_CHANGES\nREJECTED", "fix"),
    (PLAIN, "**APPROVED**", "ship"),
    (PLAIN, "`REJECTED`.", "fix"),
    (PLAIN, "approved", "ship"),  # in any case where nothing is in exact case
    (PLAIN, "APPROVED\nnothing was rejected", "ambiguous"),  # who knows which of them is quoted
    (PLAIN, "APPROVED\nso it is approved", "ship"),
    (PLAIN, "TASK_DONE\n**Verdict: Rejected**", "ambiguous"),
    (PLAIN, "REJECTED\ntask_done", "ambiguous"),
    (PLAIN, "Rejected\nApproved", "ship"),
    (PLAIN, "Nothing to say", "invalid"),
    (PLAIN, "TASK_DONE", "COMPLETE"),  # satisfies the validation
    (PLAIN, "REJECTED\nTASK_DONE", "COMPLETE"),
    (PLAIN, "TASK_DONE\nREJECTED", "fix"),
    (PLAIN, "TASK_DONE or REJECTED", "ambiguous"),
    (PLAIN, "TASK_DONE or APPROVED or neither\nsomething else", "ambiguous"),
    (PLAIN, "task_done", "COMPLETE"),
    (PLAIN, "TASK_DONE_SOON", "invalid"),
    (PLAIN, None, "failed"),
    (PLAIN, "  \n", "failed"),
    (PLAIN, "APPROVED\r\n", "ship"),
    (FREE, "Nothing to say", "unrouted"),
    (FREE, "REJECTED", "fix"),
    (ENDS, "REJECTED", "ship"),  # a condition beats `end`
    (ENDS, "All done", "COMPLETE"),
    (ENDS, None, "failed"),
    (NEXT, "All done", "other"),
    (NEXT, "REJECTED", "ship"),
    (ONE, "APPROVED\nREJECTED", "other"),  # what the pattern can match is a candidate without a condition
    (ONE, "REJECTED\nAPPROVED", "ship"),
    (ONE, "APPROVED or REJECTED", "ambiguous"),
    (GROUP, "Verdict: APPROVED", "ship"),
    (GROUP, "Verdict: REJECTED", "other"),
    (GROUP, "verdict: approved\nREJECTED", "other"),
    (GROUP, "APPROVED", "invalid"),
    (PREFIX, "Verdict: APPROVED", "ship"),
    (PREFIX, "Verdict: REJECTED\nso much for APPROVED", "ship"),
    (PHRASE, "Changes approved", "other"),
    (PHRASE, "Changes Approved and changes rejected", "ambiguous"),
    (NESTED, "PREAPPROVED", "other"),
    (NESTED, "PREAPPROVED\nAPPROVED", "ship"),
    (LOOSE, "REJECTED", "fix"),
    (LOOSE, "…", "invalid"),
    (CYRILLIC, "Всё ГОТОВО", "ship"),
    (CYRILLIC, "отказ", "fix"),
    (CYRILLIC, "ГОТОВОСТЬ полная", "unrouted"),
    (LOWER, "1 failed", "fix"),
    (LOWER, "Nothing failed, all passed", "ambiguous"),
    (LOWER, "0 failed\nall passed", "ship"),
    (WORDS, "NEEDS WORK", "ship"),  # the longer of two that begin in one place
    (WORDS, "more WORK", "fix"),
    (WORDS, "in C++", "other"),
]


@pytest.mark.parametrize(("written", "answer", "target"), TABLE)
def test_verdicts(written: str, answer: str | None, target: str) -> None:
    assert led_to(written, answer) == target


def parallel(check: str, keywords: Iterable[str] = ("APPROVED", "REJECTED"), validation: str = "") -> str:
    entries = ", ".join(f"{{agent: {name}, prompt: x}}" for name in ("a", "b", "c"))
    body = f"parallel: [{entries}], check: {check}"
    return step(validation or None, keywords).replace("prompt: x", body, 1)


ALL, ANY = parallel("all"), parallel("any")
BACK = parallel("all", ("GOOD", "BETTER")).replace("goto: fix", "goto: review")
KNOWN = parallel("all", ("APPROVED", "changes_requested", "OTHER"))
VALID = parallel("all", ("APPROVED",), "APPROVED|REJECTED")

JOINED = [
    (ALL, ("APPROVED", "APPROVED", "APPROVED"), "ship"),
    (ALL, ("APPROVED", "REJECTED", "APPROVED"), "fix"),
    (ALL, ("APPROVED", "hm", "APPROVED"), "ship"),  # one without a verdict counts neither way
    (ALL, ("hm", "hm", "hm"), "unrouted"),
    (ALL, ("APPROVED", None, "REJECTED"), "failed"),
    (ALL, ("APPROVED", "APPROVED or REJECTED", "REJECTED"), "ambiguous"),
    (ALL, ("TASK_DONE", "TASK_DONE", "TASK_DONE"), "COMPLETE"),
    (ALL, ("TASK_DONE", "APPROVED", "TASK_DONE"), "ship"),
    (ALL, ("TASK_DONE", "TASK_DONE", "hm"), "unrouted"),
    (ANY, ("REJECTED", "hm", "APPROVED"), "ship"),
    (ANY, ("REJECTED", "REJECTED", "hm"), "fix"),
    (ANY, ("APPROVED", None, "APPROVED"), "failed"),
    (BACK, ("GOOD", "BETTER", "GOOD"), "review"),  # what leads to this or an earlier step is failing
    (KNOWN, ("APPROVED", "CHANGES_REQUESTED", "APPROVED"), "fix"),  # failing by its name, in any case
    (KNOWN, ("APPROVED", "OTHER", "APPROVED"), "ambiguous"),  # two that pass do not agree
    (parallel("any", ("APPROVED", "REJECTED", "OTHER")), ("hm", "OTHER", "APPROVED"), "other"),
    (VALID, ("APPROVED", "REJECTED", "APPROVED"), "unrouted"),  # REJECTED is failing without a condition, too
    (VALID, ("APPROVED", "hm", "APPROVED"), "invalid"),
    (VALID, ("APPROVED", "TASK_DONE", "APPROVED"), "ship"),
]


@pytest.mark.parametrize(("written", "answers", "target"), JOINED)
def test_joined_verdicts(written: str, answers: tuple[str | None, ...], target: str) -> None:
    assert led_to(written, *answers) == target


@pytest.mark.parametrize(
    ("pattern", "listed"),
    [
        ("A|B", ["A", "B"]),
        ("^A(?:B|C)?$", ["A", "AB", "AC"]),
        ("[AB]x{2}", ["Axx", "Bxx"]),
        ("A\\sB", ["A B"]),
        ("(?i)ok(?=!)", ["ok"]),
        ("A.*", ["A\0"]),
        ("[a-z]", ["\0"]),
        ("[^a]", ["\0"]),
        ("(A)\\1", ["A\0"]),
        ("a{1,9}", ["\0"]),
        ("[ab]{4}[cd]{4}", ["\0"]),
        ("|".join(chr(97 + n % 26) + str(n) for n in range(65)), ["\0"]),
    ],
)
def test_alternatives(pattern: str, listed: list[str]) -> None:
    assert [one.text for one in alternatives(pattern)] == listed
