"""A gate needs an approval of the run that stands before it: one that another run has had opens nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from compiler.ir.program import Program
from tests.workflows.routed import COMPLETE, STOP, Agent, Gate, Shell, compiled, node, program, text, to
from tests.workflows.routed_runs import OPTIONS, log, run

ATTACK = f"""\
import json, os, sys, time
from hashlib import sha256
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from runtime_shim.engine.journal import encode
kept = os.environ["RUNNER_TEMP"] + "/rdc-kept"
while not os.path.exists(kept + "/about.json"):
    pass
while not open(kept + "/about.json").read().endswith("}}"):
    pass
with open(kept + "/state/journal", "rb") as file:
    records = [json.loads(line[9:]) for line in file]
if records[-1]["kind"] == "wait":
    del records[-1]
last = [each for each in records if each["kind"] == "done"][-1]
records.append({{**last, "node": "2", "title": "Step 2", "outcome": "approved", "next": "3", "condition": "ready",
                "by": "octocat", "approval": "1"}})
records = [{{**each, "n": number}} for number, each in enumerate(records)]
records[-2]["condition"] = "ready" if records[-2]["kind"] == "done" else records[-2].get("condition")
with open(kept + "/state/journal", "wb") as file:
    file.write(b"".join(map(encode, records)))
about = json.load(open(kept + "/about.json"))
about["files"]["state/journal"] = sha256(open(kept + "/state/journal", "rb").read()).hexdigest()
with open(kept + "/about.json", "w") as file:
    json.dump(about, file)
open(os.environ["FOLDER"] + "/forged", "w").close()
"""


def made(command: str) -> Program:
    return program(
        node("1", Shell("sh", text(command)), to("2", "pass"), to(STOP, "fail")),
        node("2", Gate("p", text("?")), to("3", "approved"), to("4", "rejected")),
        node("3", Agent("", text("Publish")), to(COMPLETE)),
        node("4", Agent("", text("Tidy up")), to(COMPLETE)),
    )


COMMAND = 'if [ -e "$FOLDER/attack.py" ]; then %s -I "$FOLDER/attack.py" > "$FOLDER/said" 2>&1 & fi' % sys.executable


def test_the_approval_of_another_run_opens_no_gate(tmp_path: Path) -> None:
    workflow = compiled(made(COMMAND), OPTIONS)
    done = run(tmp_path, workflow, {}, 1, environments={"approval": ["approved"]})
    assert [said for _, said, _ in log(tmp_path)] == ["Publish"], done.log
    (tmp_path / "attack.py").write_text(ATTACK)
    (tmp_path / "log").unlink()
    done = run(tmp_path, workflow, {}, 2, environments={"approval": ["rejected"]})
    assert (tmp_path / "forged").exists(), (tmp_path / "said").read_text()
    assert "Publish" not in [said for _, said, _ in log(tmp_path)]
    assert done.conclusion == "failure"
    assert "GitHub reports no review that let it through" in done.log
