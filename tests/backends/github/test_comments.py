"""Every comment of a workflow is true: of each example, with random sets of options."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace

import msgspec
import pytest

from compiler.diagnostics.issues import InvalidError
from tests.conftest import ROOT
from tests.support.comments.workflow import Workflow
from tests.support.comments.workflow_jobs import check_comments
from tests.support.golden import NAMES, PROGRAMS, VARIANTS, given, program

CHOICES: Mapping[str, tuple[object, ...]] = {
    "runs-on": ("ubuntu-22.04", ["self-hosted", "linux"], "macos-15"),
    "permissions": (
        {"contents": "read"},
        {"contents": "write", "issues": "write"},
        {"contents": "read", "checks": "read"},
    ),
    "secrets": (["TOKEN"], {"TOKEN": "OF_CI"}, ["A_KEY", "B_KEY"]),
    "environment": ("production",),
    "env": ({"LEVEL": "2", "WHERE": "${{ github.ref }}"},),
    "timeout-minutes": (30, 90),
    "agent": ("llm", "./agent --fast", "set -e\n./agent", {"run": "./agent", "secrets": []}),
    "agent-timeout": ("10m", "45s", 3600),
    "agent-retries": (1, 3),
    "agent-calls": (2, 40),
    "max-steps": (0, 7),
    "executor": ("./do-it", "cat > /dev/null\ntrue"),
    "tools": ({"github": "./gh", "metrics": "./m", "announce": "./announce"},),
    "prompts": ("answers", "environment", "agent"),
    "parallel": ("matrix",),
    "summary": (True,),
    "transcript": (False,),
    "retention-days": (3,),
    "runtime": ("inline",),
    "publish": ("summary", ["artifact", "comment"]),
    "on": ({"workflow_dispatch": None, "issues": {"types": ["opened"]}}, ["workflow_dispatch", "push"]),
    "setup": ([{"run": "make tools"}],),
    "approval-environment": ("deciders",),
}


def random_options(chance: random.Random) -> dict[str, object]:
    """Return some options with random values."""
    names = chance.sample(sorted(CHOICES), chance.randint(1, 7))
    return {name: chance.choice(CHOICES[name]) for name in names}


def trials(chance: random.Random, number: int) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield each example with its usual options, and then examples with random ones."""
    examples = [*NAMES, *PROGRAMS]
    for name in examples:
        yield name, dict(given(name, "github"))
        yield from ((name, dict(options)) for target, options in VARIANTS.get(name, {}).values() if target == "github")
    for _ in range(number):
        name = chance.choice(examples)
        yield name, {**given(name, "github"), **random_options(chance)}


def checked(name: str, options: dict[str, object]) -> int:
    """Check all comments of a workflow; return their number, or 0 if there is no such workflow."""
    try:
        workflow = Workflow.of(program(name), options)
    except InvalidError:
        return 0
    return check_comments(workflow) if workflow.emission.text else 0


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def wrong(seed: int, number: int) -> list[str]:
    """Return the workflows with a comment that is not true."""
    found: list[str] = []
    counts: list[int] = []
    for name, options in trials(random.Random(seed), number):
        try:
            counts.append(checked(name, options))
        except AssertionError as error:
            found.append(f"{name} {options}: {error}")
    assert sum(map(bool, counts)) + len(found) > number // 2, "most options fit"
    return found


def test_every_comment_is_true() -> None:
    assert wrong(0, 10) == []


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("nightly-report", "Runs on: ubuntu", "Runs on: windows"),
        ("nightly-report", "Secrets: REPORT_TOKEN", "Secrets: none"),
        ("nightly-report", "Token: contents read", "Token: contents write"),
        ("nightly-report", " A re-run starts from the beginning.", ""),
        ("nightly-report", "# v7", "# v6"),
        ("nightly-report", "# check out the repository", "# see who reviewed this run"),
        ("change-review", "acceptEdits` ×3", "acceptEdits` ×2"),
        ("change-review", "Calls `claude -p", "Calls `claude -q"),
        ("dependency-update", "A run stops after 20 steps", "A run stops after 21 steps"),
        ("dependency-update", "decides: update/human, publish/human", "decides: update/human"),
        ("dependency-update", "# GREEN: goto publish", "# GREEN: goto fix"),
        ("dependency-update", "      # RED: goto fix\n", ""),
        ("code-review", 'NO: STOP "Ask the author', 'NO: STOP "Ask an author'),
        ("code-review", "calls .github/rdc/", "calls .github/other/"),
        ("canary-rollout", "# --- {N}. Stage {N}", "# --- {N}. Another {N}"),
        ("canary-rollout", "There are four stages.", "There are five stages."),
        ("canary-rollout", "  FAIL: RETRY 3", "  FAIL: RETRY 4"),
        ("canary-rollout", "      - name: Check out", "      # Something new.\n      - name: Check out"),
    ],
)
def test_a_comment_that_is_not_true_is_found(name: str, before: str, after: str) -> None:
    workflow = Workflow.of(program(name), given(name, "github"))
    assert check_comments(workflow) > 5
    assert before in workflow.text
    changed = msgspec.structs.replace(workflow.emission, text=workflow.text.replace(before, after, 1))
    with pytest.raises(AssertionError):
        check_comments(replace(workflow, emission=changed, given={"steps": {}}))  # it doesn't compile the command


@pytest.mark.soak
def test_every_comment_of_many_workflows_is_true() -> None:
    assert wrong(int(os.environ.get("SEED", "0")) + 100, 1_000) == []
