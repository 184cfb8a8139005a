"""Random runs of random specifications, killed at any instant and resumed, and what must hold of the records of each.

`python -m tests.differential.stepspec SEED...` drives the runs of these seeds, in a process that runs nothing
else; with `-` it drives the run of the case on standard input.
"""

import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from pydantic import TypeAdapter

from compiler.frontends.stepspec.records import RECORDS
from runtime_shim.editions import main as run_program
from runtime_shim.engine.journal import read_journal
from runtime_shim.engine.outcomes import Host
from runtime_shim.stepspec.attempt import Found, Stages
from runtime_shim.stepspec.records import RunRecords
from runtime_shim.stepspec.stages import StepStages
from tests.support.specifications import table_of

Document = dict[str, Any]
Script = Callable[[str, Document], Found]
TOUCHES = ("write", "fsync", "fdatasync", "replace", "rename", "unlink", "makedirs", "mkdir")
KILLED, BROKEN = 137, 99  # exit codes: of a call that was killed, and of one that raised


class Disk:
    """The calls that touch the disk, counted; at the one with the number `kill_at` the process ends, as by SIGKILL."""

    def __init__(self, kill_at: int | None) -> None:
        self._count, self._kill_at = 0, kill_at

    def touching(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """A call that may be the last one; of a text that is written then, half may be on disk."""

        def touch(*args: Any, **more: Any) -> Any:
            if real.__name__ == "write" and args[0] <= 2:
                return real(*args, **more)
            if self._count == self._kill_at:
                if real.__name__ == "write":
                    real(args[0], args[1][: len(args[1]) // 2])
                os._exit(KILLED)
            self._count += 1
            return None if "sync" in real.__name__ else real(*args, **more)  # a kill is no loss of power

        return touch


def call(program: Document, folder: Path, words: list[str], script: Script, kill_at: int | None = None) -> int:
    """Call a program, in a process of its own, with stages that a script does; returns the exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        os._exit(_called(program, folder, words, script, kill_at))
    except BaseException:  # noqa: BLE001 (nothing of this process may go on in the tests)
        with (folder / "log").open("a", encoding="utf-8") as log:
            log.write(traceback.format_exc())
    os._exit(BROKEN)


def _called(program: Document, folder: Path, words: list[str], script: Script, kill_at: int | None) -> int:
    def scripted(_stages: Stages, name: str, step: Document) -> Found:
        return script(name, step)

    log = os.open(folder / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for number in (1, 2):
        os.dup2(log, number)
    os.chdir(folder)
    disk = Disk(kill_at)
    touched: Document = {name: disk.touching(getattr(os, name)) for name in TOUCHES}
    kinds = dict.fromkeys(StepStages.kinds, scripted)
    with patch.object(StepStages, "kinds", kinds), patch.multiple(os, **touched):
        return run_program(program, words, Host("program"))


MOST_CALLS = 80
WAITING, REFUSED = 75, 2
NOW = "2026-01-01T00:00:00Z"


def document(chance: Random) -> Document:
    """A document of a few steps, some with gates, tools, guardrails, retries and evidence."""
    steps = [_step(chance, f"s{number}") for number in range(chance.randint(1, 4))]
    steps[0]["outputs"] = ["{output_folder}/first.md"]
    config: Document = {"variables": {"output_folder": "out"}}
    if chance.random() < 0.5:
        config["guardrails"] = {"input": {"blocklist": ["no"]}, "output": {"blocklist": ["no"]}}
    return {"workflow": {"module": "m", "workflow": "w"}, "step_specs": steps, "config": config}


def _step(chance: Random, name: str) -> Document:
    called: list[Document] = [
        {"name": "getCurrentTime", "args": {}, "required": chance.random() < 0.5, "risk": risk}
        for risk in chance.choices(("low", "high"), (3, 1), k=chance.randint(0, 2))
    ]
    return {
        "id": name,
        "human_gate": chance.choice(("required", "optional")),
        "outputs": [f"{{output_folder}}/{name}.md"] if chance.random() < 0.5 else [],
        "tools": called,
        "retries": {"max": chance.randint(0, 2), "backoff_seconds": 0},
        "evidence": chance.choice(("none", "L1")),
    }


@dataclass(frozen=True)
class Drawn:
    """A document, and the seed for what comes of its run."""

    document: Document
    seed: int


def random_specification(seed: int) -> Drawn:
    return Drawn(document(Random(seed)), seed)


class Run:
    """A run of a document that somebody drives to its end, through failures, gates and kills."""

    def __init__(self, specification: Document, folder: Path, chance: Random) -> None:
        self.program, self.folder, self.chance = table_of(specification, folder), folder, chance
        gates = [(node["step"], name) for name, node in self.program["nodes"].items() if node["task"] == "gate"]
        self.most = {step["id"]: step["retries"]["max"] + 1 for step in specification["step_specs"]}
        self.gated = {step: [gate for owner, gate in gates if owner == step] for step in self.most}

    @property
    def records(self) -> Path | None:
        return next(self.folder.glob(".rdc/*/run-*"), None)

    def record(self, name: str) -> Any:
        assert self.records is not None
        return json.loads((self.records / f"{name}.json").read_text(encoding="utf-8"))

    def stage(self, name: str, step: Document) -> Found:
        """What comes of a stage. Nothing is done before its attempt is recorded, nor for a step that is completed."""
        events = self.record("events")
        steps = {
            kind: {event["step_id"] for event in events if event["event_type"] == f"WorkflowStep{kind}"}
            for kind in ("Started", "Completed")
        }
        assert step["step"] in steps["Started"] - steps["Completed"], f"{name} is done out of turn"
        approved = {approval["gate_id"] for approval in self.record("approvals")}
        assert approved.issuperset(self.gated[step["step"]]), f"{name} is done without an approval"
        if self.chance.random() < 0.15:
            return Found(f"{name} failed", {})
        return Found("", records_of(step))

    def call(self, *words: str) -> int:
        """Make a call, maybe kill it, and check what is on disk then."""
        self.chance.seed(self.chance.random())  # the call draws in a process of its own
        kill_at = self.chance.randint(0, 150) if self.chance.random() < 0.6 else None
        code = call(self.program, self.folder, list(words), self.stage, kill_at)
        log = self.folder / "log"
        assert code != BROKEN, log.read_text(encoding="utf-8")
        assert "Traceback" not in log.read_text(encoding="utf-8"), log.read_text(encoding="utf-8")
        if self.records is not None:
            found = read_records(self.records)
            check_records(found, self.gated, self.most)
            if code not in (KILLED, REFUSED):
                self._check_projection(found)
        return code

    def _check_projection(self, found: Document) -> None:
        """The files say what the journal says, no more and no less (B18)."""
        begin, *others = read_journal(next(self.folder.glob(".rdc/*/journal")))[0]
        records = RunRecords(self.program, begin)
        for record in others:
            records.apply(record)
        assert found == json.loads(json.dumps(records.files()))

    def drive(self) -> bool:
        """Drive the run to its end; returns whether it came there."""
        code = self.call("run")
        for _ in range(MOST_CALLS):
            if code == 0:
                return bool(self.record("manifest")["status"] == "completed")
            if not list(self.folder.glob(".rdc/*/journal")):
                code = self.call("run")
                continue
            if code == WAITING and self.chance.random() < 0.8:
                self._decide()
            code = self.call("resume", "--rerun-interrupted")
        return False

    def _decide(self) -> None:
        pending = [gate["gate_id"] for gate in self.record("gates") if gate["status"] == "pending"]
        if pending and self.chance.random() < 0.9:
            self.call("approve", "--gate", pending[0], "--by", "alice")
        elif pending:
            self.call("answer", pending[0], "rejected")


def records_of(step: Document) -> Document:
    """What a stage that passes leaves."""
    if step["stage"] == "tool":
        called = {"name": step["subject"], "args": {}, "status": "completed", "required": False, "risk": "low"}
        return {"tool": {**called, "started_at": NOW, "ended_at": NOW}}
    if step["stage"] != "outputs":
        return {}
    return {"artifacts": [{"path": path, "sha256": "0" * 64, "evidence_ids": []} for path in step.get("paths", ())]}


def drive(case: Drawn) -> bool:
    """Drive the run of a case; returns whether it came to its end. Raises where it breaks a rule."""
    with tempfile.TemporaryDirectory() as folder:
        return Run(case.document, Path(folder), Random(case.seed)).drive()


# --- Records of a run (B6, B8, B14 to B16) ----------------------------------------------------------------------------


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
    events: list[Document] = found.get("events", [])
    check_envelopes(events)
    check_order(events, gated, most)
    entries = found.get("timeline", {}).get("entries", [])
    times = [entry["timestamp"] for entry in entries]
    assert times == sorted(times, key=datetime.fromisoformat)
    if "manifest" in found:
        check_manifest(found["manifest"], events)


def check_envelopes(events: list[Document]) -> None:
    """Run and time stand in the envelope and in the payload (B15)."""
    assert [event["timestamp"] for event in events] == sorted(event["timestamp"] for event in events)
    for event in events:
        assert event["payload"]["run_id"] == event["run_id"]
        assert event["payload"]["timestamp"] == event["timestamp"]


def check_order(events: list[Document], gated: dict[str, list[str]], most: dict[str, int]) -> None:
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


def check_manifest(manifest: Document, events: list[Document]) -> None:
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


# --- The command line -------------------------------------------------------------------------------------------------


def _cases(words: list[str]) -> Iterator[Drawn]:
    if words == ["-"]:
        yield Drawn(**json.load(sys.stdin))
    else:
        yield from map(random_specification, map(int, words))


def main(words: list[str]) -> int:
    """Drive runs, and print how many came to their end."""
    completed = 0
    for case in _cases(words):
        try:
            completed += drive(case)
        except AssertionError:
            traceback.print_exc()
            print(f"in {case}", file=sys.stderr)
            return 1
    print(completed)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
