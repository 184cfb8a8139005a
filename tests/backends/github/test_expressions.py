"""Options that hold GitHub expressions: they reach variables and inputs as data, and never a script."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

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


@settings(max_examples=50, deadline=None)
@given(group=st.sampled_from(["github.ref", "github.ref_name", "github.sha"]).map("x-${{{{ {} }}}}".format))
def test_trusted_contexts_are_data_in_variables_and_inputs(group: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        options = {"env": {"REF": group}, "setup": [{"uses": ACTION, "with": {"key": group}}]}
        text = emission(Path(folder), DOCUMENT, options).text
        assert text
        job = parsed(text)["jobs"]["runbook"]
        assert job["env"]["REF"] == group
        assert [step["with"]["key"] for step in job["steps"] if "key" in step.get("with", {})] == [group]
