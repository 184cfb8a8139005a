"""Keys that look like a safeguard are errors where rdc would ignore them, and metadata elsewhere."""

from pathlib import Path

import pytest

from tests.support.cli import call

WORDS = ("human", "humans", "gate", "gates", "approval", "approvals", "hitl", "human_gate")
OF_OTHER_TOOLS = (
    *("approval_gate", "requires_approval", "human_in_the_loop", "wait_for_approval", "approvers", "confirm"),
    *("interrupt_before", "needsApproval", "requires_human", "humanInTheLoop", "HITLMode", "require-confirmation"),
    *("manual_approval", "quality_gate", "required_reviewers", "requiresReview", "approvalgate", "sign-off"),
    "approver",
)
HARMLESS = (
    *("human_readable", "humanReadableName", "human-friendly", "gateway", "aggregate", "navigate", "investigate"),
    *("improved", "interruptible", "preview", "review_notes", "reviewer", "manually", "delegate", "date", "rate"),
    "hobby",
)
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


def checked(folder: Path, name: str, text: str) -> tuple[int, str]:
    (folder / "rdc.toml").touch()
    (folder / name).write_text(text, encoding="utf-8")
    result = call("check", name, cwd=folder)
    return result.code, result.err + result.out


@pytest.mark.parametrize("place", ["workflow", "step", "entry"])
@pytest.mark.parametrize("word", [*WORDS, *SPELLINGS, *OF_OTHER_TOOLS])
def test_a_workflow_with_a_key_that_looks_like_a_safeguard_is_refused(place: str, word: str, tmp_path: Path) -> None:
    if (place, word) == ("step", "human"):
        pytest.skip("it is the safeguard")
    slots = {"workflow": "", "step": "", "entry": "", place: f"{word}: true"}
    code, output = checked(tmp_path, "a.workflow.yaml", WORKFLOW.format(**slots))
    assert code == 1, output
    assert f"`{word}`" in output or "an entry under `parallel` cannot wait" in output
    assert "human: true" in output


def test_whatever_its_value_is_and_whatever_is_beside_it(tmp_path: Path) -> None:
    def code(step: str, workflow: str = "") -> tuple[int, bool]:
        found, output = checked(tmp_path, "a.workflow.yaml", WORKFLOW.format(workflow=workflow, step=step, entry=""))
        return found, "RD873" in output

    assert {code(f"approval: {value}") for value in VALUES} == {(1, True)}
    assert code("approval: true", "\n".join(f"key{number}: x" for number in range(500))) == (1, True)
    assert code("human: true") == (0, False)


@pytest.mark.parametrize(
    ("line", "is_refused"),
    [
        *((f"{key}: x", False) for key in HARMLESS),
        *(
            (line, False)
            for line in ("env: {confirm: x}", "config: {with: {approvers: x}}", "options: {preview: {a: 1}}")
        ),
        ("config: {human: true}", True),
        ("defaults: {release: {requires_approval: true}}", True),
        ("options: {hitl: }", True),
    ],
)
def test_other_unknown_keys_are_warnings_unless_there_is_one_below(line: str, is_refused: bool, tmp_path: Path) -> None:
    """Below `env`, `with` and others, authors choose the names."""
    code, output = checked(tmp_path, "a.workflow.yaml", WORKFLOW.format(workflow=line, step="", entry=""))
    assert ("RD873" in output) is is_refused, output
    if is_refused:
        assert "RD873" in checked(tmp_path, "a.stepspec.yaml", SPECIFICATION.format(top=f"    {line}"))[1]
    else:
        assert (code, "RD803" in output) == (0, True), output


@pytest.mark.parametrize("line", ["{policy: {required_phases: [a]}}", "{settings: {hitl: {policy: {}}}}"])
def test_a_policy_in_the_wrong_place_is_an_error(line: str, tmp_path: Path) -> None:
    text = SPECIFICATION.format(top="    phase: a").replace("step_specs", f"config: {line}\nstep_specs")
    code, output = checked(tmp_path, "a.stepspec.yaml", text)
    assert (code, "RD873" in output) == (1, True), output


