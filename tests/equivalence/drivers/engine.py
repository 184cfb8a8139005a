"""The generated workflow, run by GitHub's own parser and expression engine (`tests/support/actions_engine/`)."""

from __future__ import annotations

from collections.abc import Mapping

from tests.equivalence.difference import DifferenceError, same
from tests.equivalence.drivers import github
from tests.equivalence.execution import Workspace
from tests.equivalence.scenario import FOLDER_VARIABLE
from tests.support import actions_engine as engine

NOTHING: Mapping[str, str] = {}


def compare(workspace: Workspace) -> bool:
    """Run a case with one answer each time; by a table it is the flow alone that is compared."""
    return _compare_flow(workspace) if workspace.scenario.is_tabled else github.compare(workspace, _run)


def _compare_flow(workspace: Workspace) -> bool:
    outcomes = ["pass" if passed else "fail" for _, passed in workspace.scenario.trace.visits]
    text = github.workflow(workspace)
    if text is None or "CALL: " in text:  # the program decides where such a workflow goes on, which no table can
        return False
    try:
        flow = engine.flow(text, outcomes, workspace.visit)
    except engine.RejectedError as refused:
        raise _as_difference(refused) from refused
    workspace.check_lines(flow.lines)
    is_said = bool(flow.end) or github._has_summary(workspace)
    same("the end", flow.end if is_said else flow.conclusion, workspace.end if is_said else _usual(workspace.end))
    same("whether the job fails", flow.conclusion, "failure" if workspace.exit_code else "success")
    return True


def _usual(end: str) -> str:
    """What a job ends with where no step says the end: it has no message then."""
    return {"COMPLETE": "success", "STOP": "failure"}.get(end, "a step that says the end")


def compare_with_agent(workspace: Workspace) -> bool:
    """Run a case whose prompts an agent answers."""
    return github.compare_with_agent(workspace, _run)


def compare_in_environments(workspace: Workspace) -> bool:
    """Run a case whose commands have environments about which nobody decides: they are in jobs of their own."""
    text = github.in_environments(workspace)
    if text is None:
        return False
    return github.check(workspace, text, _run(workspace, text, inputs=github.inputs_of(workspace)))


def _run(
    workspace: Workspace,
    text: str,
    *,
    inputs: Mapping[str, str] = NOTHING,
    run_id: int = 1,
) -> engine.EngineRun:
    try:
        return engine.run(
            workspace.folder,
            text,
            history=workspace.folder / "history",
            inputs=inputs,
            env={FOLDER_VARIABLE: str(workspace.folder)},
            secrets=workspace.secrets,
            run_id=run_id,
            by_table=workspace.scenario.is_tabled,
        )
    except engine.RejectedError as refused:
        raise _as_difference(refused) from refused


def _as_difference(refused: engine.RejectedError) -> DifferenceError:
    return DifferenceError("what the engine says", str(refused), "a path")
