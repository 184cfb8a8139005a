"""Expressions never reach a script, conditions keep their meaning, and YAML reads each text as it was written."""

import itertools
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.github.yaml.scalar import LITERAL_OPEN, Expression, comment, folded, label, scalar
from backends.scheduling.condition import (
    FALSE,
    TRUE,
    All,
    Condition,
    Literal,
    Some,
    every,
    expression,
    literals,
    negation,
    some,
)
from compiler.diagnostics.issues import InvalidError
from tests.support.github.compiling import emission, parsed
from tests.support.hostile_texts import SCALARS as HOSTILE
from tests.support.runbooks import command, question

DOCUMENT = (
    "# Deploy\n\n"
    + command("1. Build", "true")
    + question("2. Agree", "Is it good?", "YES: CONTINUE", "NO: STOP")
    + command("3. Again", "false", "FAIL: RETRY 2 GOTO Fix")
    + command("Fix", 'echo "${{ github.ref_name }}"', "PASS: STOP")
)

TRUSTED = ["${{ github.ref }}", "x-${{ github.ref_name }}", "$(${{github.actor}})", "'${{ github.sha }}'"]
OTHERS = ["${{", "${{ secrets.X }}", "${{ github.event.issue.title }} ${{ github.ref }}"]
TEXTS = st.sampled_from([*TRUSTED, *TRUSTED, *OTHERS])
ACTION = "owner/action@e797f83bcb11b83ae66e0230d6156d7c80228e7c"


def mostly(*usual: object) -> st.SearchStrategy[object]:
    """Something usual, and a text with an expression now and then: most options together are valid."""
    return st.integers(0, 5).flatmap(lambda number: st.sampled_from(usual) if number else TEXTS)


VARIABLES = st.dictionaries(st.sampled_from(["A", "B_REF", "NODE_OPTIONS", "X_CMD"]), mostly("a", 1), max_size=2)
INPUTS = st.dictionaries(st.sampled_from(["ref", "key", "script", "args"]), mostly("a", 1), max_size=2)
STEPS = st.one_of(
    st.fixed_dictionaries({"run": mostly("true")}, optional={"shell": mostly("sh"), "env": VARIABLES}),
    st.fixed_dictionaries({"uses": mostly(ACTION)}, optional={"name": mostly("Set up"), "with": INPUTS}),
)
OPTIONS = st.fixed_dictionaries(
    {"prompts": st.sampled_from(["answers", "agent", "environment"]), "agent": mostly("cat")},
    optional={
        "setup": st.lists(STEPS, max_size=2),
        "env": VARIABLES,
        "concurrency": st.fixed_dictionaries({"group": mostly("group")}),
        "runs-on": mostly("ubuntu-latest"),
        "environment": mostly("production"),
        "approval-environment": mostly("approval"),
        "on": mostly("workflow_dispatch"),
        "secrets": st.lists(mostly("TOKEN"), max_size=1),
    },
)


def code(text: str) -> Iterator[str]:
    """All that a workflow gives to a shell, or to an action as code."""
    for job in parsed(text)["jobs"].values():
        defaults: dict[str, Any] = job.get("defaults", {}).get("run", {})
        yield defaults.get("shell", "")
        for step in job["steps"]:
            yield from (step.get("run", ""), step.get("shell", ""), step.get("uses", ""))
            yield from (str(value) for name, value in step.get("with", {}).items() if name in {"script", "args"})


