"""Specifications: the status of steps, and runs that continue after a failure."""

import os
from typing import ClassVar

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension, Performers, Session, Subcommands
from runtime_shim.engine.state import State, utc_now
from runtime_shim.engine.texts import one_line
from runtime_shim.engine.walk import follow
from runtime_shim.operator.signing import LONGEST
from runtime_shim.stepspec.attempt import paths_of
from runtime_shim.stepspec.record_files import records_of
from runtime_shim.stepspec.records import RESUMED
from runtime_shim.stepspec.stages import StepStages, is_command
from runtime_shim.stepspec.step_builder import StepBuilder
from runtime_shim.tasks.exchange import pairs


def step_at(program: Table, state: State) -> "str | None":
    """Return the step where a run is or has failed; None if it is complete or the program has no such step."""
    if state.condition == "complete":
        return None
    last = [record["node"] for record in state.finished[-1:]] if state.condition == "stop" else []
    steps = (program["nodes"].get(name, {}).get("step") for name in (state.node, *last))
    return next(filter(None, steps), None)


def is_stage_of(node: Table, step: "str | None") -> bool:
    """Return whether a node is a stage of a step."""
    return bool(node["task"] == "stage" and node["step"] == step)


def undecided(program: Table, state: State, step: "str | None") -> list[str]:
    """Return the gates of a step that are not approved."""
    approved = {record["node"] for record in state.finished if record["outcome"] == "approved"}
    nodes = program["nodes"].items()
    return [name for name, node in nodes if node["task"] == "gate" and node["step"] == step and name not in approved]


def reopen(session: Session) -> None:
    """Record that a failed run continues, and where."""
    state, program, is_same = session.state, session.program, session.is_same(session.state)
    nodes, last, step = program["nodes"], state.finished[-1], step_at(program, state)
    due = (*undecided(program, state, step), *(name for name in nodes if is_stage_of(nodes[name], step)))
    target = last["node"] if last["outcome"] == "rejected" else next(iter(due), "")
    if target not in nodes:
        raise UsageError(f"this program has no {one_line(last['node'])}, which failed; start a new run")
    node = nodes[target]
    do = [[node["attempt"], "=", 0]] if "attempt" in node else []
    move = follow(program, {"go": target, "do": do}, state.registers)
    about = {"node": state.node, "title": "", "attempt": 1, "instances": {}, "outcome": RESUMED, "seconds": 0.0}
    about.update(how="resumed", says="", next=target)
    why = one_line(f"{last['outcome'].upper()} of {last['node']}, {last['how']}")
    session.display.rule(f"running {one_line(target)} again after {why}")
    session.record({"kind": "done", **about, "changed": move.changed, **session.condition_after(move, begins=False)})
    if not is_same:
        session.adopt()


def refuse_goto(session: Session) -> int:
    """Refuse to move a run of a specification."""
    raise UsageError(f"goto cannot skip stages of a specification; to continue the run: {session.call('resume')}")


class Specification(Extension):
    """Programs from step specifications."""

    commands: ClassVar[Subcommands] = {"goto": ("not for specifications: a run skips no stages", refuse_goto)}
    options = (
        ("run resume status", "--executor", "COMMAND", "command that gets a step as JSON on its stdin and does it"),
        ("run resume status", "--tool", "NAME=COMMAND...", "the command for a tool"),
    )
    performers: ClassVar[Performers] = {"stage": StepStages}
    builder = StepBuilder
    reopens = True
    _resumes = False  # whether the next record is the first since a resume

    def prepare(self) -> None:
        """Check the `--tool` options before anything runs."""
        pairs("--tool", self.session.options.tool)

    def identify(self, nodes: Table) -> Table:
        """Add the contract of their steps to stages."""
        stepspec = self.session.program["stepspec"]
        common, steps = {key: stepspec[key] for key in stepspec if key != "steps"}, stepspec["steps"]
        return {name: {**node, "stepspec": [common, steps.get(node.get("step"))]} for name, node in nodes.items()}

    def open(self) -> None:
        """Refuse a version with new steps or gates before the place of the run."""
        session, state, program = self.session, self.session.state, self.session.program
        if session.options.command not in ("resume", "retry") or not session.options.adopt or session.is_same(state):
            return
        done, at = {record["node"] for record in state.finished}, step_at(program, state)
        steps = list(program["stepspec"]["steps"])
        before = steps[: steps.index(at)] if at in steps else []
        skipped = [name for step in before for name in (*undecided(program, state, step), *([step][step in done :]))]
        if state.condition != "stop" and is_stage_of(program["nodes"].get(state.node, {"task": ""}), at):
            skipped += undecided(program, state, at)
        if skipped:
            told = f"this version has {one_line(skipped[0])} before {at}"
            raise UsageError(f"{told}, but the run did not pass it; start over")

    def resumed(self) -> None:
        """Return a failed run to the failed step with all its attempts, or to its gate."""
        session, state, only = self.session, self.session.state, self.session.options.only
        last = state.finished[-1:]
        before: Table = session.program["nodes"].get(last[0]["node"], {}) if last else {}
        # A `step` right after the one before does not resume.
        self._resumes = not only or (before.get("task") == "stage" and last[0]["node"] in only)
        if only == [] and state.condition == "ready":  # an `open` only records that it resumes
            self._resumes = False
            session.record({"kind": "rest", "condition": "ready", "time": utc_now(), "resumes": True})
        if state.condition == "stop":
            if not session.is_same(state) and not session.options.adopt:
                raise session.of_another_version(state)
            reopen(session)

    def record(self, record: Record) -> Record:
        """Mark reruns and the first record after a resume, and name the origin of decisions at gates."""
        kind, session = record.get("kind"), self.session
        if kind == "resume" and session.state.condition == "running":
            is_rerun = is_command(session, session.program["nodes"][session.state.node])
            record = {**record, "reruns": True} if is_rerun else record
        if kind in ("resume", "done") and self._resumes:
            self._resumes = False
            record = {**record, "resumes": True}
        is_gate = kind == "done" and self.session.program["nodes"].get(record["node"], {}).get("task") == "gate"
        how = record.get("how", "").removeprefix("answered by ")  # a person's name is only there by their own call
        return {**record, "by": record.get("by") or how[: LONGEST["by"]]} if is_gate else record

    def facts(self, state: State) -> Table:
        """Return the steps and their status from the records."""
        found = records_of(self.session, state).steps.items()
        return {"steps": [{"step_id": name, "status": about["status"]} for name, about in found]}

    def lines(self, facts: Table, record: "Table | None") -> list[str]:
        """Return a line for each step, above the stages."""
        told = facts["steps"] if record is None else ()
        lines = [f"  {one['status']:9}  {one_line(one['step_id'])}" for one in told]
        return [*lines, *([""] if lines else [])]


class Placeholders(Extension):
    """Specifications with placeholders."""

    needs = ("inputs",)
    options = (("run", "--var", "NAME=VALUE...", "the same as --input"),)

    def prepare(self) -> None:
        """Merge the values of `--input` and `--var`."""
        options = self.session.options
        options.input = [*options.input, *options.var]

    def open(self) -> None:
        """Refuse to start a run whose placeholders make a path outside the project."""
        session = self.session
        nodes = session.program["nodes"].values() if session.options.command in ("run", "start") else ()
        for path, step in ((path, node["step"]) for node in nodes for path in paths_of(session, node)):
            if os.path.isabs(path) or os.pardir in path.split(os.sep):
                where = f"the path {one_line(path)} of step {step}"
                raise UsageError(f"{where} is outside the project; change the values of its placeholders")