@pytest.mark.parametrize("key", ["human_readable", "humanReadableName", "human_date"])
def test_text_for_people_is_no_misspelled_gate(key: str, tmp_path: Path) -> None:
    code, output = checked(tmp_path, "a.stepspec.yaml", SPECIFICATION.format(top=f"    {key}: x"))
    assert (code, "RD853" in output, "RD873" in output) == (0, True, False), output


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("word", "value"),
    [*((word, "true") for word in (*WORDS, *SPELLINGS[:4], *OF_OTHER_TOOLS[:4])), *(("gate", one) for one in VALUES)],
)
def test_such_a_key_directly_below_rdc_is_refused(name: str, word: str, value: str, tmp_path: Path) -> None:
    code, output = checked(tmp_path, name, FORMATS[name].format(top=f"rdc:\n  {word}: {value}"))
    assert (code, f"`{word}`" in output) == (1, True), output


@pytest.mark.parametrize(
    "place", ["conditions: [{keyword: A, goto: check, KEY: true}]", "report: {name: r, format: f, KEY: true}"]
)
@pytest.mark.parametrize("word", ["human", *OF_OTHER_TOOLS[:6]])
def test_nor_in_a_condition_or_report(place: str, word: str, tmp_path: Path) -> None:
    text = WORKFLOW.format(workflow="", step=place.replace("KEY", word), entry="")
    code, output = checked(tmp_path, "a.workflow.yaml", text)
    assert (code, f"`{word}`" in output, "human: true" in output) == (1, True, True), output


@pytest.mark.parametrize("word", [*WORDS[:-1], *OF_OTHER_TOOLS])
@pytest.mark.parametrize(
    ("place", "remedy"), [("", "human_gate: required"), ("tools:\n      - name: gitStatus\n        ", "risk: high")]
)
def test_steps_and_tools_of_specifications_refuse_it(word: str, place: str, remedy: str, tmp_path: Path) -> None:
    if word == "gate" and place:
        pytest.skip("it is the safeguard")
    code, output = checked(tmp_path, "a.stepspec.yaml", SPECIFICATION.format(top=f"    {place}{word}: true"))
    assert (code, f"`{word}`" in output, "RD873" in output) == (1, True, True), output
    assert remedy in output or "did you mean" in output


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("top", ["rdc: {github: {approval_gate: true}}", "rdc: {steps: {a: {approval_gate: true}}}"])
def test_nor_deeper_below_rdc(name: str, top: str, tmp_path: Path) -> None:
    code, output = checked(tmp_path, name, FORMATS[name].format(top=top))
    assert (code, "approval_gate" in output) == (1, True), output


CHOSEN = {
    "a.runbook.md": "rdc: {inputs: {approval: {default: x}}, env: {CONFIRM: x}, secrets: [HUMAN_TOKEN]}",
    "a.workflow.yaml": "rdc: {secrets: [HUMAN_GATE], github: {agents: {human: cat, approver: cat}}}",
    "a.stepspec.yaml": "    inputs: {approval: x, human_gate: y}\n    tools: [{name: x, args: {confirm: true}}]",
}


@pytest.mark.parametrize("name", CHOSEN)
def test_names_that_authors_choose_are_free(name: str, tmp_path: Path) -> None:
    messages = checked(tmp_path, name, FORMATS[name].format(top=CHOSEN[name]))[1]
    assert ("no one would be asked" in messages, "no run would wait" in messages) == (False, False)


@pytest.mark.parametrize("word", WORDS)
def test_other_frontmatter_is_metadata(word: str, tmp_path: Path) -> None:
    for name in ("a.runbook.md", "a.playbook.md"):
        code, output = checked(tmp_path, name, FORMATS[name].format(top=f"{word}: CAB-12"))
        assert (code, word in output) == (0, False), output
