"""Expressions of options never reach a script, and conditions keep their meaning when they are simplified."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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

DOCUMENT = """\
# Deploy

## 1. Build

```bash
true
```

## 2. Agree

Is it good?

- YES: CONTINUE
- NO: STOP

## 3. Again

```bash
false
```

- FAIL: RETRY 2 GOTO Fix

## Fix

```bash
echo "${{ github.ref_name }}"
```

- PASS: STOP
"""

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


@pytest.mark.parametrize("name", ["github.ref", "github.ref_name", "github.sha"])
def test_trusted_contexts_are_data_in_variables_and_inputs(name: str, tmp_path: Path) -> None:
    group = f"x-${{{{ {name} }}}}"
    text = emission(
        tmp_path, DOCUMENT, {"env": {"REF": group}, "setup": [{"uses": ACTION, "with": {"key": group}}]}
    ).text
    assert text
    job = parsed(text)["jobs"]["runbook"]
    assert job["env"]["REF"] == group
    assert [step["with"]["key"] for step in job["steps"] if "key" in step.get("with", {})] == [group]


# --- Conditions -------------------------------------------------------------------------------------------------------

NAMES = ("a", "b", "c")
PASSED = st.sampled_from(NAMES).map(lambda step: Literal(step, "outcome", "==", "success"))
LITERALS = st.one_of(PASSED, PASSED.map(negation))
CONDITIONS: st.SearchStrategy[Condition] = st.recursive(
    LITERALS,
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


@given(parts=st.lists(CONDITIONS, max_size=4))
def test_every_and_some_mean_what_they_say(parts: list[Condition]) -> None:
    assert table(every(*parts)) == table(All(tuple(parts)))
    assert table(some(*parts)) == table(Some(tuple(parts)))


@given(condition=CONDITIONS)
def test_negation(condition: Condition) -> None:
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
    assert some(a, every(a, b)) == a
    assert list(literals(every(a, some(b, c)))) == [a, b, c]