@pytest.mark.share(6)
@settings(max_examples=150, deadline=None)
@given(options=OPTIONS)
def test_no_script_and_no_command_holds_an_expression_whatever_the_options(options: dict[str, object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            made = emission(Path(folder), DOCUMENT, options)
        except InvalidError:
            return
        assert made.text, made.diagnostics
        assert not any("${{" in text for text in code(made.text))


NAMES = ("a", "b", "c")
PASSED = st.sampled_from(NAMES).map(lambda step: Literal(step, "outcome", "==", "success"))
CONDITIONS: st.SearchStrategy[Condition] = st.recursive(
    st.one_of(PASSED, PASSED.map(negation)),
    lambda parts: st.one_of(
        st.lists(parts, max_size=3).map(lambda found: All(tuple(found))),
        st.lists(parts, max_size=3).map(lambda found: Some(tuple(found))),
    ),
    max_leaves=8,
)


def holds(condition: Condition, outcomes: Mapping[str, bool]) -> bool:
    match condition:
        case Literal(step, _, operator, _):
            return outcomes[step] == (operator == "==")
        case All(parts):
            return all(holds(part, outcomes) for part in parts)
        case Some(parts):
            return any(holds(part, outcomes) for part in parts)


def table(condition: Condition) -> list[bool]:
    rows = itertools.product([False, True], repeat=len(NAMES))
    return [holds(condition, dict(zip(NAMES, row, strict=True))) for row in rows]


@given(condition=CONDITIONS, parts=st.lists(CONDITIONS, max_size=4))
def test_every_some_and_negation_mean_what_they_say(condition: Condition, parts: list[Condition]) -> None:
    assert table(every(*parts)) == table(All(tuple(parts)))
    assert table(some(*parts)) == table(Some(tuple(parts)))
    assert table(negation(condition)) == [not value for value in table(condition)]
    assert table(some(condition, negation(condition))) == table(TRUE)
    assert table(every(condition, negation(condition))) == table(FALSE)


@given(condition=CONDITIONS)
def test_an_expression_means_the_condition(condition: Condition) -> None:
    """`&&` binds closer than `||`, in GitHub's expressions as in Python's."""
    text = expression(condition, lambda literal: f"({literal.step} {literal.operator} True)")
    python = text.replace("&&", "and").replace("||", "or").replace("true", "True").replace("false", "False")
    rows = itertools.product([False, True], repeat=len(NAMES))
    assert [bool(eval(python, {}, dict(zip(NAMES, row, strict=True)))) for row in rows] == table(condition)


def test_what_all_have_in_common_is_written_once() -> None:
    a, b, c = (Literal(step, "outcome", "==", "success") for step in NAMES)
    assert some(every(a, b), every(a, c)) == All((a, Some((b, c))))
    assert (some(a, every(a, b)), list(literals(every(a, some(b, c))))) == (a, [a, b, c])


# All that can stand in a document: no NUL, no lone surrogates (D1).
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
SCALARS = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(CHARACTERS, max_size=5)), max_size=8).map("".join)


def read(written: str) -> str:
    """What YAML reads, with the expressions that `scalar` itself makes evaluated."""
    value = yaml.safe_load(written)["run"]
    assert isinstance(value, str)
    return value.replace(LITERAL_OPEN, "${{")


@given(text=SCALARS)
def test_what_is_written_is_read(text: str) -> None:
    value = yaml.safe_load(f"run: {scalar(text, 2)}\n")["run"]
    assert "${{" not in value.replace(LITERAL_OPEN, ""), "no text opens an expression"
    for code in (False, True):
        assert read(f"run: {scalar(text, 2, code=code)}\nnext: 1\n") == text
        nested = yaml.safe_load(f"a:\n      run: {scalar(text, 8, code=code)}\n      next: 1\n")["a"]
        assert (nested["run"].replace(LITERAL_OPEN, "${{"), nested["next"]) == (text, 1)


@given(text=SCALARS)
def test_comments_and_labels_stay_on_their_line(text: str) -> None:
    for shown in (comment(text), label(text)):
        assert len(shown.splitlines()) <= 1
        assert "${{" not in shown
    assert yaml.safe_load(f"# {comment(text)}\na: {scalar(label(text))}\n") == {"a": label(text)}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("echo build", "echo build"), ("1. Run tests", "1. Run tests"), ("yes", "'yes'"), ("1e3", "'1e3'"),
        ("", "''"), ("it's: so", "'it''s: so'"), ("a\nb\n", "|\n  a\n  b"), ("a\nb", "|-\n  a\n  b"),
        ("a\n\nb\n\n", "|+\n  a\n\n  b\n"), ("  a\nb", "|2-\n    a\n  b"), ("a\u202eb", '"a\\u202eb"'),
        ("a\rb", '"a\\rb"'), ("x\x00y", '"x\\u0000y"'),
    ],
)  # fmt: skip
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
