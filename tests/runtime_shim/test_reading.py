"""How an answer becomes a text, a word and a value (I11 to I14, I19)."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime_shim.io.reading import LARGEST_ANSWER, decoded, field_of
from runtime_shim.tasks.tool import in_json
from runtime_shim.tasks.verdicts import Joining, Reading, is_found, joined_answer, joined_word, read_word, split_words
from runtime_shim.values.fitting import unfit

WORDS = ("APPROVED", "REJECTED", "NOT APPROVED", "Done", "+1")


def test_a_line_with_a_keyword_alone_decides() -> None:
    answered: dict[str, list[str | None]] = {
        "APPROVED": ["All good.\nAPPROVED", "**APPROVED**.", "APPROVED or REJECTED?\nAPPROVED", "APPROVED\r\n"],
        "REJECTED": ["REJECTED\n\nas I said", "APPROVED\nVerdict: REJECTED "],
        "NOT APPROVED": ["NOT APPROVED"],
        "+1": ["+1.", "- **+1**"],
        "ambiguous": [
            *("APPROVED\nREJECTED", "APPROVED\n REJECTED ", "APPROVED and APPROVED", "APPROVED and REJECTED"),
            *("it is Done", "it is rejected"),
        ],
        "none": ["UNAPPROVED or APPROVEDLY", "APPROVED_BY me", "it is done", "ÄAPPROVED"],
        "failed": ["", None],
    }
    for word, answers in answered.items():
        assert [read_word(answer, Reading(WORDS))[0] for answer in answers] == [word] * len(answers)


def test_an_ambiguous_answer_has_a_reason() -> None:
    for answer, reason in {
        "So it is\nREJECTED for now": "REJECTED in line 2 is part of a sentence or quotation",
        "APPROVED\n\nREJECTED": "it has two verdicts: APPROVED in line 1 and REJECTED in line 3",
        "Verdict: Done": "",
    }.items():
        assert read_word(answer, Reading(WORDS))[1].partition(";")[0] == reason


def test_a_validation_comes_before_the_keyword_unless_that_is_excused() -> None:
    reading = Reading(("PASSED", "FAILED", "TASK_DONE"), r"SCORE \d", ("TASK_DONE",))
    for word, answers in {
        "PASSED": ["score 7\nPASSED"],
        "TASK_DONE": ["TASK_DONE"],
        "none": ["Score 7"],
        "ambiguous": ["score 7\nPASSED and FAILED"],
        "invalid": ["PASSED", "score 71", "PASSED and FAILED", "TASK_DONE PASSED"],
    }.items():
        assert [read_word(answer, reading)[0] for answer in answers] == [word] * len(answers)


@pytest.mark.parametrize("pattern", ["(?i)(?m)^a$", "(?x) a # the letter", "(?m)^(a|b)$", "(?:a)"])
def test_a_pattern_keeps_its_flags(pattern: str) -> None:
    assert [is_found(pattern, answer) for answer in ("A", "ab")] == [True, False]


def test_without_keywords_any_answer_passes() -> None:
    assert [read_word(answer, Reading(()))[0] for answer in ("yes", "", None)] == ["pass", "fail", "fail"]
    assert [joined_word(["pass", "fail"], Joining(check, ("fail",))) for check in ("all", "any")] == ["fail", "pass"]
    assert joined_answer(["a", None, "", "b"]) == "a\n\nb"


def test_the_entries_that_stop_a_step_are_named() -> None:
    joining = Joining("all", (), ("DONE",), decides=True)
    assert split_words(["a_0", "a_1"], ["GOOD", "none"], joining).startswith("a_1: no verdict")
    assert split_words(["a_0", "a_1"], ["GOOD", "FINE"], joining) == "the verdicts differ: a_0 GOOD, a_1 FINE"
    deciding_nothing = Joining("all", (), ("DONE",))
    assert joined_word(["none", "DONE"], deciding_nothing) == "none", "entries that decide nothing need no verdict"


def test_the_words_of_entries_are_joined_by_index() -> None:
    for check, joined in {
        "all": {
            "GOOD": ["GOOD GOOD"],
            "BAD": ["GOOD BAD WORSE", "GOOD BAD none"],
            "DONE": ["DONE DONE"],
            "ambiguous": ["GOOD FINE", "GOOD none", "none none", "DONE GOOD", "DONE none", "BAD ambiguous"],
        },
        "any": {
            "GOOD": ["DONE GOOD"],
            "FINE": ["BAD FINE GOOD"],
            "WORSE": ["none WORSE BAD"],
            "none": ["DONE none"],
            "failed": ["GOOD ambiguous invalid failed"],
            "invalid": ["GOOD ambiguous invalid"],
        },
    }.items():
        joining = Joining(check, ("BAD", "WORSE"), ("DONE",), decides=True)
        for word, entries in joined.items():
            assert [joined_word(each.split(), joining) for each in entries] == [word] * len(entries)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ('{"kind": "bug"}', "bug"),
        ('say {"kind": "bug"} and {"kind": " question\\n"} now', "question"),
        ('{"kind": "bug", "more": {"other": 1}}', "bug"),
        ('{"more": {"kind": "inner"}, "kind": "outer"}', "inner"),
        ('```json\n{"kind": {"a": [1, true, null], "b": "ü"}}\n```', '{"a":[1,true,null],"b":"ü"}'),
        ('{"kind": "broken', '{"kind": "broken'),
        ('{"kind": NaN} no, {"other": 1}', '{"kind": NaN} no, {"other": 1}'),
        ("no object", "no object"),
        ('["kind"]', '["kind"]'),
        ('{"kind": "a\\u0000b\\ud800"}', "a\ufffdb\ufffd"),
    ],
)
def test_a_field_is_taken_from_the_last_object_that_has_it(answer: str, value: str) -> None:
    found = field_of(answer, "kind")
    assert (answer if found is None else found) == value


HOSTILE = ["<!-- ", "<!---->", "<pre>", "- ", "-\n", "> a\n", "`", "\x1b]", "\x1b[", "\x9d", "\x9d\n", "_"]
HOSTILE += ["x: REJECTED\n", "REJECTED -"]


@pytest.mark.parametrize("hostile", ['{"k":{"k":', '{"x":[0,0,{"k":', *HOSTILE])
def test_no_answer_takes_long_to_read(hostile: str) -> None:
    answer = (hostile * LARGEST_ANSWER)[: LARGEST_ANSWER // 64]
    begun = time.process_time()
    field_of(answer, "nothing")
    read_word(answer, Reading(WORDS, "verdict: (APPROVED|REJECTED)", (), ("REJECTED",)))
    assert time.process_time() - begun < 0.5


def test_what_no_target_can_keep_is_replaced() -> None:
    assert decoded(b" \t\n\xffa\0b\r\n\x0b\x0c") == "\ufffda\ufffdb"
    assert decoded("\u00a0é\u2003".encode()) == "\u00a0é\u2003", "only plain spaces are taken off"


@given(st.text())
def test_a_value_in_json_is_that_value(value: str) -> None:
    assert json.loads(f'"{in_json(value)}"') == value


def test_the_value_of_an_input_fits_its_type_and_pattern() -> None:
    fit = {"number": ["1.5", "-0"], "boolean": ["true"], "choice": ["a"], "text": ["x\ny"]}
    other = {
        "number": ["1e3", "١", "1\n", ""],
        "boolean": ["True"],
        "choice": ["A"],
        "string": ["x\ny"],
        "text": ["x\0"],
    }
    for found, is_fit in ((fit, True), (other, False)):
        for kind, value in ((kind, value) for kind, values in found.items() for value in values):
            assert (unfit(value, kind, ("a", "b")) == "") == is_fit, (value, kind)
    assert unfit("v1.2", "string", (), r"v\d+\.\d+") == ""
    assert unfit("v1.2\n", "text", (), r"v\d+\.\d+"), "the whole value matches"
