"""The records of a run, put together from those of its journal, which alone is the truth (B14, B15, B18)."""

from typing import Any, Optional

from runtime_shim.contract.contract import filled_values
from runtime_shim.contract.timeline import BLOCKED, COMPLETED, FAILED, RUNNING, change, end, run_step, start, timeline
from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table

RESUMED = "resumed"  # the outcome of an end that a resume takes a failed run away from
STATES = {"stop": FAILED, "complete": COMPLETED}


class RunRecords:
    """What the records of a run say after each record of its journal."""

    def __init__(self, program: Table, begin: Record) -> None:
        contract = program["contract"]
        specs = filled_values(contract, list(contract["steps"].values()), begin["registers"])
        self._nodes, self._workflow = program["nodes"], contract["workflow"]
        self._now, self._run, self._registers = begin["time"], begin["run"], begin["registers"]
        self._phases = {spec["id"]: spec.get("phase") for spec in specs}
        self._first: dict[str, str] = {}
        for name, node in self._nodes.items():
            if node["task"] == "stage":
                self._first.setdefault(node["step"], name)
        self._is_open = False  # whether an attempt has begun and not ended
        self.steps = {spec["id"]: run_step(spec) for spec in specs}
        self.events: list[Table] = []
        self.gates: dict[str, Table] = {}
        self.found: dict[str, list[Table]] = {"tool_results": [], "artifacts": [], "evidence": [], "drrs": []}
        self.approvals: list[Table] = []
        self.manifest = {
            "run_id": self._run,
            "workflow": self._workflow,
            "source": program["source"],
            "status": RUNNING,
            "step_specs": specs,
            "steps": list(self.steps.values()),
            "current_step": None,
            "created_at": self._now,
        }
        self._tell("WorkflowStarted", workflow=self._workflow)
        self._come(begin["node"], begin["condition"])

    def files(self) -> dict[str, Any]:
        """Return what stands in each file, in the order in which they are written: events first, the manifest last."""
        gates = list(self.gates.values())
        return {
            "events": self.events,
            "gates": gates,
            "approvals": self.approvals,
            **self.found,
            "timeline": timeline(self._run, self._now, self.events, gates, self.found),
            "manifest": {**self.manifest, "updated_at": self._now},
        }

    def apply(self, record: Record) -> bool:
        """Go on by one record of the journal; tells whether that says anything of the run as others see it."""
        is_done, goes_on = record["kind"] == "done", record.get("condition") == "running"
        if not (is_done or goes_on):
            return False
        self._now = record.get("time", self._now)
        if is_done:
            if self._is_open and "resumes" in record:  # the outcome of an interrupted stage was assumed
                self._tell("WorkflowResumed", self._step_of(record["node"]))
            self._leave(record)
            self._come(record["next"], record["condition"], self._nodes.get(record["node"], {}).get("step"))
        else:
            self._go_on(self._node, "resumes" in record)
        return True

    def _step_of(self, name: str) -> Optional[str]:
        step: Optional[str] = self._nodes.get(name, {}).get("step")
        return step if step in self.steps else None

    def _tell(self, kind: str, step: Optional[str] = None, **payload: Any) -> None:  # noqa: ANN401 (any JSON value)
        """Add an event."""
        about = {"run_id": self._run, "timestamp": self._now, **payload}
        event = {"event_type": kind, "run_id": self._run, "step_id": step, "timestamp": self._now, "payload": about}
        self.events.append(event)

    # --- Where the run comes to ------------------------------------------------------------------------------------

    def _come(self, name: str, condition: str, before: Optional[str] = None) -> None:
        """Come to a node from one of the step `before`; a step that is left for another one is completed (I32)."""
        self._node, step = name, self._step_of(name)
        node = self._nodes.get(name, {})
        if before is not None and step != before and condition != "stop":
            self._complete(before)
        if node.get("task") == "end" or condition in STATES:
            self._end(condition, before)
        elif step is not None and node["task"] == "gate":
            self._block(step, name)
        elif step is not None:
            self.manifest["current_step"] = step
            if condition == "running":
                self._attempt(step)

    def _go_on(self, name: str, resumes: bool) -> None:
        """Go on at a step: after a pause, or in another call of the program."""
        step = self._step_of(name)
        if step is None or self._nodes[name]["task"] != "stage":
            return
        if self._is_open or (resumes and self.manifest["status"] == RUNNING):
            self._tell("WorkflowResumed", step)
        self._attempt(step)

    def _attempt(self, step: str) -> None:
        """Begin an attempt at a step, unless one is under way (B15: told once)."""
        if self._is_open:
            return
        self._is_open, about = True, self.steps[step]
        if self.manifest["status"] != RUNNING:
            self._tell("WorkflowResumed", step)
        self.manifest.update(status=RUNNING, current_step=step)
        start(about, self._now)
        about.update(attempts=about["attempts"] + 1, tools=[])
        self._tell("WorkflowStepStarted", step, attempt=about["attempts"])

    def _block(self, step: str, name: str) -> None:
        """Wait at a gate: the step is created or updated first (B5)."""
        gate, about = self._nodes[name]["gate"], self.steps[step]
        start(about, self._now)
        change(about, BLOCKED)
        self.manifest.update(status=BLOCKED, current_step=step)
        reason = filled_values(self._nodes[name], self._nodes[name].get("reason", ""), self._registers)
        rejected = self.gates.get(gate)  # what was decided before stays on record
        earlier = [*rejected.pop("earlier", []), rejected] if rejected else []
        self.gates[gate] = {
            "gate_id": gate,
            "step_id": step,
            "phase": self._phases[step],
            "workflow": self._workflow.get("workflow"),
            "status": "pending",
            "reason": reason,
            "requested_at": self._now,
            **({"earlier": earlier} if earlier else {}),
        }
        self._tell("HumanGateRequired", step, gate_id=gate, reason=reason)
        self._tell("WorkflowBlocked", step, gate_id=gate)

    def _complete(self, step: str) -> None:
        self._is_open, about = False, self.steps[step]
        about["error"] = None
        end(about, COMPLETED, self._now)
        self._tell("WorkflowStepCompleted", step, attempts=about["attempts"])

    def _end(self, condition: str, step: Optional[str]) -> None:
        self.manifest.update(status=STATES[condition], current_step=step if condition == "stop" else None)
        if condition == "stop" and step is not None:
            self._is_open, about = False, self.steps[step]
            start(about, self._now)
            end(about, FAILED, self._now)
            self._tell("WorkflowStepFailed", step, error=about["error"], attempts=about["attempts"])
            self._tell("WorkflowFailed", step)
        elif condition == "stop":
            self._tell("WorkflowFailed")
        else:
            self._tell("WorkflowCompleted")

    # --- What a step leaves ----------------------------------------------------------------------------------------

    def _leave(self, record: Record) -> None:
        node = self._nodes.get(record["node"], {"task": ""})
        if record["outcome"] == RESUMED:
            return
        if node["task"] == "gate":
            self._decide(node, record)
        elif node["task"] == "stage":
            self._keep(node, record)

    def _decide(self, node: Table, record: Record) -> None:
        """Record who let the run through a gate, or did not."""
        gate, step, is_approved = node["gate"], node["step"], record["outcome"] == "approved"
        decided = {"by": record.get("by"), "at": self._now, "note": record.get("note", "")}
        self.gates[gate]["status"] = record["outcome"]
        if not is_approved:
            self.gates[gate].update(rejected_by=decided["by"], rejected_at=self._now, note=decided["note"])
            self.steps[step]["error"] = f"{gate} was rejected by {decided['by']}"
            return
        self.gates[gate].update(approved_by=decided["by"], approved_at=self._now, note=decided["note"])
        approval = {"gate_id": gate, "step_id": step, "approved_by": decided["by"], "approved_at": self._now}
        self.approvals.append({**approval, "note": decided["note"], "how": record["how"]})
        self._tell("HumanGateApproved", step, gate_id=gate, approved_by=decided["by"])

    def _keep(self, node: Table, record: Record) -> None:
        """Take over what came of a stage."""
        step, found, has_failed = node["step"], record.get("found", {}), record["outcome"] == "fail"
        about = self.steps[step]
        if "guardrails" in found:
            about["guardrails"][found["guardrails"]["stage"]] = found["guardrails"]
        if "telis_context" in found:
            about["telis_context"] = found["telis_context"]
        if "tool" in found:
            about["tools"] = [*about["tools"], found["tool"]]
            self.found["tool_results"].append({**found["tool"], "step_id": step, "attempt": about["attempts"]})
        self.found["drrs"] += [{**one, "step_id": step, "recorded_at": self._now} for one in found.get("drrs", ())]
        if node["stage"] == "validation":
            what = {"checks": found.get("validation", {}).get("checks", [])}
            self._tell("ValidationFailed" if has_failed else "ValidationPassed", step, **what)
        if node["stage"] == "outputs" and not has_failed:
            self._index(step, found)
        if has_failed and self._is_over(node, record["next"]):
            self._is_open, about["error"] = False, record["how"] or f"{node['stage']} failed"

    def _is_over(self, node: Table, following: str) -> bool:
        """Tell whether a failure ends its attempt: that of an optional tool does not."""
        return following == self._first[node["step"]] or self._nodes.get(following, {}).get("task") == "end"

    def _index(self, step: str, found: Table) -> None:
        """Index the outputs and the evidence of a step (B13)."""
        artifacts = [{**one, "step_id": step, "recorded_at": self._now} for one in found.get("artifacts", ())]
        evidence = [{**one, "step_id": step} for one in found.get("evidence", ())]
        self.found["artifacts"] += artifacts
        self.found["evidence"] += evidence
        for one in artifacts:
            self._tell("ArtifactReady", step, path=one["path"], sha256=one["sha256"])
        for one in evidence:
            self._tell("EvidenceRecorded", step, evidence_id=one["id"], level=one["level"])
