"""Steps that agents do, by the commands of rdc: they play the agent, show it, and run it."""

from pathlib import Path

import pytest

from tests.support.cli import call, spawn
from tests.support.runbooks import command

pytestmark = pytest.mark.process

RUN = "rd run --prompted fix.runbook.md"
FIX = (
    f"""---
rdc:
  steps: {{"1": {{by: agent}}}}
scenarios:
  good: {{commands: [{RUN}, rd fail, rd pass], result: COMPLETE}}
  moved: {{commands: [{RUN}, rd fail, rd fail, rd fail, rd goto 1, rd pass], result: COMPLETE}}
  real: {{commands: [rd run fix.runbook.md], result: STOP}}
---

# Fix

"""
    + command("1. Write a greeting", "grep hello greeting.txt", "FAIL: RETRY 2 GOTO Clean", text="Write hello.")
    + command("Clean up", "true", 'PASS: STOP "gave up"')[:-1]
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rdc.toml").touch()
    (tmp_path / "fix.runbook.md").write_text(FIX, encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("forked_mocks", "forked_targets")
def test_scenarios_mock_the_agent_on_targets(folder: Path) -> None:
    result = call("test", "fix.runbook.md", "--on", "python", "--on", "make", cwd=folder).exits(0)
    assert result.out.count("PASSED") == 8
    assert "FAILED" not in result.out


def test_drafts_traces_and_differences_show_the_agent(folder: Path) -> None:
    trace = call("trace", "fix.runbook.md", "--outcomes", "1=fail,pass", cwd=folder)
    assert [line.split()[0] for line in trace.out.splitlines()[:4]] == ["1/do", "1", "1/do", "1"]
    (folder / "plain.runbook.md").write_text(FIX.replace('{"1": {by: agent}}', "{}"), encoding="utf-8")
    assert "+ 1/do Write a greeting" in call("diff", "plain.runbook.md", "fix.runbook.md", cwd=folder).out
    assert call("fmt", "--check", "fix.runbook.md", cwd=folder).code == 0
    (folder / "fix.runbook.md").write_text(FIX.replace("scenarios:", "others:"), encoding="utf-8")
    assert call("test", "--init", "fix.runbook.md", cwd=folder).code == 0
    written = (folder / "fix.scenarios.yaml").read_text(encoding="utf-8")
    assert "rd pass  # 1 Write a greeting" in written
    assert "1/do fail" not in written
    assert call("test", "fix.runbook.md", cwd=folder).code == 0


def test_a_run_calls_the_agent_before_each_check(folder: Path) -> None:
    agent = 'cat > prompt; [ "$RDC_ATTEMPT" = 1 ] || echo hello > greeting.txt; echo done'
    result = spawn("run", "fix.runbook.md", "--agent", agent, cwd=folder).exits(0)
    assert (folder / "prompt").read_text(encoding="utf-8") == "Write a greeting\n\nWrite hello."
    shown = [line.split("] ")[1] for line in (result.out + result.err).splitlines() if line.startswith("[")]
    first = ["1/do Write a greeting", "1 Write a greeting"]
    assert shown == [*first, *(f"{line} - attempt 2" for line in first)]
