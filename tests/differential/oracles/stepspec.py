"""What must hold of the records of a run at any time (B6, B8, B14 to B16)."""

from __future__ import annotations

import json
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from compiler.frontends.stepspec.records import RECORDS

Record = dict[str, Any]
ENDINGS = ("WorkflowStepCompleted", "WorkflowStepFailed")


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(RECORDS[name])


def read_records(folder: Path) -> dict[str, Any]:
    """The files of a run that are there, each of them valid."""
    found = {}
    for name in RECORDS:
        path = folder / f"{name}.json"
        if path.exists():
            text = path.read_text(encoding="utf-8")
            _adapter(name).validate_json(text)
            found[name] = json.loads(text)
            assert text == json.dumps(found[name], indent=2, sort_keys=True) + "\n"
    return found


def check_records(found: dict[str, Any], gated: dict[str, list[str]], most: dict[str, int]) -> None:
    """Check the records of a run; `gated` has the gates of steps, `most` how many attempts a budget has."""
    events: list[Record] = found.get("events", [])
    check_envelopes(events)
    check_order(events, gated, most)
    entries = found.get("timeline", {}).get("entries", [])
    times = [entry["timestamp"] for entry in entries]
    assert times == sorted(times, key=datetime.fromisoformat)
    if "manifest" in found:
        check_manifest(found["manifest"], events)


def check_envelopes(events: list[Record]) -> None:
    """Run and time stand in the envelope and in the payload (B15)."""
    assert [event["timestamp"] for event in events] == sorted(event["timestamp"] for event in events)
    for event in events:
        assert event["payload"]["run_id"] == event["run_id"]
        assert event["payload"]["timestamp"] == event["timestamp"]


def check_order(events: list[Record], gated: dict[str, list[str]], most: dict[str, int]) -> None:
    """No step begins without its approvals, before an earlier one is completed, or again once it is (B8, B16)."""
    approved: set[str] = set()
    completed: list[str] = []
    steps, budget, has_failed = list(most), 0, False
    for event in events:
        kind, step = event["event_type"], event["step_id"]
        if kind == "HumanGateApproved":
            approved.add(event["payload"]["gate_id"])
        has_failed = has_failed or kind == "WorkflowStepFailed"
        if kind == "WorkflowStepCompleted" or (kind == "WorkflowResumed" and has_failed):  # else the rest is left (B12)
            budget, has_failed = 0, False
        if kind == "WorkflowStepStarted":
            budget += not event["payload"].get("rerun")  # a command that was interrupted is not a failure (B12, B16)
            assert budget <= most[step], f"{step}: more attempts than its retries allow"
            assert set(gated[step]) <= approved, f"{step} began without an approval"
            assert step == steps[len(completed)], f"{step} began out of order"
        if kind == "WorkflowStepCompleted":
            completed.append(step)
    assert completed == steps[: len(completed)]


def check_manifest(manifest: Record, events: list[Record]) -> None:
    """The manifest, written last, says no more than the events do (B14)."""
    for step in manifest["steps"]:
        own = [event["event_type"] for event in events if event["step_id"] == step["step_id"]]
        assert step["attempts"] <= own.count("WorkflowStepStarted")
        if step["status"] == "completed":
            assert own.count("WorkflowStepCompleted") == 1
            assert step["ended_at"] >= step["started_at"]
        if step["status"] == "failed":
            assert "WorkflowStepFailed" in own
    if manifest["status"] == "completed":
        assert events[-1]["event_type"] == "WorkflowCompleted"
        assert all(step["status"] == "completed" for step in manifest["steps"])
