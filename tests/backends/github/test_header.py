"""The facts at the top of a workflow, and that each comment of a workflow is true."""

import os
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from backends.github import GithubBackend
from compiler.diagnostics.issues import InvalidError
from tests.conftest import ROOT
from tests.support.comments.workflow import Workflow
from tests.support.comments.workflow_jobs import check_comments
from tests.support.github.compiling import program_of
from tests.support.golden import NAMES, PROGRAMS, VARIANTS, given, program
from tests.support.runbooks import command, limited

BUILD = "## 1. Build\n\n```bash\nmake\n```\n"
ASK = "## 2. Publish?\n\n- YES: CONTINUE\n- NO: STOP\n\n"
AGENT = """\
name: Note
steps:
  - {name: draft, prompt: Write., next: review}
  - name: review
    agent: critic
    prompt: Good? End with GOOD or AGAIN.
    report: {name: r, format: X, validation: GOOD|AGAIN}
    conditions: [{keyword: GOOD, goto: finish}, {keyword: AGAIN, goto: draft}]
  - {name: finish, prompt: Repeat it., end: true}
"""
TWO = "name: Two\nsteps:\n  - {name: a, prompt: A., next: b}\n  - {name: b, prompt: B., end: true}\n"


def workflow(folder: Path, document: str, options: dict[str, object], name: str) -> str:
    made = GithubBackend().emit(program_of(folder, document, name), options)
    assert made.text, made.diagnostics
    return made.text


def printed(folder: Path, document: str, options: dict[str, object], name: str = "main.runbook.md") -> str:
    """Return the facts in the header of a workflow as one line."""
    lines = workflow(folder, document, options, name).split("\nname: ")[0].split("\n")
    first = next(place for place, line in enumerate(lines) if line.startswith("# Runs on: "))
    found = [line.removeprefix("# ") for line in lines[first:]]
    last = next((place for place, line in enumerate(found) if line.startswith(("Each step ", "A run "))), len(found))
    return " ".join(found[:last])


CHECKED = """\
workflow: {module: a, workflow: b}
config:
  executor: "echo a b c d e f g h i j k l m n o p q r s t u v w x y z > made.py"
  variables: {output_folder: out}
step_specs:
  - {id: make, outputs: ["{output_folder}/a.py"], validation: "types, lint"}
"""


def test_the_header_names_the_programs_that_checks_need_and_breaks_no_command(tmp_path: Path) -> None:
    found = workflow(tmp_path, CHECKED.replace("echo a", "echo " + "a " * 50), {}, "a.stepspec.yaml")
    assert "# Uses on the runner: mypy, ruff. A check without its program is skipped, and its step can pass." in found
    assert re.search(r"\n# Calls `echo a .*` ×1\.\n", found)


LOOKS = "## 1. Show\n\n```bash\necho '${{ secrets.LOOKS }}' ${{ github.token }}\n```\n"


@pytest.mark.parametrize(
    ("document", "options", "fact"),
    [
        (BUILD, {"runs-on": "macos-15"}, "Runs on: macos-15. "),
        (BUILD, {"runs-on": ["self-hosted", "linux"]}, "Runs on: self-hosted, linux. "),
        (BUILD, {}, "Secrets: none. Token: contents read. A re-run starts from the beginning."),
        (BUILD, {"permissions": {}, "checkout": False}, "Token: none. "),
        (BUILD, {"checkout": False, "setup": [{"uses": f"actions/checkout@{'0' * 40}"}]}, "Token: contents read. "),
        (BUILD, {"permissions": {"issues": "write"}}, "Token: contents read, issues write. "),
        (BUILD, {"permissions": {"contents": "none"}}, "Token: contents none. "),
        (BUILD + ASK, {"permissions": {"contents": "write"}, "prompts": "answers"}, "contents write, actions read."),
        (BUILD, {"secrets": {"TOKEN": "DEPLOY_TOKEN"}}, "Secrets: DEPLOY_TOKEN. "),
        (BUILD, {"secrets": ["A"], "steps": {"1": {"secrets": ["B"]}}}, "Secrets: B. "),
        (BUILD, {"environment": "production"}, "Environment: production. "),
        (BUILD, {"steps": {"1": {"environment": "staging"}}}, "Environment: staging. "),
        (LOOKS, {}, "Secrets: none. "),
        (BUILD + ASK, {"prompts": "answers"}, "A person answers: 2."),
        (BUILD + ASK, {"prompts": "environment"}, "A person decides: 2."),
        (BUILD + ASK, {"prompts": "agent", "agent": "./judge"}, "Calls ./judge ×1. The agent decides: 2."),
        (TWO, {"agent": "llm"}, "Calls llm ×2."),
        (TWO, {"agent": "llm", "agent-model": "m 1"}, "Calls `llm -m 'm 1'` ×2."),
        (TWO, {"agent": "llm", "agent-retries": 2}, "Calls llm ×6."),
        (TWO, {"agent": "llm", "agent-retries": 2, "agent-calls": 4}, "Calls llm ×4. It calls agents at most 4 times."),
        (TWO, {"agent": "set -e\nllm"}, "Calls `set -e …` ×2."),
        (AGENT, {"agent": "llm", "max-steps": 5}, "Calls llm ×5. "),
        (AGENT, {"agent": "llm", "max-steps": 5, "agents": {"critic": "./c"}}, "Calls llm ×5, ./c ×5. "),
        (AGENT, {"agent": "llm", "max-steps": 0}, "Calls llm (no limit)."),
        (AGENT, {"agent": "llm", "max-steps": 0, "agent-calls": 9}, "Calls llm ×9. "),
    ],
)
def test_facts(document: str, options: dict[str, object], fact: str, tmp_path: Path) -> None:
    name = "note.workflow.yaml" if document in (TWO, AGENT) else "main.runbook.md"
    found = printed(tmp_path, document, options, name)
    assert fact in found
    if "prompts" in options:
        assert ("A re-run starts from the beginning." in found) == (options["prompts"] == "agent")


