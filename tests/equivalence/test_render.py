"""The spellings that `render` knows, by example."""

from __future__ import annotations

from tests.equivalence.model import Leaf, Runbook, Runbooks, Step, Stop, Substep, Transitions
from tests.equivalence.notation import action, book, step, sub
from tests.equivalence.render import Style, render


def test_default_layout() -> None:
    runbook = Runbook((Step("1", Leaf("Do it.", "true", "sh"), Transitions(on_fail=Stop('a "b" \\')), "Try"),), "Title")
    lines = ["# Title", "## 1. Try", "Do it.", "```sh\ntrue\n```", '- FAIL: STOP "a \\"b\\" \\\\"']
    assert render(runbook) == "\n\n".join(lines) + "\n"


def test_transitions_of_a_step_stand_before_its_first_substep() -> None:
    text = render(book(step("1", "PASS: CONTINUE", sub("1", "FAIL: CONTINUE"))))
    assert text.index("- PASS ALL: CONTINUE") < text.index("### 1.1") < text.index("- FAIL: CONTINUE")


def test_late_transitions_always_have_their_modifiers() -> None:
    runbook = book(step("1", "PASS ANY: CONTINUE", "FAIL: STOP", sub("1")))
    text = render(runbook, Style(late_transitions=True, omit_modifiers=True))
    assert text.index("### 1.1") < text.index("- PASS ANY: CONTINUE") < text.index("- FAIL ALL: STOP")


def test_transitions_do_not_stand_late_after_a_list() -> None:
    child = Substep("1", Runbooks(("a.runbook.md",)))
    text = render(book(step("1", "PASS: CONTINUE", child)), Style(late_transitions=True))
    assert text.index("- PASS ALL: CONTINUE") < text.index("### 1.1")


def test_one_modifier_is_enough() -> None:
    runbook = book(step("1", "PASS ANY: CONTINUE", "FAIL: COMPLETE", sub("1")))
    assert "- FAIL: COMPLETE" in render(runbook, Style(omit_modifiers=True))
    assert "- FAIL ALL: COMPLETE" in render(runbook)


def test_defaults_are_left_out_but_a_step_with_substeps_keeps_one() -> None:
    style = Style(omit_defaults=True)
    assert "PASS" not in render(book(step("1", "PASS: CONTINUE", "FAIL: STOP")), style)
    assert "PASS ALL: CONTINUE" in render(book(step("1", "PASS: CONTINUE", "FAIL: STOP", sub("1"))), style)
    assert "PASS" not in render(book(step("1", "PASS: CONTINUE", "FAIL: COMPLETE", sub("1"))), style)


def test_short_retries() -> None:
    style = Style(short_retry=True, bare_messages=True, bare_next=True)
    written = {
        "RETRY 1 STOP": "- FAIL: RETRY\n",
        "RETRY 2 STOP": "- FAIL: RETRY 2\n",
        "RETRY 1 GOTO 2": "- FAIL: RETRY GOTO 2\n",
        "RETRY 2 STOP two words": '- FAIL: RETRY 2 "two words"\n',
        "RETRY 2 STOP Oops": "- FAIL: RETRY 2 Oops\n",
        "RETRY 1 GOTO NEXT": "- FAIL: RETRY NEXT\n",
    }
    for long, short in written.items():
        assert render(book(step("{N}", f"FAIL: {long}")), style).endswith(short)
        assert action(long.split(" ", 2)[2]) is not None


def test_reserved_words_keep_their_quotes() -> None:
    assert 'STOP "GOTO"' in render(book(step("1", "FAIL: STOP GOTO")), Style(bare_messages=True))
    assert "STOP Goto" in render(book(step("1", "FAIL: STOP Goto")), Style(bare_messages=True))


def test_other_forms() -> None:
    text = render(book(step("1", "FAIL: STOP", "PASS: CONTINUE")), Style(yes_no=True, fail_first=True, crlf=True))
    assert text.index("- NO: STOP\r\n") < text.index("- YES: CONTINUE\r\n")
