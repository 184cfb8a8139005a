"""Sentences of rules: the forms, and errors whose remedies work."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.diagnostics.model import Issue
from compiler.rules.sentences import FORMS, LONGEST_SENTENCE, Mention, Sentence, read_sentence

OF_THE_CARD = {
    "any question YES by a person before any step labeled production": "before",
    "any gate approved before any step with secret DEPLOY_TOKEN": "before",
    "1 PASS before 4": "before",
    "Smoke PASS before COMPLETE": "before",
    "after Deploy FAIL, always Rollback or Escalate": "always",
    "no Deploy after Rollback": "no",
    "no {N}.2 after {N}.2 PASS until {N}.3 YES": "no",
    "review APPROVED before finish, again after implement": "before",
    "any agent at most 12 times": "at_most",
    "after triage BLOCKER, always alarm": "always",
    "any gate approved before announce": "before",
    "Rollback at most 3 times": "at_most",
    "always Cleanup": "always",
}
WORKING = re.compile(r"`([^`]+)`")


def sentence(text: str) -> Sentence:
    """The sentence in a text without issues."""
    read = read_sentence(text)
    assert isinstance(read, Sentence), read
    return read


def issue(text: str) -> Issue:
    """The issue of a text."""
    read = read_sentence(text, ("Run tests", "Go live", "Pull and push"))
    assert isinstance(read, Issue), read
    return read


@pytest.mark.parametrize("text", OF_THE_CARD)
def test_all_forms_are_read_and_keywords_have_no_case(text: str) -> None:
    assert sentence(text).form == OF_THE_CARD[text]
    shouted = re.sub(r"\b(?:before|no|always|at most|times|any|after|until|or)\b", lambda word: word[0].upper(), text)
    assert sentence(shouted).form == OF_THE_CARD[text]
    assert sentence(f"  {text.replace(' ', chr(10))}\n").text == text


def test_each_part_of_a_sentence_is_at_its_place() -> None:
    read = sentence('3 YES by a person or "Is it: ok, really" no before 4 or END, again after any tool fail')
    assert [(one.kind, one.name, one.word, one.by_a_person) for one in read.opens] == [
        ("step", "3", "YES", True),
        ("step", "Is it: ok, really", "no", False),
    ]
    assert [(one.kind, one.name) for one in read.guarded] == [("step", "4"), ("end", "END")]
    assert [(one.kind, one.name, one.word) for one in read.closes] == [("any", "tool", "fail")]
    assert read.written(*read.opens) == '3 YES by a person or "Is it: ok, really" no'
    read = sentence("no any step labeled prod after any step with secret KEY until always-x YES")
    found = [(one.kind, one.name) for one in (*read.guarded, *read.closes, *read.opens)]
    assert found == [("label", "prod"), ("secret", "KEY"), ("step", "always-x")]
    assert sentence("after 4 FAIL, always 5").closes == (Mention("step", "4", "FAIL", False, "4", 6, 12, 6),)
    assert sentence("x at most 1 time").most == 1


@pytest.mark.parametrize("text", ["1 STOP before 2", '"STOP" PASS before 2', "stop PASS before 2", "1 NO before 2"])
def test_a_keyword_can_be_an_outcome_or_a_quoted_step(text: str) -> None:
    (opening,) = sentence(text).opens
    assert (opening.kind, opening.word in ("STOP", "PASS", "NO")) == ("step", True)


NOT_SENTENCES = {
    "never A and B": ("`never … and …` isn't a rule", ["no A after B", "no B after A"]),
    "A in every run that completes": ("`in every run` isn't a rule", ["A PASS before COMPLETE"]),
    "A PASS before B unless C YES": ("`unless` isn't in a rule", ["A PASS or C YES before B"]),
    "A PASS before B, unless input x is 1": ("a rule can't depend on an input", None),
    "B after A FAIL": ("in two ways", ["after A FAIL, always B", "A FAIL before B"]),
    "B only after A PASS": ("in two ways", ["after A PASS, always B", "A PASS before B"]),
    "A PASS and B PASS before C": ("`and` isn't in a rule", ["A PASS before C", "B PASS before C"]),
    "A PASS befor B": ("column 8: expected `before`", ["A PASS before B"]),
    "A PASS before B, agian after C": ("column 18: expected `again after`", ["A PASS before B, again after C"]),
    "A at mots 3 times": ("column 6", ["A at most 3 times"]),
    "no A after B and C": ("column 18", ["no A after B or C"]),
    "no Pull and push after C": ("column 13", ['no "Pull and push" after C']),
    "Run it PASS before Deploy": ("column 8", WORKING.findall(FORMS)),
    "Run tests PASS before Deploy": ("column 11", ['"Run tests" PASS before Deploy']),
    "A PASS before Go live": ("column 15", ["A PASS before Go", 'A PASS before "Go live"']),
    "A PASS before B FAIL": ("column 15: this is about the start of", ["A PASS before B", 'A PASS before "B FAIL"']),
    "no B by a person after C": ("column 4: this is about the start", ["no B after C", 'no "B by a person" after C']),
    "any question by a person before B": ("needs an outcome", ["any question YES by a person before B"]),
    "STOP before A": ("column 1: `STOP` can only be", ["A PASS before STOP", "no STOP after A"]),
    "no A after END": ("column 12: `END` can only be", ["A PASS before END", "no END after A"]),
    "COMPLETE at most 2 times": ("a run has one end", None),
    "A at most 1000001 times": ("too large", []),
    "A at most 99999999 times": ("column 11: expected a number", None),
    '"A PASS before B': ("column 1: the quote isn't closed", None),
    "A PASS before": ("column 14: expected a step, found the end", None),
    "": ("one sentence of 1 to 1,000 printable", None),
    "A\x1b[31m PASS before B": ("printable", None),
    "A PASS before \u202eB": ("printable", None),
    "A PASS before \ud800": ("printable", None),
    "A PASS before B " * 100: ("printable", None),
    "any thing at most 3 times": ("column 1: expected", None),
    ", , ,": ("column 1", None),
}


@pytest.mark.parametrize("text", NOT_SENTENCES)
def test_an_error_has_its_place_and_a_remedy_that_works(text: str) -> None:
    problem, remedies = NOT_SENTENCES[text]
    found = issue(text)
    assert problem in found.message
    assert found.message.isprintable()
    written = WORKING.findall(found.help)
    assert remedies is None or written == remedies
    assert [sentence(one) for one in written] or remedies == []


def test_a_long_sentence_is_read_in_time() -> None:
    longest = " or ".join(["A PASS"] * 99)
    assert len(sentence(f"{longest} before B").opens) == 99
    assert isinstance(read_sentence('"' * LONGEST_SENTENCE), Issue)
    assert isinstance(read_sentence("x" * 10_000_000), Issue)


WORDS = (
    *("A", "4", "{N}.1", '"a b"', "PASS", "before", "no", "after", "until", "always", "at most", "3", "times", "or"),
    *(",", "any step labeled", "any agent", "by a person", "COMPLETE", "again after", "any step with secret", "x\0"),
    *("é", '"'),
)


@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text())
def test_any_text_is_a_sentence_or_has_an_issue(text: str) -> None:
    read = read_sentence(text)
    if isinstance(read, Issue):
        assert read.message.isprintable()
        assert read.help
    else:
        assert sentence(read.text) == read
