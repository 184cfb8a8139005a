"""The generated workflow, walked through by GitHub's own parser and expression engine (`tests/support/actions_engine/`)."""

from __future__ import annotations

from collections.abc import Mapping

from tests.equivalence.difference import DifferenceError, same
from tests.equivalence.drivers import github
from tests.equivalence.execution import Trial
from tests.equivalence.scenario import FOLDER_VARIABLE
from tests.support import actions_engine as engine

NOTHING: Mapping[str, str] = {}


def compare(trial: Trial) -> bool:
    """Run a case with one answer each time; by a table it is the flow alone that is compared."""
    return _compare_flow(trial) if trial.scenario.is_tabled else github.compare(trial, _run)


def _compare_flow(trial: Trial) -> bool:
    outcomes = ["pass" if passed else "fail" for _, passed in trial.scenario.trace.visits]
    text = github.workflow(trial)
    if text is None or "CALL: " in text:  # the program decides where such a workflow goes on, which no table can
        return False
    try:
        flow = engine.flow(text, outcomes, trial.visit)
    except engine.RefusedError as refused:
        raise _as_difference(refused) from refused
    trial.check_lines(flow.lines)
    is_said = bool(flow.end) or github._has_summary(trial)
    same("the end", flow.end if is_said else flow.conclusion, trial.end if is_said else _usual(trial.end))
    same("whether the job fails", flow.conclusion, "failure" if trial.exit_code else "success")
    return True


def _usual(end: str) -> str:
    """What a job ends with where no step says the end: it has no message then."""
    return {"COMPLETE": "success", "STOP": "failure"}.get(end, "a step that says the end")


def compare_with_agent(trial: Trial) -> bool:
    """Run a case whose prompts an agent answers."""
    return github.compare_with_agent(trial, _run)


def compare_in_environments(trial: Trial) -> bool:
    """Run a case whose commands have environments about which nobody decides: they are in jobs of their own."""
    text = github.in_environments(trial)
    if text is None:
        return False
    return github.check(trial, text, _run(trial, text, inputs=github.inputs_of(trial)))


def _run(
    trial: Trial,
    text: str,
    *,
    inputs: Mapping[str, str] = NOTHING,
    run_id: int = 1,
) -> engine.EngineRun:
    try:
        return engine.run(
            trial.folder,
            text,
            history=trial.folder / "history",
            inputs=inputs,
            env={FOLDER_VARIABLE: str(trial.folder)},
            secrets=trial.secrets,
            run_id=run_id,
            by_table=trial.scenario.is_tabled,
        )
    except engine.RefusedError as refused:
        raise _as_difference(refused) from refused


def _as_difference(refused: engine.RefusedError) -> DifferenceError:
    return DifferenceError("what the engine says", str(refused), "a path")
