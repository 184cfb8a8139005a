"""Random runs, killed at any instant and resumed: what must hold of every one (B5 to B18)."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime_shim.contract import Found
from runtime_shim.journal import read_journal
from runtime_shim.run_records import RunRecords
from tests.stepspecs.instants import call, deciding
from tests.stepspecs.invariants import check_records, read_records
from tests.stepspecs.specifications import table_of

MOST_CALLS = 60
WAITING, FAILED, REFUSED = 75, 1, 2
Document = dict[str, Any]

tools = st.builds(
    lambda is_required, risk: {"name": "getCurrentTime", "args": {}, "required": is_required, "risk": risk},
    st.booleans(),
    st.sampled_from(["low", "low", "high"]),
)
specs = st.builds(
    lambda gate, output, called, retries, evidence: {
        "human_gate": gate,
        "outputs": ["{output_folder}/out.md"] if output else [],
        "tools": called,
        "retries": {"max": retries, "backoff_seconds": 0},
        "evidence": evidence,
    },
    st.sampled_from(["required", "optional"]),
    st.booleans(),
    st.lists(tools, max_size=2),
    st.integers(0, 2),
    st.sampled_from(["none", "L1"]),
)


@st.composite
def documents(draw: Callable[[Any], Any]) -> Document:
    """Documents of a few steps, some with guardrails."""
    steps = [{"id": f"s{number}", **spec} for number, spec in enumerate(draw(st.lists(specs, min_size=1, max_size=4)))]
    guardrails = {"input": {"blocklist": ["no"]}, "output": {"blocklist": ["no"]}}
    config: Document = {"variables": {"output_folder": "out"}}
    if draw(st.booleans()):
        config["guardrails"] = guardrails
    return {"workflow": {"module": "m", "workflow": "w"}, "step_specs": steps, "config": config}


class Run:
    """A run of a document that somebody drives to its end, through failures, gates and kills."""

    def __init__(self, document: Document, folder: Path, draw: Callable[[Any], Any]) -> None:
        self.program, self.folder, self._draw = table_of(document, folder), folder, draw
        units = self.program["units"].items()
        steps = [step["id"] for step in document["step_specs"]]
        self.most = {step["id"]: step["retries"]["max"] + 1 for step in document["step_specs"]}
        self.gated = {step: [name for name, unit in units if self._is_gate(unit, step)] for step in steps}

    @staticmethod
    def _is_gate(unit: Document, step: str) -> bool:
        return unit["task"] == "gate" and unit["step"] == step

    @property
    def records(self) -> Path | None:
        return next(self.folder.glob(".rdc/*/run-*"), None)

    def stage(self, name: str, unit: Document) -> Found:
        """What comes of a stage: nothing is ever done for a step that is completed."""
        assert self.records is not None
        events = json.loads((self.records / "events.json").read_text())
        done = [event["step_id"] for event in events if event["event_type"] == "WorkflowStepCompleted"]
        assert unit["step"] not in done
        begun = [event["step_id"] for event in events if event["event_type"] == "WorkflowStepStarted"]
        assert unit["step"] in begun, "an attempt is told before it does anything"
        if self._draw(st.integers(0, 6)) == 0:
            return Found(f"{name} failed", {})
        return Found("", kept_of(name, unit))

    def call(self, *words: str) -> int | None:
        """Make a call, maybe kill it, and check what is on disk."""
        kill_at = self._draw(st.one_of(st.none(), st.integers(0, 120)))
        code = call(self.program, self.folder, list(words), self.stage, kill_at)
        if self.records is not None:
            found = read_records(self.records)
            check_records(found, self.gated, self.most)
            if code is not None and code != REFUSED:
                self.check_projection(found)
        return code

    def check_projection(self, found: dict[str, Any]) -> None:
        """The files say what the journal says, no more and no less (B18)."""
        begin, *others = read_journal(next(self.folder.glob(".rdc/*/journal")))[0]
        records = RunRecords(self.program, begin)
        for record in others:
            records.apply(record)
        assert found == json.loads(json.dumps(records.files()))

    def drive(self) -> str:
        """Drive the run to its end."""
        code = self.call("run")
        for _ in range(MOST_CALLS):
            if not list(self.folder.glob(".rdc/*/journal")):
                code = self.call("run")
            elif code == WAITING and self._draw(st.integers(0, 3)):
                gate = json.loads((self._records() / "manifest.json").read_text())["current_step"]
                pending = [one["gate_id"] for one in self._gates() if one["status"] == "pending"]
                assert gate
                code = self.call("approve", "--gate", pending[0], "--by", "alice")
                code = self.call("resume", "--rerun-interrupted")
            else:
                code = self.call("resume", "--rerun-interrupted")
            if code == 0:
                return "completed"
        return "given up"

    def _records(self) -> Path:
        assert self.records is not None
        return self.records

    def _gates(self) -> list[Document]:
        found: list[Document] = json.loads((self._records() / "gates.json").read_text())
        return found


def kept_of(name: str, unit: Document) -> Document:
    """What a stage that passes leaves."""
    now = "2026-01-01T00:00:00Z"
    if unit["stage"] == "tool":
        called = {"name": unit["subject"], "args": {}, "status": "completed", "required": False, "risk": "low"}
        return {"tool": {**called, "started_at": now, "ended_at": now}}
    if unit["stage"] != "outputs":
        return {}
    artifacts = [{"path": path, "sha256": "0" * 64, "evidence_ids": []} for path in unit.get("paths", ())]
    return {"artifacts": artifacts, "evidence": []}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(documents(), st.data())
def test_every_run_keeps_to_the_contract(document: Document, data: st.DataObject) -> None:
    """Whatever fails, and wherever it is killed."""
    with tempfile.TemporaryDirectory() as folder, deciding({"execute": True}):
        run = Run(document, Path(folder), data.draw)
        if run.drive() == "completed":
            manifest = json.loads((run._records() / "manifest.json").read_text())
            assert manifest["status"] == "completed"
