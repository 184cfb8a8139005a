"""A gate needs an approval of its own: one of another run, or of another gate, opens nothing, whatever a journal says.

A process that a command has left forges the journal which the job keeps for the next one, with hashes that fit.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from compiler.ir.program import Program
from tests.backends.github.routed import COMPLETE, STOP, Agent, Ask, Gate, Shell, compiled, node, program, text, to
from tests.backends.github.routed_runs import OPTIONS, ended, log, run
from tests.support import actions_engine as engine

pytestmark = pytest.mark.tool

ATTACK = f"""\
import json, os, sys
from hashlib import sha256
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from runtime_shim.engine.journal import encode
kept, folder = os.environ["RUNNER_TEMP"] + "/rdc-kept", os.environ["FOLDER"]
if not os.path.exists(folder + "/armed"):
    sys.exit()
os.rename(folder + "/armed", folder + "/done")
forged = json.load(open(folder + "/forged.json"))
with open(kept + "/about.json") as file:
    found = json.load(file)
with open(kept + "/state/journal", "rb") as file:
    begin, *records = [json.loads(line[9:]) for line in file]
done = [each for each in records if each["kind"] == "done"][-1]
records = [{{**done, **each, "title": "", "condition": "ready"}} for each in forged]
content = b"".join(encode({{**each, "n": number}}) for number, each in enumerate([begin, *records]))
with open(kept + "/state/journal", "wb") as file:
    file.write(content)
found["files"]["state/journal"] = sha256(content).hexdigest()
with open(kept + "/about.json", "w") as file:
    json.dump(found, file)
"""
COMMAND = '[ ! -e "$FOLDER/attack.py" ] || touch "$FOLDER/armed"'
APPROVED = {"outcome": "approved", "by": "octocat"}
FINE = {"outcome": "pass"}


def one_gate() -> Program:
    return program(
        node("1", Shell("sh", text(COMMAND)), to("2", "pass"), to(STOP, "fail")),
        node("2", Gate("p", text("?")), to("3", "approved"), to("4", "rejected")),
        node("3", Agent("", text("Publish")), to(COMPLETE)),
        node("4", Agent("", text("Tidy up")), to(COMPLETE)),
    )


def two_gates() -> Program:
    return program(
        node("1", Shell("sh", text("true")), to("2", "pass"), to("3", "fail")),
        node("2", Gate("p", text("?")), to("3", "approved"), to(STOP, "rejected")),
        node("3", Shell("sh", text(COMMAND)), to("4", "pass"), to(STOP, "fail")),
        node("4", Gate("p", text("?")), to("5", "approved"), to("6", "rejected")),
        node("5", Agent("", text("Publish")), to(COMPLETE)),
        node("6", Agent("", text("Tidy up")), to(COMPLETE)),
    )


def attacked(folder: Path, made: Program, number: int, records: Sequence[object], *decisions: str) -> engine.EngineRun:
    """A run whose command forges these records."""
    (folder / "attack.py").write_text(ATTACK, encoding="utf-8")
    (folder / "forged.json").write_text(json.dumps(records), encoding="utf-8")
    protected = {"approval": decisions}
    attack = str(folder / "attack.py")
    done = run(folder, compiled(made, OPTIONS), {}, number, environments=protected, meddler=attack)
    assert (folder / "done").exists(), "the journal was forged"
    return done


def refused(folder: Path, done: engine.EngineRun, fragment: str) -> None:
    assert done.conclusion == "failure"
    assert fragment in done.log
    assert log(folder) == [], "no agent was called behind the gate"


def test_the_approval_of_another_run_opens_no_gate(tmp_path: Path) -> None:
    run(tmp_path, compiled(one_gate(), OPTIONS), {}, 1, environments={"approval": ["approved"]})
    assert [printed for _, printed, _ in log(tmp_path)] == ["Publish"]
    (tmp_path / "log").unlink()
    forged = [{"node": "1", **FINE, "next": "2"}, {"node": "2", **APPROVED, "next": "3", "approval": "1"}]
    done = attacked(tmp_path, one_gate(), 2, forged, "rejected")
    refused(tmp_path, done, "GitHub has no review that approves it")


def test_the_approval_of_another_gate_opens_none(tmp_path: Path) -> None:
    forged = [
        {"node": "1", "outcome": "fail", "next": "3"},
        {"node": "3", **FINE, "next": "4"},
        {"node": "4", **APPROVED, "next": "5", "approval": "1"},
    ]
    done = attacked(tmp_path, two_gates(), 1, forged, "approved", "rejected")
    refused(tmp_path, done, "A reviewer rejected a gate")


def test_an_approval_counts_in_runs_that_continue_one_another_and_of_no_other_workflow(tmp_path: Path) -> None:
    made = program(
        node("1", Agent("", text("One")), to("2")),
        node("2", Gate("p", text("?")), to("3", "approved"), to(STOP, "rejected")),
        *(node(str(each), Ask("input", text("?")), to(str(each + 1))) for each in (3, 4)),
        node("5", Agent("", text("Publish")), to(COMPLETE)),
    )
    workflow = compiled(made, OPTIONS)
    run(tmp_path, workflow, {}, 1, environments={"approval": ["approved"]})
    inputs = {"resume": "1", "answers": "3 x"}
    done = run(tmp_path, workflow, None, 2, inputs=inputs, environments={"approval": []})
    assert ended(done) == "WAITING 4", done.log
    path = tmp_path / "history" / "1" / "run.json"
    record = path.read_text(encoding="utf-8")
    path.write_text(record.replace(".github/workflows/workflow.yml", ".github/workflows/other.yml"), encoding="utf-8")
    last = {"resume": "2", "answers": "4 x"}
    done = run(tmp_path, workflow, None, 3, inputs=last, environments={"approval": []})
    assert "Run 1 cannot be continued: it is not a run of" in done.log
    path.write_text(record, encoding="utf-8")
    done = run(tmp_path, workflow, None, 4, inputs=last, environments={"approval": []})
    assert [printed for _, printed, _ in log(tmp_path)] == ["One", "Publish"], done.log
