"""Keys that look like a safeguard are errors where rdc would ignore them, and metadata elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rdc.cli_support import call

WORDS = ("human", "humans", "gate", "gates", "approval", "approvals", "hitl", "human_gate")
SPELLINGS = ("Human", "HUMANS", "human-gate", "humanGate", "Approval", "human gate", "Gates")
VALUES = ("true", "false", "required", "[alice]", "{by: alice}", "")

WORKFLOW = """name: release
{workflow}
steps:
  - name: build
    prompt: Build it.
    {step}
    next: check
  - name: check
    check: all
    parallel:
      - agent: a
        prompt: Look.
        {entry}
    end: true
"""
RUNBOOK = "---\n{top}\n---\n# Release\n\n## 1. Build\n\n```bash\ntrue\n```\n"
PLAYBOOK = "---\n{top}\n---\n# Release\n\n## STEP 1: Build\n\nBuild it.\n"
SPECIFICATION = "workflow: {{module: a, workflow: b}}\nstep_specs:\n  - id: build\n{top}\n"
FORMATS = {
    "a.runbook.md": RUNBOOK,
    "a.playbook.md": PLAYBOOK,
    "a.stepspec.yaml": SPECIFICATION,
    "a.workflow.yaml": WORKFLOW.replace("{workflow}", "{top}").replace("{step}", "").replace("{entry}", ""),
}


def told(folder: Path, name: str, text: str) -> tuple[int, str]:
    (folder / "rdc.toml").touch()
    (folder / name).write_text(text, encoding="utf-8")
    result = call("check", name, cwd=folder)
    return result.code, result.err + result.out


@pytest.mark.parametrize("place", ["workflow", "step", "entry"])
@pytest.mark.parametrize("word", [*WORDS, *SPELLINGS])
def test_a_workflow_with_a_key_that_looks_like_a_safeguard_is_refused(place: str, word: str, tmp_path: Path) -> None:
    if (place, word) == ("step", "human"):
        pytest.skip("it is the safeguard")
    slots = {"workflow": "", "step": "", "entry": "", place: f"{word}: true"}
    code, said = told(tmp_path, "a.workflow.yaml", WORKFLOW.format(**slots))
    assert code == 1, said
    assert f"`{word}`" in said or "an entry under `parallel` cannot wait" in said
    assert "human: true" in said


@pytest.mark.parametrize("value", VALUES)
def test_whatever_its_value_is(value: str, tmp_path: Path) -> None:
    text = WORKFLOW.format(workflow="", step=f"approval: {value}", entry="")
    assert told(tmp_path, "a.workflow.yaml", text)[0] == 1


def test_human_at_a_step_stays(tmp_path: Path) -> None:
    text = WORKFLOW.format(workflow="", step="human: true", entry="")
    assert told(tmp_path, "a.workflow.yaml", text)[0] == 0


def test_many_other_keys_do_not_hide_it(tmp_path: Path) -> None:
    keys = "\n".join(f"key{number}: x" for number in range(500))
    text = WORKFLOW.format(workflow=keys, step="approval: true", entry="")
    code, said = told(tmp_path, "a.workflow.yaml", text)
    assert (code, "RD873" in said) == (1, True)


@pytest.mark.parametrize("key", ["date: today", "rate: 3", "hobby: x", "approver: x", "navigate: x"])
def test_other_unknown_keys_stay_warnings(key: str, tmp_path: Path) -> None:
    code, said = told(tmp_path, "a.workflow.yaml", WORKFLOW.format(workflow=key, step="", entry=""))
    assert (code, "RD803" in said) == (0, True)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("word", [*WORDS, *SPELLINGS[:4]])
@pytest.mark.parametrize("value", VALUES)
def test_such_a_key_directly_below_rdc_is_refused(name: str, word: str, value: str, tmp_path: Path) -> None:
    code, said = told(tmp_path, name, FORMATS[name].format(top=f"rdc:\n  {word}: {value}"))
    assert (code, f"`{word}`" in said) == (1, True), said


@pytest.mark.parametrize("name", ["a.runbook.md", "a.playbook.md"])
@pytest.mark.parametrize("word", WORDS)
def test_other_frontmatter_is_metadata(name: str, word: str, tmp_path: Path) -> None:
    code, said = told(tmp_path, name, FORMATS[name].format(top=f"{word}: CAB-12"))
    assert (code, word in said) == (0, False), said
