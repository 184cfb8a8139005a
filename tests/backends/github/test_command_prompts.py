"""The prompt of a command in the log of its step: it is there, and no line of it is a command to the runner."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.github import act
from tests.support.github.compiling import parsed, text_of
from tests.support.github.lint import findings

HEAD = "---\nrdc:\n  inputs: {HOST: {description: A host, default: db1}}\n---\n# Deploy\n\n"
HOSTILE = """\
Watch {{HOST}}, $(touch owned) and ${{ github.token }}.

::error title=Owned::by a prompt
##[error]by a prompt
  ::set-output name=x::y
\\033 %s 'quoted' "twice"
"""
RETRY = "- FAIL: RETRY 1 STOP\n"
AGAIN = "## 2. Again\n\nOnce more on {{HOST}}.\n\n```sh\ntouch again\n```\n\n- PASS: GOTO 1\n"
LOOP = f"- FAIL: GOTO 2\n- PASS: COMPLETE\n\n{AGAIN}"
ASK = "## 2. Fine?\n\nIs it fine?\n"


def document(shell: str, ending: str) -> str:
    command = "test -e again || ! touch again" if ending in (RETRY, LOOP) else "true"
    return f"{HEAD}## 1. Look\n\n{HOSTILE}\n```{shell}\necho looking\n{command}\n```\n\n{ending}"


@pytest.mark.parametrize("summary", [False, True])
@pytest.mark.parametrize(("shell", "ending"), [("bash", RETRY), ("sh", RETRY), ("sh", ""), ("bash", LOOP), ("sh", ASK)])
def test_a_prompt_is_in_the_log_and_is_no_command_to_the_runner(
    shell: str, ending: str, summary: bool, tmp_path: Path
) -> None:
    text = text_of(tmp_path, document(shell, ending), {"checkout": False, "summary": summary})
    path = tmp_path / "deploy.yml"
    path.write_text(text, encoding="utf-8")
    assert findings([path]) == []
    ran = act.run(tmp_path, text)
    assert ran.exit_code == (ending == ASK), ran.log
    assert "Watch db1, $(touch owned) and ${{ github.token }}." in ran.log
    assert "\\033 %s 'quoted' \"twice\"" in ran.log
    assert not (tmp_path / "owned").exists()
    lines = [line for line in ran.log.splitlines() if "by a prompt" in line]
    assert lines
    assert all("| ::error" in line or "## [error]" in line for line in lines) or ending == ASK


def test_a_value_of_an_event_or_an_output_stays_a_name(tmp_path: Path) -> None:
    ours = (
        document("bash", "").replace("inputs:", "outputs: [V]\n  inputs:").replace("Watch {{HOST}}", "{{V}} {{HOST}}")
    )
    ours += '## 2. Use\n\n```bash\necho "$V $HOST"\n```\n'
    options = {"on": ["issues", "workflow_dispatch"], "bind": {"HOST": "event.issue.title"}, "checkout": False}
    for given, shown in (({"checkout": False}, "{{V}} ${{ env.HOST }}, $("), (options, "{{V}} {{HOST}}, $(")):
        text = text_of(tmp_path, ours, given)
        found = [step for job in parsed(text)["jobs"].values() for step in job["steps"]]
        prompts = [step["env"]["RDC_PROMPT"] for step in found if "RDC_PROMPT" in step.get("env", {})]
        if prompts:
            assert prompts[0].startswith(shown)


def test_a_command_without_a_prompt_is_as_the_author_wrote_it(tmp_path: Path) -> None:
    (step,) = parsed(text_of(tmp_path, "## 1. A\n\n```bash\necho a\n```\n", {"checkout": False}))["jobs"]["runbook"][
        "steps"
    ]
    assert (step["run"], "env" in step) == ("echo a", False)
