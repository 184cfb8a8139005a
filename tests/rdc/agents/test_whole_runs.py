"""Runs through the server, from the start to the end, in both versions of the protocol."""

import getpass
import json
import shutil
from pathlib import Path

import pytest
from mcp.types import ElicitRequestFormParams, ElicitResult

from tests.conftest import ROOT
from tests.rdc.agents.documents import MIXED
from tests.support.agents import MODES, NEW, Host, Table, accepted, approve, drive, outcomes, records, serve
from tests.support.cli import spawn

pytestmark = pytest.mark.process

REVIEW = {"1": "b is never set.", "2": "Short names.", "3": "Set b."}
AUDIT = {"audit_0": "PASSED", "audit_1": "PASSED", "audit_2": "Found it.\nPASSED", "report": "All is well."}


def yes(params: ElicitRequestFormParams) -> ElicitResult:
    """Reply with the first of the replies that a form shows, but do not revoke secrets."""
    return accepted("no" if "hold a password" in params.message else "yes")


@pytest.mark.share(5)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("example", "inputs", "answers", "end"),
    [
        ("code-review.runbook.md", {}, {}, "Approved"),
        ("workflows/security-audit.workflow.yaml", {}, AUDIT, ""),
        ("playbooks/change-review.playbook.md", {"change": "@/etc/passwd"}, REVIEW, ""),
    ],
)
def test_an_example_reaches_its_end(
    tmp_path: Path, mode: str, example: str, inputs: dict[str, str], answers: dict[str, str], end: str
) -> None:
    shutil.copytree((ROOT / "examples" / example).parent, tmp_path, dirs_exist_ok=True)
    (tmp_path / "rdc.toml").write_text(f'[mcp]\ndocuments = ["{Path(example).name}"]\n')
    approve(tmp_path)
    prompts: list[str] = []

    async def act(host: Host) -> Table:
        first = await host.call("start", document=Path(example).name, inputs=inputs)
        prompts.append(json.dumps(first))
        return await host.to_end(first, answers)

    last = drive(tmp_path, act, "--forms", mode=mode, form=yes)
    assert (last["state"], last.get("message")) == ("complete", end)
    if inputs:  # a value names no file
        assert "@/etc/passwd" in prompts[0]
    signed = {by for _, _, by in outcomes(tmp_path) if by}  # no one calls an optional tool
    assert signed == ({"tester (agent)"} if answers else {f"{getpass.getuser()} via tester (form)"})


def test_a_run_moves_between_an_agent_and_a_terminal(tmp_path: Path) -> None:
    """Its records are those of `rdc run`, except for times, ids and who decided."""
    serve(tmp_path, "deploy.runbook.md", MIXED)

    async def first(host: Host) -> Table:
        shown = await host.call("start", document="deploy.runbook.md")
        return await host.call("next", run=shown["run"], at=shown["at"])

    assert drive(tmp_path, first)["hint"].splitlines()[0] == "rdc run deploy.runbook.md answer 2 yes --as mcp"
    assert spawn("run", "deploy.runbook.md", "answer", "2", "yes", "--as", "mcp", cwd=tmp_path).code == 0

    async def rest(host: Host) -> Table:
        shown = await host.call("start", document="deploy.runbook.md")
        assert shown["resumed"]
        return await host.to_end(shown, {})

    assert drive(tmp_path, rest, mode=NEW)["state"] == "complete"
    (tmp_path / "tried").unlink()
    for words in (["open"], ["resume", "--logs"], ["answer", "2", "yes"], ["resume"]):
        assert spawn("run", "deploy.runbook.md", *words, "--as", "person", cwd=tmp_path).code in (0, 75)
    assert [same(one) for one in records(tmp_path)] == [same(one) for one in records(tmp_path, "person")]


OWN = {"time", "run", "by", "pid", "since", "seconds", "n", "due"}


def same(record: Table) -> Table:
    return {key: value for key, value in record.items() if key not in OWN}


CHECKED = """---
rdc:
  steps:
    "1": {by: agent}
---
# Fix
## 1. Write the file
Write `done` into the file `result`.
```bash
grep done result
```
- FAIL: RETRY 1 STOP "It is not done"
"""


def test_an_agent_does_a_step_that_a_command_checks(tmp_path: Path) -> None:
    """A failed check lets the agent try again."""
    serve(tmp_path, "fix.runbook.md", CHECKED)

    async def act(host: Host) -> Table:
        shown = await host.call("start", document="fix.runbook.md")
        for attempt in (1, 2):
            assert (shown["step"]["id"], shown["step"]["by"]) == ("1/do", "agent")
            assert "Write `done` into the file `result`." in shown["step"]["text"]
            if attempt == 2:
                (tmp_path / "result").write_text("done\n")
            shown = await host.call("report", run=shown["run"], at=shown["at"], answer="It is done.")
            assert (shown["step"]["id"], shown["step"]["by"]) == ("1", "rdc")
            shown = await host.call("next", run=shown["run"], at=shown["at"])
        return shown

    assert drive(tmp_path, act)["state"] == "complete"
    assert [outcome for _, outcome, _ in outcomes(tmp_path)] == ["pass", "fail", "pass", "pass"]
