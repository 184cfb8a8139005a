"""Texts as YAML scalars: what is read back is what was written, and nothing in it is an expression."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from backends.github.yaml.scalar import LITERAL_OPEN, Expression, comment, folded, label, scalar
from tests.support.hostile_texts import SCALARS as HOSTILE

# All that can stand in a document: no NUL, no lone surrogates (D1).
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
TEXTS = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(CHARACTERS, max_size=5)), max_size=8).map("".join)


def read(written: str) -> str:
    """What YAML reads, with the expressions that `scalar` itself makes evaluated."""
    value = yaml.safe_load(written)["run"]
    assert isinstance(value, str)
    return value.replace(LITERAL_OPEN, "${{")


@given(text=TEXTS)
def test_what_is_written_is_read(text: str) -> None:
    for code in (False, True):
        assert read(f"run: {scalar(text, 2, code=code)}\nnext: 1\n") == text
        nested = yaml.safe_load(f"a:\n      run: {scalar(text, 8, code=code)}\n      next: 1\n")["a"]
        assert nested["run"].replace(LITERAL_OPEN, "${{") == text
        assert nested["next"] == 1


@given(text=TEXTS)
def test_no_text_opens_an_expression(text: str) -> None:
    value = yaml.safe_load(f"run: {scalar(text, 2)}\n")["run"]
    assert "${{" not in value.replace(LITERAL_OPEN, "")


@given(text=TEXTS)
def test_comments_and_labels_stay_on_their_line(text: str) -> None:
    for shown in (comment(text), label(text)):
        assert len(shown.splitlines()) <= 1
        assert "${{" not in shown
    assert yaml.safe_load(f"# {comment(text)}\na: {scalar(label(text))}\n") == {"a": label(text)}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("echo build", "echo build"),
        ("1. Run tests", "1. Run tests"),
        ("yes", "'yes'"),
        ("1e3", "'1e3'"),
        ("", "''"),
        ("it's: so", "'it''s: so'"),
        ("a\nb\n", "|\n  a\n  b"),
        ("a\nb", "|-\n  a\n  b"),
        ("a\n\nb\n\n", "|+\n  a\n\n  b\n"),
        ("  a\nb", "|2-\n    a\n  b"),
        ("a\u202eb", '"a\\u202eb"'),
        ("a\rb", '"a\\rb"'),
        ("x\x00y", '"x\\u0000y"'),
    ],
)
def test_texts_are_written_as_people_would(text: str, written: str) -> None:
    assert scalar(text, 2) == written


def test_code_is_rather_put_into_a_block_than_quoted() -> None:
    assert scalar("! grep 'x'", 2, code=True) == "|-\n  ! grep 'x'"


def test_long_expressions_are_folded_after_operators() -> None:
    long = " || ".join(f"steps.s{number}.outcome == 'failure'" for number in range(9))
    written = folded(long, 4)
    assert yaml.safe_load(f"if: {written}\n")["if"] == long
    assert all(re.search(r"(\|\||'failure')$", line) for line in written.splitlines()[1:])
    assert max(map(len, written.splitlines())) <= 110
    assert scalar(Expression("${{ github.ref }}")) == "${{ github.ref }}"
