"""Mock runs: `rdc run FILE --mock` calls `rdc mock`. Programs know nothing of mocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.python.edition import runtime
from rdc.calls.mock import read_mocks
from runtime_shim.editions import EDITIONS
from runtime_shim.engine.program import UsageError
from runtime_shim.tasks.exchange import Answered
from tests.support.cli import spawn

pytestmark = pytest.mark.process

ASKING = """\
# Ask

## STEP 1: Draft

Write.

@output(draft)

## STEP 2: Check

@elicit(input, "Good?")

## STEP 3: Send

Send {{draft}}.
"""
PARALLEL = """\
name: reviews
steps:
  - name: review
    parallel:
      - {agent: one, prompt: A}
      - {agent: two, prompt: B}
    end: true
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A project with mocks."""
    (tmp_path / "rdc.toml").touch()
    (tmp_path / "m.yaml").write_text("agents:\n  1: [first]\n  3: [sent]\n", encoding="utf-8")
    (tmp_path / "ask.playbook.md").write_text(ASKING, encoding="utf-8")
    return tmp_path


def test_mocks_answer_no_question_and_hints_keep_the_option(place: Path) -> None:
    begun = spawn("run", "ask.playbook.md", "--mock", "m.yaml", "--agent-retries", "1", cwd=place)
    assert begun.code == 75, begun.err
    assert "to continue: rdc run ask.playbook.md resume --agent-retries 1 --mock m.yaml\n" in begun.err
    answered = spawn("run", "ask.playbook.md", "answer", "2", "yes", cwd=place)
    assert (
        "rdc run ask.playbook.md resume   (with --agent-retries, as before)   (with --mock, as before)\n"
        in answered.err
    )
    done = spawn("run", "ask.playbook.md", "resume", "--mock", "m.yaml", cwd=place)
    assert (done.code, "    sent\n" in done.err) == (0, True), done.err
    assert {path.name for path in place.iterdir()} == {".rdc", "ask.playbook.md", "m.yaml", "rdc.toml"}


def test_each_entry_of_a_parallel_step_has_its_answers(place: Path) -> None:
    (place / "reviews.workflow.yaml").write_text(PARALLEL, encoding="utf-8")
    (place / "m.yaml").write_text("agents:\n  review_0: [one]\n  review_1: [{fail: no}, two]\n", encoding="utf-8")
    done = spawn("run", "reviews.workflow.yaml", "--mock", "m.yaml", "--agent-retries", "1", cwd=place)
    assert done.code == 0, done.err
    stored = place / ".rdc/reviews/answers"
    assert [(stored / name).read_text() for name in ("review_0.1", "review_1.2")] == ["one", "two"]


@pytest.mark.parametrize(
    ("mocks", "message"), [("agents: [", "m.yaml:1: not YAML"), ("x: 1", "may only have the keys")]
)
def test_nothing_starts_with_a_file_that_is_no_file_of_mocks(mocks: str, message: str, place: Path) -> None:
    (place / "m.yaml").write_text(mocks, encoding="utf-8")
    refused = spawn("run", "ask.playbook.md", "--mock", "m.yaml", cwd=place)
    assert (refused.code, message in refused.err) == (2, True), refused.err
    assert not (place / ".rdc/ask/journal").exists()


def test_programs_do_not_mock(place: Path) -> None:
    assert [name for name in EDITIONS if "mock" in runtime(name).lower()] == []
    (place / "a.runbook.md").write_text("## 1. Run\n\n```bash\ntrue\n```\n", encoding="utf-8")
    refused = spawn("run", "a.runbook.md", "--mock", "m.yaml", cwd=place)
    assert (refused.code, "unknown argument --mock" in refused.err) == (2, True), "nothing to replace"


# --- Files of mocks, and the part of YAML that they are written in: what it reads, YAML reads alike -------------------


def test_a_file_of_mocks_has_answers_in_order(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text("agents:\n  2/elicit: x\n  1: [{fail: why}, 1.50]\ntools:\n  web/get: []\n", encoding="utf-8")
    mocks = read_mocks(str(path))
    given = [mocks.due("agents", "1", number, "1") for number in range(2)]
    assert given == [Answered(b"", "why"), Answered(b"1.50", "")]
    assert mocks.due("agents", "2/elicit", 0, "2") == Answered(b"x", "")
    assert mocks.replies["tools"] == {"web/get": []}
    with pytest.raises(UsageError, match=r"2: .*m\.yaml has no answer number 1 under tools: web/get"):
        mocks.due("tools", "web/get", 0, "2")


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("agent: {}\n", "may only have the keys `agents`, `tools`, `executors`"),
        ("agents: [x]\n", "`agents` needs a list of answers for each name"),
        ("agents: {1: [[x]]}\n", "agents: 1: expected a string, or {fail: why}"),
        ("agents:\n  1: *x\n", "m.yaml:2: not YAML: there is no anchor for `*x`"),
        ("agents:\n  1: [x\n", "m.yaml:2: not YAML: this bracket is not closed"),
        ("agents: {1: 2\n", "not YAML"),
        ("{", "not JSON"),
        ('{"agents": {"1": [null]}}', "expected a string, or {fail: why}"),
    ],
)
def test_what_is_no_file_of_mocks_is_refused(text: str, output: str, tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as refused:
        read_mocks(str(path))
    assert output in str(refused.value)
