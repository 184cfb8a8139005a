"""Steps of a specification as others see them (B6), and runs that go on after a failure (B12, B16)."""

import os
from typing import Optional

from runtime_shim.contract.contract import StageKind, Stages, config_of
from runtime_shim.contract.executing import execute_step, execution_previewed
from runtime_shim.contract.run_records import RESUMED
from runtime_shim.contract.stages import (
    index_outputs,
    inputs_previewed,
    look_at_inputs,
    look_at_outputs,
    look_up_context,
    outputs_previewed,
    validate,
    validation_previewed,
)
from runtime_shim.contract.step_builder import StepBuilder
from runtime_shim.contract.timeline import BLOCKED, COMPLETED, FAILED, PENDING, RUNNING
from runtime_shim.contract.tools import call_tool, calls_command, tool_previewed
from runtime_shim.engine.journal import Record
from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import one_line
from runtime_shim.engine.walk import follow
from runtime_shim.operator.signing import user
from runtime_shim.tasks.pairs import pairs


def context_previewed(session: Session, _node: Table) -> str:
    """Say what would be looked up."""
    return f"look up the context: {config_of(session)['context']}"


def guardrails_previewed(_session: Session, _node: Table) -> str:
    """Say what would be checked."""
    return "check the outputs by their guardrails"


def always(_session: Session, _node: Table) -> bool:
    """Tell that a stage runs a command; where the executor is a person, the run waits."""
    return True


def never(_session: Session, _node: Table) -> bool:
    """Tell that a stage only looks at files."""
    return False


class StepStages(Stages):
    """Does the stages of all kinds."""

    kinds = {
        "inputs": StageKind(look_at_inputs, inputs_previewed, never),
        "context": StageKind(look_up_context, context_previewed, always),
        "tool": StageKind(call_tool, tool_previewed, calls_command),
        "execute": StageKind(execute_step, execution_previewed, always),
        "guardrails": StageKind(look_at_outputs, guardrails_previewed, never),
        "validation": StageKind(validate, validation_previewed, never),
        "outputs": StageKind(index_outputs, outputs_previewed, never),
    }


def steps_of(program: Table) -> list[str]:
    """Return the steps in order."""
    return list(program["contract"]["steps"])


def step_at(program: Table, state: State) -> Optional[str]:
    """Return the step at which a run stands or has failed; None if it is complete, or this program has no such step."""
    if state.condition == "complete":
        return None
    last = [record["node"] for record in state.finished[-1:]] if state.condition == "stop" else []
    for name in (state.node, *last):
        step: Optional[str] = program["nodes"].get(name, {}).get("step")
        if step is not None:
            return step
    return None


def statuses(program: Table, state: State) -> dict[str, str]:
    """Return the status of each step (B6)."""
    steps, at = steps_of(program), step_at(program, state)
    here = status_at(program, state)
    before = steps if state.condition == "complete" else steps[: steps.index(at)] if at in steps else ()
    found = {step: COMPLETED if step in before else PENDING for step in steps}
    return {**found, **({at: here} if at in steps else {})}


def status_at(program: Table, state: State) -> str:
    """Return the status of the step at which a run stands."""
    last = state.finished[-1] if state.finished else {**state.begin, "node": "", "outcome": ""}
    task = program["nodes"].get(state.node, {}).get("task")
    if state.condition == "stop" or (state.condition == "ready" and last["outcome"] == RESUMED):
        return FAILED
    if task == "gate":
        return BLOCKED
    if state.condition != "ready" or last["condition"] != "ready":
        return RUNNING
    before = program["nodes"].get(last["node"], {})
    if before.get("step") != program["nodes"][state.node].get("step"):
        return PENDING
    return BLOCKED if before["task"] == "gate" else RUNNING


def _target(program: Table, state: State) -> str:
    """Return where a failed run goes on."""
    nodes, last, step = program["nodes"], state.finished[-1], step_at(program, state)
    due = (*undecided(program, state, step), *(name for name in nodes if is_stage_of(nodes[name], step)))
    first = last["node"] if last["outcome"] == "rejected" else next(iter(due), "")
    if first not in nodes:
        raise RefusedError(f"this program does not have {one_line(last['node'])}, which failed: begin a new run")
    return first


def is_stage_of(node: Table, step: Optional[str]) -> bool:
    """Tell whether a node is a stage of a step."""
    return bool(node["task"] == "stage" and node["step"] == step)


def undecided(program: Table, state: State, step: Optional[str]) -> list[str]:
    """Return the gates of a step that the run was not let through."""
    approved = {record["node"] for record in state.finished if record["outcome"] == "approved"}
    nodes = program["nodes"].items()
    return [name for name, node in nodes if node["task"] == "gate" and node["step"] == step and name not in approved]


