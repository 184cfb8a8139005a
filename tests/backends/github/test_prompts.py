"""Prompts: those that an agent answers, and those of commands, which the log shows without a command to the runner."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.backends.github.asking import DOCUMENT, done, headings
from tests.backends.github.walking import Engine
from tests.support.github.compiling import parsed, text_of
from tests.support.github.lint import findings

pytestmark = pytest.mark.process


def workflow(folder: Path, agent: str, document: str = DOCUMENT) -> str:
    return text_of(folder, document, {"prompts": "agent", "agent": agent, "checkout": False, "summary": True})


@pytest.mark.parametrize(
    ("agent", "end"),
    [
        ("grep -q 'Is it good' && printf 'I looked.\\n\\n**Yes**\\n\\n'", "COMPLETE It is there"),
        ("cat > /dev/null; echo Perhaps", "STOP Not wanted"),
        ("cat > /dev/null; echo PASS; exit 3", "STOP Not wanted"),
    ],
)
def test_the_last_line_of_an_agent_decides(agent: str, end: str, tmp_path: Path, walk: Engine) -> None:
    ran = walk(workflow(tmp_path, agent), env={"LOG": str(tmp_path / "log")})
    assert headings(ran) == [end]
    assert done(tmp_path) == ["build", "install built" if end[0] == "C" else "withdraw built"]


def test_what_an_agent_prints_is_no_command_to_the_runner(tmp_path: Path, walk: Engine) -> None:
    lines = "::set-output name=next::s3\\n::error::no\\nx\\r::error::cr\\n##[error]no\\nYES\\n"
    ran = walk(workflow(tmp_path, f"cat > /dev/null; printf '{lines}'"), env={"LOG": str(tmp_path / "log")})
    assert headings(ran) == ["COMPLETE It is there"]
    assert "::error::no" in ran.log
    assert not [title for job in ran.jobs.values() for level, title, _ in job.annotations if level == "error"]


def test_an_agent_in_a_loop_is_asked_again(tmp_path: Path, walk: Engine) -> None:
    document = DOCUMENT.replace("NO: GOTO Withdraw", "NO: RETRY 3 GOTO Withdraw")
    agent = 'cat > /dev/null; echo asked >> "$LOG"; [ "$(grep -c asked "$LOG")" = 3 ] && echo YES || echo NO'
    ran = walk(workflow(tmp_path, agent, document), env={"LOG": str(tmp_path / "log")})
    assert headings(ran) == ["COMPLETE It is there"]
    assert done(tmp_path) == ["build", "asked", "asked", "asked", "install built"]
    rows = re.findall(r"Agree\??(?:, attempt (\d))? \| \**(\w+)", ran.summary)
    assert rows == [("", "NO"), ("2", "NO"), ("3", "YES")]


# --- Prompts of commands ----------------------------------------------------------------------------------------------

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


def looking(shell: str, ending: str) -> str:
    command = "test -e again || ! touch again" if ending in (RETRY, LOOP) else "true"
    return f"{HEAD}## 1. Look\n\n{HOSTILE}\n```{shell}\necho looking\n{command}\n```\n\n{ending}"


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("shell", "ending", "summary"),
    [("bash", RETRY, True), ("sh", RETRY, False), ("sh", "", False), ("bash", LOOP, True), ("sh", ASK, True)],
)
def test_a_prompt_is_in_the_log_and_is_no_command_to_the_runner(
    shell: str, ending: str, summary: bool, tmp_path: Path, walk: Engine
) -> None:
    text = text_of(tmp_path, looking(shell, ending), {"checkout": False, "summary": summary})
    path = tmp_path / "deploy.yml"
    path.write_text(text, encoding="utf-8")
    assert findings([path]) == []
    ran = walk(text)
    assert ran.exit_code == (ending == ASK), ran.log
    assert "Watch db1, $(touch owned) and ${{ github.token }}." in ran.log
    assert "\\033 %s 'quoted' \"twice\"" in ran.log
    assert not (tmp_path / "owned").exists()
    lines = [line for line in ran.log.splitlines() if "by a prompt" in line]
    assert lines
    assert all("| ::error" in line or "## [error]" in line for line in lines) or ending == ASK


def test_a_value_of_an_event_or_an_output_stays_a_name(tmp_path: Path) -> None:
    ours = looking("bash", "").replace("inputs:", "outputs: [V]\n  inputs:").replace("Watch {{HOST}}", "{{V}} {{HOST}}")
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
