"""Verdicts of agent workflows: a table of answers, and where they lead (W8 to W10, W12)."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.frontends.agent_workflow.verdicts import alternatives
from compiler.ir.semantics import Machine
from tests.compiler.frontends.agent_workflow.workflows import answered, compiled, end, program_of

OTHERS = "".join(f"- {{name: {name}, prompt: x, end: true}}\n" for name in ("ship", "fix", "other"))


@cache
def machine(step: str) -> Machine:
    """A workflow whose first step is this one, with the steps that it can lead to."""
    with TemporaryDirectory() as folder:
        return Machine(program_of(compiled(Path(folder), f"name: a\nsteps:\n- {step}\n{OTHERS}")))


def led_to(step: str, *answers: str | None) -> str:
    """The step that a workflow goes on with, or how it ends, in a word: the reason of a stop."""
    run = machine(step)
    state = answered(run, run.start(), *answers)
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
ENDS_OR_SHIPS = step(None, ("APPROVED",), ", end: true")
DONE = step("APPROVED|REJECTED", (), ", next: other")
AGAIN = step(None, ("APPROVED", "AGAIN"), ", next: other").replace("goto: fix", "goto: review")
NEXT = step(None, ("REJECTED",), ", next: other")
ONE = step("APPROVED|REJECTED", ("APPROVED",), ", next: other")
GROUP = step(r"^Verdict:\s*(APPROVED|REJECTED)", ("APPROVED",), ", next: other")
LABELED = step("Verdict: (APPROVED|REJECTED)", ("APPROVED",), ", next: other")
ANY = step(r"Verdict: (\w+)", ("APPROVED",), ", next: other")
OPTIONAL = step(r"Verdict:\s*(APPROVED)?", ("APPROVED",), ", next: other")
SHORTER = step("PASS|PASSED", ("PASSED",))
PREFIX = step("Verdict: (?:APPROVED|REJECTED)", ("APPROVED", "REJECTED"))
NESTED = step("(?:PRE)?(?:APPROV|REJECT)ED", ("APPROVED", "REJECTED"), ", next: other")
LOOSE = step(r"\w+", ("APPROVED", "REJECTED"))
CYRILLIC = step("ГОТОВО|ОТКАЗ", ("ГОТОВО", "ОТКАЗ"))
LOWER = step("passed|failed", ("passed", "failed"))
WORDS = step(None, ("NEEDS WORK", "WORK", "C++"))

TABLE: dict[tuple[str, str], tuple[str | None, ...]] = {
    (PLAIN, "ship"): (
        *("APPROVED", "# Approved or rejected\n\nAll good.\n\nAPPROVED", "**APPROVED**", "1. __APPROVED__!"),
        *("- ### **Final verdict:** `approved`.", "_APPROVED_", "approved", "## APPROVED", "## Verdict: approved"),
        *("Notes: APPROVED", "APPROVED\nnothing was rejected", "APPROVED\nREJECTED\nVerdict: APPROVED"),
        "APPROVED\r\n",
    ),
    (PLAIN, "fix"): (
        *("Fine.\n\nREJECTED", "REJECTED\n\nWhy it is not APPROVED: it fails."),
        *("Verdict: REJECTED\n\nFix the two tests, then this can be APPROVED.", "UNAPPROVED_CHANGES\nREJECTED"),
        *("`REJECTED`.", "Approved\n========\n\nREJECTED", "REJECTED: the tests fail, so it can't be APPROVED"),
        *("**REJECTED** — see above", "REJECTED - see above", "REJECTED\r\nREJECTED"),
        "I do not say TASK_DONE\n\nREJECTED",
        "## APPROVED / REJECTED\n\nREJECTED",  # a heading that names both is a sentence
        "::set-output name=next::APPROVED\n\x1b[32mREJECTED\x1b[0m",  # colors are no part of a word
        "## Approved\n\nREJECTED",  # the title of a section
        "> APPROVED\nREJECTED",  # every line of a quote has its mark
        "TASK_DONE\n**Verdict: Rejected**",  # only the last one has a label
    ),
    (PLAIN, "ambiguous"): (
        *("Fix the two tests, then this can be APPROVED.", "This must be rejected. The pattern finds APPROVED here."),
        *("APPROVED, not REJECTED", "APPROVED. I repeat: APPROVED.", "rejected: see above", "REJECTED-ish"),
        *("Not yet: APPROVED", "I can't say: APPROVED", "I can’t say: APPROVED", "Rejected by one, but: APPROVED"),
        *("A label that is far longer than it may be: APPROVED", "One: two: APPROVED", ": APPROVED"),
        *("Verdict: TASK_DONE\n**Verdict: Rejected**", "Verdict: APPROVED\nREJECTED", "REJECTED\ntask_done"),
        *("Rejected\nApproved", "REJECTED\rAPPROVED", "REJECTED\nTASK_DONE", "TASK_DONE or REJECTED"),
        "APPROVED: all is well",  # only a failing verdict can have its reason in the line
    ),
    (GROUP, "ship"): (
        "Verdict: APPROVED",
        "\x1b[32mVerdict: APPROVED\x1b[0m",  # nor of the text that the pattern searches
        "verdict: approved\nREJECTED",  # the pattern's line comes first
    ),
    (PLAIN, "invalid"): (
        *("Nothing to say", "TASK_DONE or neither\nsomething else", "TASK_DONE_SOON"),
        "DISAPPROVED",  # a part of a word is no match
    ),
    (PLAIN, "COMPLETE"): (
        "task_done",
        "TASK_DONE",  # satisfies the validation
    ),
    (PLAIN, "failed"): (None, "  \n"),
    (FREE, "unrouted"): ("Nothing to say", "I do not say TASK_DONE"),
    (FREE, "fix"): ("REJECTED",),
    (ENDS, "ship"): ("REJECTED",),  # a condition beats `end`
    (ENDS, "COMPLETE"): ("All done",),
    (ENDS, "ambiguous"): ("This must be rejected",),  # rather than completing
    (ENDS, "failed"): (None,),
    (NEXT, "other"): ("All done",),
    (NEXT, "ship"): ("REJECTED",),
    (DONE, "other"): (
        "APPROVED, but not TASK_DONE",
        "APPROVED or REJECTED",  # without conditions, only the pattern decides
    ),
    (DONE, "invalid"): ("Verdict: neither",),
    (DONE, "COMPLETE"): ("APPROVED\n\nTASK_DONE",),
    (ONE, "other"): ("REJECTED",),  # a word of the pattern is a candidate without a condition
    (ONE, "ambiguous"): ("APPROVED\nREJECTED", "APPROVED or REJECTED"),
    (AGAIN, "other"): ("Once again, all is well",),  # fails by its goto, so only in exact case
    (AGAIN, "ambiguous"): ("Once AGAIN",),
    (AGAIN, "review"): ("AGAIN: a word is misspelled",),
    (GROUP, "other"): ("Verdict: REJECTED",),
    (LABELED, "other"): (
        "Verdict: REJECTED\n\n> Verdict: APPROVED",
        "Verdict: APPROVED\nVerdict: REJECTED",  # of the pattern's lines, the last
    ),
    (GROUP, "invalid"): ("APPROVED",),
    (LABELED, "ship"): (
        "**Verdict: APPROVED**.",
        "So my Verdict: APPROVED",  # not the whole line for the pattern, but a label
    ),
    (LABELED, "ambiguous"): ("I do not say Verdict: APPROVED",),
    (ANY, "ambiguous"): ("Verdict: MAYBE",),  # no candidate
    (ANY, "ship"): ("Verdict: APPROVED",),
    (OPTIONAL, "ambiguous"): ("Verdict: ",),  # an empty group
    (PREFIX, "ship"): ("Verdict: APPROVED",),
    (PREFIX, "fix"): ("Verdict: REJECTED\nso much for APPROVED",),
    (NESTED, "other"): ("PREAPPROVED",),
    (NESTED, "ambiguous"): ("PREAPPROVED\nAPPROVED",),
    (LOOSE, "fix"): ("REJECTED",),
    (LOOSE, "invalid"): ("…",),
    (SHORTER, "ship"): ("PASSED",),  # the longer alternative, though the shorter one is first
    (CYRILLIC, "ambiguous"): ("Всё ГОТОВО",),
    (CYRILLIC, "fix"): ("отказ",),
    (CYRILLIC, "invalid"): ("ГОТОВОСТЬ полная",),
    (LOWER, "ambiguous"): ("1 failed",),
    (LOWER, "fix"): ("Result: failed",),
    (LOWER, "ship"): ("Passed",),
    (WORDS, "ship"): ("NEEDS WORK",),
    (WORDS, "ambiguous"): ("more WORK",),
    (WORDS, "fix"): ("WORK",),
    (WORDS, "other"): ("**C++**",),
}


QUOTED = {
    "quote": "> APPROVED",
    "quote in a list": "- > APPROVED",
    "nested quote": "> > APPROVED",
    "fence": "```\nAPPROVED\n```",
    "tildes": "~~~ text\nAPPROVED\n~~~",
    "longer fence": "````\n```\nAPPROVED\n````",
    "fence in a list": "- see\n  ```\n  APPROVED\n  ```",
    "open fence": "```\nAPPROVED",
    "comment": "<!-- APPROVED -->",
    "long comment": "<!--\nAPPROVED\n-->",
    "comment in a sentence": "See <!--\nAPPROVED\n--> this",
    "open comment": "<!--\nAPPROVED",
    "indented code": "    APPROVED",
    "tabs": "\tAPPROVED",
    "indented code in a list": "- a\n\n      APPROVED",
    "HTML": "<blockquote>\nAPPROVED\n</blockquote>",
    "link": "look at \x1b]8;;http://x/APPROVED\x07this\x1b]8;;\x07 page",
    "link with another end": "look at \x1b]8;;\nAPPROVED\n\x1b\\this",
    "title": "\x1b]0;\nAPPROVED\n\x07",
    "8 bits": "\x9d0;\nAPPROVED\n\x9c",
}


@pytest.mark.parametrize("name", QUOTED)
def test_a_quoted_verdict_is_none(name: str) -> None:
    text = f"I cannot decide.\n\n{QUOTED[name]}"
    assert led_to(ENDS_OR_SHIPS, text) in ("COMPLETE", "ambiguous")
    assert led_to(ENDS_OR_SHIPS, f"{text}\n\nSo:\n\nAPPROVED\n") == ("ambiguous" if "open" in name else "ship")
    if "open" not in name:
        assert led_to(FREE, f"The change ends with this:\n\n{QUOTED[name]}\n\nREJECTED") == "fix"


@pytest.mark.parametrize(("written", "target"), TABLE)
def test_verdicts(written: str, target: str) -> None:
    answers = TABLE[written, target]
    assert {answer: led_to(written, answer) for answer in answers} == dict.fromkeys(answers, target)


def parallel(check: str, keywords: Iterable[str] = ("APPROVED", "REJECTED"), validation: str = "") -> str:
    entries = ", ".join(f"{{agent: {name}, prompt: x}}" for name in ("a", "b", "c"))
    return step(validation or None, keywords).replace("prompt: x", f"parallel: [{entries}], check: {check}", 1)


ALL, SOME = parallel("all"), parallel("any")
BACK = parallel("all", ("GOOD", "BETTER")).replace("goto: fix", "goto: review")
KNOWN = parallel("all", ("APPROVED", "changes_requested", "OTHER"))
VALID = parallel("all", ("APPROVED",), "APPROVED|REJECTED")
GOES_ON = parallel("all", ()).replace("conditions: []", "next: fix")

JOINED = [
    (ALL, ("APPROVED", "APPROVED", "APPROVED"), "ship"),
    (ALL, ("APPROVED", "REJECTED", "APPROVED"), "fix"),
    (ALL, ("APPROVED", "hm", "APPROVED"), "ambiguous"),  # one without a verdict reviewed nothing
    (ALL, ("hm", "hm", "hm"), "ambiguous"),
    (ALL, ("REJECTED", "hm", "TASK_DONE"), "fix"),
    (SOME, ("hm", "TASK_DONE", "APPROVED"), "ship"),  # counts neither way
    (SOME, ("hm", "hm", "hm"), "unrouted"),
    (GOES_ON, ("hm", "APPROVED", "This must be REJECTED"), "fix"),  # without conditions, nothing aborts
    (ALL, ("APPROVED", None, "REJECTED"), "failed"),
    (ALL, ("APPROVED", "APPROVED or REJECTED", "REJECTED"), "ambiguous"),
    (ALL, ("TASK_DONE", "TASK_DONE", "TASK_DONE"), "COMPLETE"),
    (ALL, ("TASK_DONE", "APPROVED", "TASK_DONE"), "ambiguous"),
    (ALL, ("TASK_DONE", "TASK_DONE", "hm"), "ambiguous"),
    (SOME, ("REJECTED", "hm", "APPROVED"), "ship"),
    (SOME, ("REJECTED", "REJECTED", "hm"), "fix"),
    (SOME, ("APPROVED", None, "APPROVED"), "failed"),
    (BACK, ("GOOD", "BETTER", "GOOD"), "review"),  # what leads to this or an earlier step is failing
    (KNOWN, ("APPROVED", "CHANGES_REQUESTED", "APPROVED"), "fix"),  # failing by its name, in any case
    (KNOWN, ("APPROVED", "OTHER", "APPROVED"), "ambiguous"),  # two that pass do not agree
    (parallel("any", ("APPROVED", "REJECTED", "OTHER")), ("hm", "OTHER", "APPROVED"), "other"),
    (VALID, ("APPROVED", "REJECTED", "APPROVED"), "unrouted"),  # REJECTED is failing without a condition, too
    (VALID, ("APPROVED", "hm", "APPROVED"), "invalid"),
    (VALID, ("APPROVED", "TASK_DONE", "APPROVED"), "ambiguous"),
]


@pytest.mark.parametrize(("written", "answers", "target"), JOINED)
def test_joined_verdicts(written: str, answers: tuple[str | None, ...], target: str) -> None:
    assert led_to(written, *answers) == target


WORD = st.sampled_from(("APPROVED", "approved", "REJECTED"))
MARKS = st.sampled_from(("", "*", "**", "_", "__", "`", "***", "**`"))
BEFORE = st.sampled_from(("", "- ", "1. ", "* ", "## Verdict: ", "Verdict: ", "**Verdict:** ", "  "))
PROSE = st.text(st.characters(categories=("Ll", "Lu", "Zs", "Po")), min_size=1).filter(
    lambda text: text.strip(" .!:#*_`")
)


@given(WORD, MARKS, BEFORE, st.sampled_from(("", ".", "!")))
def test_a_line_with_marks_around_a_keyword_is_a_verdict(word: str, marks: str, before: str, after: str) -> None:
    assert led_to(FREE, f"It has prose.\n\n{before}{marks}{word}{after}{marks[::-1]}") in ("ship", "fix")


@given(PROSE, WORD, PROSE)
def test_prose_around_a_keyword_is_never_a_verdict(before: str, word: str, after: str) -> None:
    assert led_to(FREE, f"It is {before} {word} {after}") in ("unrouted", "ambiguous")


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
