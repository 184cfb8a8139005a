"""The records of a run and their timeline, derived only from its journal. Pure."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.engine.status import aligned
from runtime_shim.engine.texts import one_line
from runtime_shim.operator.report import in_markdown
from runtime_shim.stepspec.attempt import filled_values

RESUMED = "resumed"  # the outcome recorded when a failed run resumes
PENDING, RUNNING, BLOCKED, FAILED, COMPLETED = "pending", "running", "blocked", "failed", "completed"
ALLOWED = {
    PENDING: (RUNNING,), RUNNING: (COMPLETED, FAILED, BLOCKED), FAILED: (RUNNING,), BLOCKED: (RUNNING,), COMPLETED: (),
}  # fmt: skip
STATES = {"stop": FAILED, "complete": COMPLETED}
WHEN = {
    "tool_results": ("tool", "ended_at"),
    "artifacts": ("artifact", "recorded_at"),
    "evidence": ("evidence", "date"),
    "drrs": ("drr", "recorded_at"),
}
"""Kinds of records: the name of their entries, and the field with their time."""
DETAILS = ("reason", "approved_by", "attempt", "attempts", "error", "path", "evidence_id", "name", "status", "note")
HEADINGS = ("Time", "Event", "Step", "Details")


def timeline(run: str, now: str, events: Sequence[Table], gates: Sequence[Table], found: Table) -> Table:
    """Return the timeline of a run."""
    entries = sorted(_entries(events, gates, found), key=lambda entry: in_order(entry["timestamp"]))
    return {"run_id": run, "generated_at": now, "entries": entries}


def in_order(timestamp: str) -> str:
    """Return a time as a sortable string; some times have no fraction of a second."""
    return timestamp[:-1].ljust(20, ".").ljust(26, "0")


def _entries(events: Sequence[Table], gates: Sequence[Table], found: Table) -> Iterator[Table]:
    for event in events:
        details = {key: value for key, value in event["payload"].items() if key not in ("run_id", "timestamp")}
        yield _entry("event", event["timestamp"], event["step_id"], {"event_type": event["event_type"], **details})
    for gate in gates:
        yield _entry("gate", gate["requested_at"], gate["step_id"], gate)
    for kind, (called, when) in WHEN.items():
        yield from (_entry(called, one[when], one["step_id"], one) for one in found[kind])


def _entry(kind: str, timestamp: str, step: object, details: Table) -> Table:
    return {"kind": kind, "timestamp": timestamp, "step_id": step, "details": details}


def timeline_lines(entries: Sequence[Table], is_markdown: bool) -> list[str]:
    """Return the events and tool calls of a timeline as a table."""
    rows = [HEADINGS, *(_row(entry) for entry in entries if entry["kind"] in ("event", "tool"))]
    if is_markdown:
        rows.insert(1, ("---",) * len(HEADINGS))
        return [f"| {' | '.join(map(in_markdown, row))} |" for row in rows]
    return aligned(rows)


def _row(entry: Table) -> tuple[str, ...]:
    details = entry["details"]
    given = {key: details[key] for key in DETAILS if details.get(key) not in (None, "", [])}
    shown = (f"{key} {one_line(one if isinstance(one, str) else json.dumps(one))}" for key, one in given.items())
    when = entry["timestamp"][:19].replace("T", " ")
    return when, details.get("event_type", "Tool"), one_line(entry["step_id"] or ""), ", ".join(shown)


class IllegalTransitionError(Exception):
    """A step cannot change to a status: a bug in rdc, or a foreign journal."""


def run_step(spec: Table) -> Table:
    """Return the record of a pending step."""
    about = {"step_id": spec["id"], "name": spec.get("name", ""), "status": PENDING, "attempts": 0}
    given = {"inputs": spec.get("inputs", {}), "outputs": spec.get("outputs", [])}
    found: Table = {"tools": [], "telis_context": None, "guardrails": {"input": None, "output": None}}
    return {**about, "started_at": None, "ended_at": None, "error": None, **given, **found}


def change(step: Table, status: str, time: str) -> None:
    """Change the status of a step; raise IllegalTransitionError for a change that cannot happen."""
    if status not in ALLOWED[step["status"]]:
        raise IllegalTransitionError(f"step {step['step_id']}: {step['status']} cannot become {status}")
    step["status"], step["started_at"] = status, step["started_at"] or time
    step["ended_at"] = time if status in (COMPLETED, FAILED) else None


class RunRecords:
    """The records of a run, updated with each record of its journal."""

    def __init__(self, program: Table, begin: Record) -> None:
        stepspec = program["stepspec"]
        specs = filled_values(stepspec, list(stepspec["steps"].values()), begin["registers"])
        self._nodes, self._workflow = program["nodes"], stepspec["workflow"]
        self._now, self._run, self._registers = begin["time"], begin["run"], begin["registers"]
        self._specs = {spec["id"]: spec for spec in specs}
        stages = [(node["step"], name) for name, node in self._nodes.items() if node["task"] == "stage"]
        self._first: dict[str, str] = dict(reversed(stages))
        self._is_told = self._is_open = False  # an `open` told that it resumes; an attempt is open
        self.steps = {spec["id"]: run_step(spec) for spec in specs}
        self._gates: dict[str, Table] = {}
        self._found: dict[str, list[Table]] = {"tool_results": [], "artifacts": [], "evidence": [], "drrs": []}
        self._events: list[Table] = []
        self._approvals: list[Table] = []
        about = {"run_id": self._run, "workflow": self._workflow, "source": program["source"], "status": RUNNING}
        steps = {"step_specs": specs, "steps": list(self.steps.values()), "current_step": None}
        self._manifest: Table = {**about, **steps, "created_at": self._now}
        self._tell("WorkflowStarted", workflow=self._workflow)
        self._come(begin["node"], begin["condition"])

    def files(self) -> dict[str, Any]:
        """Return the content of each file in writing order: events first, the manifest last."""
        gates = list(self._gates.values())
        lists = {"events": self._events, "gates": gates, "approvals": self._approvals, **self._found}
        entries = timeline(self._run, self._now, self._events, gates, self._found)
        return {**lists, "timeline": entries, "manifest": {**self._manifest, "updated_at": self._now}}

    def apply(self, record: Record) -> bool:
        """Apply a record of the journal, and return whether the files may change."""
        is_done, goes_on = record["kind"] == "done", record.get("condition") == "running"
        is_taken = record["kind"] == "rest" and "resumes" in record  # by an `open`
        if not (is_done or goes_on or is_taken):
            return False
        self._now = record.get("time", self._now)
        if is_taken:  # report once that the run is resumed, unless the next attempt will
            if self._manifest["status"] == RUNNING and not self._is_told:
                self._tell("WorkflowResumed", self._step_of(self._node))
                self._is_told = True
        elif is_done:
            node = self._nodes.get(record["node"], {})
            task = "" if record["outcome"] == RESUMED else node.get("task")
            if self._is_open and "resumes" in record:  # an assumed outcome
                self._tell("WorkflowResumed", self._step_of(record["node"]))
            if task == "gate":
                self._decide(node, record)
            elif task == "stage":
                self._keep(node, record)
            self._come(record["next"], record["condition"], node.get("step"))
        else:
            self._go_on(self._node, "resumes" in record, "reruns" in record)
        return True

    def _step_of(self, name: str) -> "str | None":
        step: str | None = self._nodes.get(name, {}).get("step")
        return step if step in self.steps else None

    def _tell(self, kind: str, step: "str | None" = None, **payload: Any) -> None:  # any JSON value
        """Add an event."""
        about = {"run_id": self._run, "timestamp": self._now}
        self._events.append({"event_type": kind, "step_id": step, **about, "payload": {**about, **payload}})

    def _run_step(self, step: str) -> Table:
        if self.steps[step]["status"] != RUNNING:
            change(self.steps[step], RUNNING, self._now)
        return self.steps[step]

    def _come(self, name: str, condition: str, before: "str | None" = None) -> None:
        """Move to a node from the step `before`; leaving a step completes it."""
        self._node, step = name, self._step_of(name)
        node = self._nodes.get(name, {})
        if before is not None and step != before and condition != "stop":
            self._complete(before)
        if node.get("task") == "end" or condition in STATES:
            self._end(condition, before)
        elif step is not None and node["task"] == "gate":
            self._block(step, node)
        elif step is not None:
            self._manifest["current_step"] = step
            if condition == "running":
                self._attempt(step)

    def _go_on(self, name: str, resumes: bool, reruns: bool) -> None:
        """Continue at a step after a pause or in another call. A command that runs again counts as an attempt."""
        step = self._step_of(name)
        if step is None or self._nodes[name]["task"] != "stage":
            return
        is_due = self._is_open or (resumes and self._manifest["status"] == RUNNING)
        if is_due and not self._is_told:
            self._tell("WorkflowResumed", step)
        self._is_told = False
        is_rerun = reruns and self._is_open
        self._is_open = self._is_open and not is_rerun
        self._attempt(step, is_rerun)

    def _attempt(self, step: str, is_rerun: bool = False) -> None:
        """Start an attempt at a step, unless one is open; a rerun keeps the results of tools."""
        if self._is_open:
            return
        if self._manifest["status"] != RUNNING:
            self._tell("WorkflowResumed", step)
        self._is_open, about = True, self._run_step(step)
        self._manifest.update(status=RUNNING, current_step=step)
        about.update(attempts=about["attempts"] + 1, tools=about["tools"] if is_rerun else [])
        self._tell("WorkflowStepStarted", step, attempt=about["attempts"], **({"rerun": True} if is_rerun else {}))

    def _block(self, step: str, node: Table) -> None:
        """Wait at a gate; update the step first."""
        gate, reason = node["gate"], filled_values(node, node.get("reason", ""), self._registers)
        change(self._run_step(step), BLOCKED, self._now)
        self._manifest.update(status=BLOCKED, current_step=step)
        rejected = self._gates.get(gate)  # keep earlier decisions
        earlier = [*rejected.pop("earlier", []), rejected] if rejected else []
        origin = {"phase": self._specs[step].get("phase"), "workflow": self._workflow.get("workflow")}
        about = {"gate_id": gate, "step_id": step, **origin, "status": "pending", "reason": reason}
        self._gates[gate] = {**about, "requested_at": self._now, **({"earlier": earlier} if earlier else {})}
        self._tell("HumanGateRequired", step, gate_id=gate, reason=reason)
        self._tell("WorkflowBlocked", step, gate_id=gate)

    def _complete(self, step: str) -> None:
        self._is_open, about = False, self.steps[step]
        about["error"] = None
        change(about, COMPLETED, self._now)
        self._tell("WorkflowStepCompleted", step, attempts=about["attempts"])

    def _end(self, condition: str, step: "str | None") -> None:
        """End the run. If it failed, its step has failed, too."""
        self._manifest.update(status=STATES[condition], current_step=step if condition == "stop" else None)
        if condition == "complete":
            self._tell("WorkflowCompleted")
            return
        if step is not None:
            self._is_open, about = False, self._run_step(step)
            change(about, FAILED, self._now)
            self._tell("WorkflowStepFailed", step, error=about["error"], attempts=about["attempts"])
        self._tell("WorkflowFailed", step)

    def _decide(self, node: Table, record: Record) -> None:
        gate, step, outcome = node["gate"], node["step"], record["outcome"]
        by, note = record.get("by"), record.get("note", "")
        self._gates[gate].update({"status": outcome, f"{outcome}_by": by, f"{outcome}_at": self._now, "note": note})
        if outcome == "rejected":
            self.steps[step]["error"] = f"{gate} was rejected by {by}"
            return
        approval = {"gate_id": gate, "step_id": step, "approved_by": by, "approved_at": self._now}
        self._approvals.append({**approval, "note": note, "how": record["how"]})
        self._tell("HumanGateApproved", step, gate_id=gate, approved_by=by)

    def _keep(self, node: Table, record: Record) -> None:
        step, found, has_failed = node["step"], record.get("found", {}), record["outcome"] == "fail"
        about = self.steps[step]
        if "guardrails" in found:
            about["guardrails"][found["guardrails"]["stage"]] = found["guardrails"]
        about["telis_context"] = found.get("telis_context", about["telis_context"])
        if "tool" in found:
            about["tools"] = [*about["tools"], found["tool"]]
            self._found["tool_results"].append({**found["tool"], "step_id": step, "attempt": about["attempts"]})
        self._found["drrs"] += [{**one, "step_id": step, "recorded_at": self._now} for one in found.get("drrs", ())]
        if node["stage"] == "validation":
            what = {"checks": found.get("validation", {}).get("checks", [])}
            self._tell("ValidationFailed" if has_failed else "ValidationPassed", step, **what)
        if node["stage"] == "outputs" and not has_failed:
            self._index(step, found)
        # A failure ends its attempt, except for an optional tool's.
        following = record["next"]
        is_over = following == self._first[step] or self._nodes.get(following, {}).get("task") == "end"
        if has_failed and is_over:
            self._is_open, about["error"] = False, record["how"] or f"{node['stage']} failed"

    def _index(self, step: str, found: Table) -> None:
        artifacts = [{**one, "step_id": step, "recorded_at": self._now} for one in found.get("artifacts", ())]
        evidence = [{**one, "step_id": step} for one in found.get("evidence", ())]
        self._found["artifacts"] += artifacts
        self._found["evidence"] += evidence
        for one in artifacts:
            self._tell("ArtifactReady", step, path=one["path"], sha256=one["sha256"])
        for one in evidence:
            self._tell("EvidenceRecorded", step, evidence_id=one["id"], level=one["level"])
