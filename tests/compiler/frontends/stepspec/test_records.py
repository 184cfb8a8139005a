"""The records of a run: states of steps, order of events, fields of each record, the timeline (B5, B6, B14, B15)."""

import itertools
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from compiler.reading.yaml import load_value
from runtime_shim.engine.display import Display
from runtime_shim.engine.session import Session
from runtime_shim.stepspec.records import ALLOWED, IllegalTransitionError, change, run_step, timeline_lines
from runtime_shim.stepspec.specification import Specification
from tests.differential.stepspec import read_records
from tests.support.specifications import Place, compiled_to, table_of

pytestmark = pytest.mark.process

STATUSES = ("pending", "running", "blocked", "failed", "completed")
LEGAL = {
    *(("pending", "running"), ("failed", "running"), ("blocked", "running")),
    *(("running", after) for after in ("completed", "failed", "blocked")),
}


EXECUTOR = """
[ "$RDC_ATTEMPT" = 2 ] && echo '{"answer": 1}' > out/a.json
echo '{"claim": "it answers", "level": "L2", "congruence": "CL3", "reliability": 0.5}' > "$RDC_EVIDENCE_FILE"
echo '{"decision": "JSON", "why": "it is read"}' > "$RDC_DRR_FILE"
"""
DOCUMENT = load_value(f"""
workflow: {{module: m, workflow: w, phase: Plan}}
config:
  variables: {{output_folder: out}}
  executor: {json.dumps(EXECUTOR)}
  context: |-
    cat > /dev/null; echo '{{"shards": [1]}}'
  guardrails: {{input: {{blocklist: [secret]}}, output: {{patterns: [TODO]}}}}
step_specs:
  - id: a
    name: answer
    description: Write the answer
    inputs: {{telis_query: what}}
    outputs: ["{{output_folder}}/a.json"]
    tools:
      - {{name: getCurrentTime, args: {{timezone: UTC}}, required: true, risk: high}}
      - {{name: nothing, required: false}}
    validation: Format validation
    evidence: L1
    human_gate: required
    retries: {{max: 1, backoff_seconds: 0}}
""")


GATES = ("m:w:a:hitl", "tool:getCurrentTime:a")
NOW = "2026-01-31T12:00:00.000000Z"
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def test_only_legal_changes_of_a_status_are_made() -> None:
    assert set(ALLOWED) == set(STATUSES)
    for before, after in itertools.product(STATUSES, STATUSES):
        step = {**run_step({"id": "a"}), "status": before}
        if (before, after) in LEGAL:
            change(step, after, NOW)
        else:
            with pytest.raises(IllegalTransitionError, match=f"a: {before} cannot become {after}"):
                change(step, after, NOW)
        assert step["status"] == (after if (before, after) in LEGAL else before)


def test_a_run_leaves_its_records(tmp_path: Path) -> None:
    """A run with all kinds of stages: two gates, then one attempt that fails and one that does not."""
    (tmp_path / "out").mkdir()
    place = Place(tmp_path, compiled_to(tmp_path, DOCUMENT))
    assert place("run").code == 75
    for gate in GATES:
        assert place("approve", "--gate", gate, "--by", "alice", "--note", "seen").code == 0
    assert place("resume").code == 0
    (run,) = tmp_path.glob(".rdc/*/run-*")
    records = read_records(run)
    assert [event["event_type"] for event in records["events"]] == [
        "WorkflowStarted",
        *("HumanGateRequired", "WorkflowBlocked", "HumanGateApproved") * 2,
        "WorkflowResumed",
        *("WorkflowStepStarted", "ValidationFailed"),
        *("WorkflowStepStarted", "ValidationPassed", "ArtifactReady", "EvidenceRecorded", "WorkflowStepCompleted"),
        "WorkflowCompleted",
    ]
    assert {event["run_id"] for event in records["events"]} == {records["manifest"]["run_id"]}
    assert all(MOMENT.fullmatch(event["timestamp"]) for event in records["events"])
    (step,) = records["manifest"]["steps"]
    assert set(step) == {
        *("step_id", "name", "status", "attempts", "started_at", "ended_at", "error", "inputs", "outputs", "tools"),
        *("telis_context", "guardrails"),
    }
    assert (step["attempts"], step["error"], step["outputs"]) == (2, None, ["out/a.json"])
    assert [tool["status"] for tool in step["tools"]] == ["completed", "skipped"]
    assert step["telis_context"] == {"shards": [1]}
    reports = {stage: report["status"] for stage, report in step["guardrails"].items()}
    assert reports == {"input": "passed", "output": "passed"}
    gates = [(gate["gate_id"], gate["status"], gate["approved_by"], gate["note"]) for gate in records["gates"]]
    assert gates == [(gate, "approved", "alice", "seen") for gate in GATES]
    first = records["gates"][0]
    assert (first["step_id"], first["phase"], first["workflow"]) == ("a", "Plan", "w")
    assert [approval["gate_id"] for approval in records["approvals"]] == list(GATES)
    (evidence,) = records["evidence"]
    assert (evidence["level"], evidence["wlnk"], evidence["carrier_ref"]) == ("L2", 0.5, "out/a.json")
    (artifact,) = records["artifacts"]
    assert (artifact["path"], artifact["step_id"], artifact["evidence_ids"]) == ("out/a.json", "a", [evidence["id"]])
    assert [one["decision"] for one in records["drrs"]] == ["JSON", "JSON"], "of both attempts"
    assert [one["attempt"] for one in records["tool_results"]] == [1, 1, 2, 2]
    entries = records["timeline"]["entries"]
    assert [entry["timestamp"] for entry in entries] == sorted(entry["timestamp"] for entry in entries)
    assert {entry["kind"] for entry in entries} == {"event", "gate", "tool", "artifact", "evidence", "drr"}


def test_what_a_timeline_tells_is_no_markup() -> None:
    details = {"event_type": "HumanGateApproved", "approved_by": "<b>@all|`x`", "note": "![x](http://a.example)"}
    entry = {"kind": "event", "timestamp": "2026-01-31T12:00:00Z", "step_id": "a|b", "details": details}
    row = timeline_lines([entry], is_markdown=True)[-1]
    assert len(row.split("|")) == len(["", " a ", " b ", " c ", " d ", ""])
    assert not set("<`[!@") & set(row.replace("HumanGateApproved", ""))


def test_what_identifies_a_program_has_its_contract(tmp_path: Path) -> None:
    changed = json.loads(json.dumps(DOCUMENT))
    changed["step_specs"][0]["tools"][0]["args"] = {"timezone": "Europe/Berlin"}
    options = SimpleNamespace(state_dir=None, tool=[])
    tables = (table_of(document, tmp_path) for document in (DOCUMENT, changed))
    first, second = (Session(made, options, Display(sys.stderr), [Specification]) for made in tables)
    assert first.identity()["program"] != second.identity()["program"]