class Specification(Extension):
    """Programs of step specifications."""

    options = (
        ("run resume", "--executor", "COMMAND", "does the work of steps: the step as JSON on standard input"),
        ("run resume", "--tool", "NAME=COMMAND...", "the command that a tool is"),
    )
    performers = {"stage": StepStages}
    builder = StepBuilder
    reopens = True
    _resumes = False  # whether the next record of this call is the first one of a run that it resumes

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program has a contract."""
        return "contract" in program

    def prepare(self) -> None:
        """Refuse what is no name with a command before anything runs."""
        pairs("--tool", self.session.options.tool)

    def identify(self, nodes: Table) -> Table:
        """Add to stages what the contract says of their steps, and of all (I32)."""
        contract = self.session.program["contract"]
        common = {key: contract[key] for key in contract if key != "steps"}
        return {
            name: {**node, "contract": [common, contract["steps"].get(node.get("step"))]}
            for name, node in nodes.items()
        }

    def open(self) -> None:
        """Refuse to go on with a version that has steps or gates before the place of the run which it never came to."""
        session, state, program = self.session, self.session.state, self.session.program
        if session.options.command != "resume" or not session.options.adopt or session.is_same(state):
            return
        done, at = {record["node"] for record in state.finished}, step_at(program, state)
        steps = steps_of(program)
        before = steps[: steps.index(at)] if at in steps else []
        skipped = [name for step in before for name in (*undecided(program, state, step), *([step][step in done :]))]
        if state.condition != "stop" and is_stage_of(program["nodes"].get(state.node, {"task": ""}), at):
            skipped += undecided(program, state, at)
        if skipped:
            raise RefusedError(
                f"this version has {one_line(skipped[0])} before {at}, and the run was not there: begin anew"
            )

    def resumed(self) -> None:
        """Take a failed run back to the step that failed, with all its attempts (B12), or to its gate."""
        session, state = self.session, self.session.state
        self._note_resumed(session.options.only)
        if state.condition == "stop":
            if not session.is_same(state) and not session.options.adopt:
                raise session.of_another_version(state)
            reopen(session)

    def _note_resumed(self, only: Optional[list[str]]) -> None:
        """Note whether this call resumes a run; a `step` that follows the one before it does not (B15)."""
        nodes, last = self.session.program["nodes"], self.session.state.finished[-1:]
        is_same_step = any(nodes.get(one["node"], {}).get("step") in (only or ()) for one in last)
        is_stage = any(nodes.get(one["node"], {}).get("task") == "stage" for one in last)
        self._resumes = only is None or (is_same_step and is_stage)

    def record(self, record: Record) -> Record:
        """Mark the first record of a call that resumes a run, and name who has made the decision at a gate (B8)."""
        kind = record.get("kind")
        if kind in ("resume", "done") and self._resumes:
            self._resumes = False
            record = {**record, "resumes": True}
        is_gate = kind == "done" and self.session.program["nodes"].get(record["node"], {}).get("task") == "gate"
        return {**record, "by": record.get("by") or user()} if is_gate else record

    def end(self) -> None:
        """Say how a run goes on that has failed."""
        if self.session.state.condition == "stop":
            is_rejected = self.session.state.finished[-1]["outcome"] == "rejected"
            what = "ask for this approval" if is_rejected else "try"
            self.session.display.rule(f"to {what} again: {self.session.call('resume')}")

    def facts(self, state: State) -> Table:
        """Return the steps for the status."""
        found = statuses(self.session.program, state).items()
        return {"steps": [{"step_id": name, "status": status} for name, status in found]}

    def lines(self, facts: Table, record: Optional[Table]) -> list[str]:
        """Return the steps as lines that stand above their stages."""
        told = facts["steps"] if record is None else ()
        lines = [f"{one['status']:9}  {one_line(one['step_id'])}" for one in told]
        return [*(f"  {line}" for line in lines), *([""] if lines else [])]


def reopen(session: Session) -> None:
    """Record that a failed run goes on."""
    state, program = session.state, session.program
    is_same, target = session.is_same(state), _target(program, state)
    node = program["nodes"][target]
    do = [[node["attempt"], "=", 0]] if "attempt" in node else []
    move = follow(program, {"go": target, "do": do}, state.registers)
    about = {"node": state.node, "title": "", "attempt": 1, "instances": {}, "outcome": RESUMED, "seconds": 0.0}
    about.update(how="resumed", says="", next=target)
    session.record({"kind": "done", **about, "changed": move.changed, **session.stand(move, begins=False)})
    if not is_same:
        session.adopt()


class Called(Extension):
    """Goes on in the workspace of another job."""

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program has a contract."""
        return "contract" in program

    def __init__(self, session: Session) -> None:
        super().__init__(session)  # it is not for what the program calls
        self._workspace = os.environ.pop("RDC_WORKSPACE", "")  # where a run goes on that began elsewhere

    def read(self, state: State) -> None:
        """Let a run go on in the workspace of another job, where all its files were put."""
        if self._workspace:
            state.begin = {**state.begin, "cwd": self._workspace}