def test_long_lists_have_several_lines(tmp_path: Path) -> None:
    names = [f"QUITE_A_LONG_SECRET_{number}" for number in range(30)]
    text = workflow(tmp_path, BUILD, {"secrets": names}, "main.runbook.md")
    header = [line for line in text.split("\nname: ")[0].split("\n") if "SECRET" in line]
    assert len(header) > 4
    assert max(len(line) for line in header if not line.startswith("#   rdc ")) <= 120
    assert all(f"{name}" in " ".join(header) for name in names)


CHOICES: Mapping[str, tuple[object, ...]] = {
    "runs-on": ("ubuntu-22.04", ["self-hosted", "linux"], "macos-15"),
    "permissions": (
        {"issues": "write"},
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


def trials(chance: random.Random, number: int, each: int) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield each n-th example with its usual options, and then examples with random ones."""
    examples = [*NAMES, *PROGRAMS]
    for name in examples[::each]:
        yield name, dict(given(name, "github"))
        yield from ((name, dict(options)) for target, options in VARIANTS.get(name, {}).values() if target == "github")
    for _ in range(number):
        name, options = chance.choice(examples), chance.sample(sorted(CHOICES), chance.randint(1, 7))
        yield name, {**given(name, "github"), **{each: chance.choice(CHOICES[each]) for each in options}}


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


def wrong(seed: int, number: int, each: int = 1) -> list[str]:
    """Return the workflows with a comment that is not true."""
    found: list[str] = []
    counts: list[int] = []
    for name, options in trials(random.Random(seed), number, each):
        try:
            counts.append(checked(name, options))
        except AssertionError as error:
            found.append(f"{name} {options}: {error}")
    assert sum(map(bool, counts)) + len(found) > number // 2, "most options fit"
    return found


def test_every_comment_is_true() -> None:
    assert wrong(0, 6, each=3) == []


FAILS = "".join(command(f"### 1.{number}", "true", "FAIL: CONTINUE") for number in (1, 2))
BOTH = f"## 1\n\n- FAIL ANY: GOTO 3\n\n{FAILS}## 2. On?\n\n## 3. Undo?\n"


@pytest.mark.parametrize(
    ("document", "lines"),
    [
        (BOTH, "PASS, 1.1 failed >= 1: GOTO 3/PASS, 1.2 failed >= 1: GOTO 3/PASS, otherwise: GOTO 2/FAIL: CONTINUE"),
        (limited(3), 'PASS, 1 visits < 3: GOTO 1/PASS, otherwise: STOP "enough"/FAIL: STOP'),
    ],
)
def test_a_comment_has_the_tests_that_no_label_tells(document: str, lines: str, tmp_path: Path) -> None:
    found = workflow(tmp_path, document, {"prompts": "answers"}, "main.runbook.md")
    assert lines.replace("/", "\n") in re.sub("^ *# *", "", found, flags=re.MULTILINE)


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
        ("dependency-update", '      # RED, otherwise: STOP "three fixes were not enough"\n', ""),
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
