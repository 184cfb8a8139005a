"""The facts at the top of a workflow: runner, secrets, token, calls and decisions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from backends.github import GithubBackend
from compiler.driver import compile_file

BUILD = "## 1. Build\n\n```bash\nmake\n```\n"
ASK = "## 2. Publish?\n\n- YES: CONTINUE\n- NO: STOP\n\n"
AGENT = """\
name: Note
steps:
  - name: draft
    prompt: Write.
    next: review
  - name: review
    agent: critic
    prompt: Good? End with GOOD or AGAIN.
    report: {name: r, format: X, validation: GOOD|AGAIN}
    conditions:
      - {keyword: GOOD, goto: finish}
      - {keyword: AGAIN, goto: draft}
  - {name: finish, prompt: Repeat it., end: true}
"""
TWO = "name: Two\nsteps:\n  - {name: a, prompt: A., next: b}\n  - {name: b, prompt: B., end: true}\n"


def workflow(folder: Path, document: str, options: dict[str, object], name: str) -> str:
    (folder / name).write_text(document, encoding="utf-8")
    program = compile_file(str(folder / name)).program
    assert program is not None
    made = GithubBackend().emit(program, options)
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
    document = CHECKED.replace("echo a", "echo " + "a " * 50)
    found = workflow(tmp_path, document, {}, "a.stepspec.yaml")
    assert "# Uses on the runner: mypy, ruff. A check without its program is skipped, and its step can pass." in found
    assert re.search(r"\n# Calls `echo a .*` ×1\.\n", found)


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"runs-on": "macos-15"}, "Runs on: macos-15. "),
        ({"runs-on": ["self-hosted", "linux"]}, "Runs on: self-hosted, linux. "),
        ({}, "Secrets: none. Token: contents read. A re-run starts from the beginning."),
        ({"permissions": {}, "checkout": False}, "Token: none. "),
        ({"permissions": {"issues": "write", "contents": "read"}}, "issues write"),
        ({"secrets": {"TOKEN": "DEPLOY_TOKEN"}}, "Secrets: DEPLOY_TOKEN. "),
        ({"secrets": ["A"], "steps": {"1": {"secrets": ["B"]}}}, "Secrets: B. "),
        ({"environment": "production"}, "Environment: production. "),
        ({"steps": {"1": {"environment": "staging"}}}, "Environment: staging. "),
    ],
)
def test_surroundings(options: dict[str, object], fact: str, tmp_path: Path) -> None:
    assert fact in printed(tmp_path, BUILD, options)


def test_text_that_looks_like_a_secret_is_none(tmp_path: Path) -> None:
    document = "## 1. Show\n\n```bash\necho '${{ secrets.LOOKS }}' ${{ github.token }}\n```\n"
    assert "Secrets: none. " in printed(tmp_path, document, {})


@pytest.mark.parametrize(
    ("document", "options", "fact"),
    [
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
def test_calls(document: str, options: dict[str, object], fact: str, tmp_path: Path) -> None:
    assert fact in printed(tmp_path, document, options, "note.workflow.yaml")


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"prompts": "answers"}, "A person answers: 2."),
        ({"prompts": "environment"}, "A person decides: 2."),
        ({"prompts": "agent", "agent": "./judge"}, "Calls ./judge ×1. The agent decides: 2."),
    ],
)
def test_decisions(options: dict[str, object], fact: str, tmp_path: Path) -> None:
    found = printed(tmp_path, BUILD + ASK, options)
    assert fact in found
    assert ("A re-run starts from the beginning." in found) == (options["prompts"] == "agent")


def test_long_lists_have_several_lines(tmp_path: Path) -> None:
    names = [f"QUITE_A_LONG_SECRET_{number}" for number in range(30)]
    text = workflow(tmp_path, BUILD, {"secrets": names}, "main.runbook.md")
    header = [line for line in text.split("\nname: ")[0].split("\n") if "SECRET" in line]
    assert len(header) > 4
    assert max(len(line) for line in header if not line.startswith("#   rdc ")) <= 120
    assert all(f"{name}" in " ".join(header) for name in names)
