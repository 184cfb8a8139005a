"""The generated workflow against the oracle: the same walk for random runbooks, run by act."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings

from backends.github import GithubBackend
from compiler.driver import compile_file
from tests.workflows import act

from .cases import Case
from .execution import FOLDER_VARIABLE, Trial, prepare
from .strategies import cases

EXAMPLES = 100
LONGEST = 25
NO_OPTIONS: Mapping[str, object] = {}

# Says what the next line of the answers says, and takes that line away.
AGENT = f"""\
cat > /dev/null
cd "${FOLDER_VARIABLE}" && head -n 1 answers && sed 1d answers > rest && mv rest answers
"""


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(case=cases())
def test_the_generated_workflow_walks_as_the_oracle(case: Case) -> None:
    assume(case.walk(LONGEST).end is not None)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rdc.toml").touch()
        compare(prepare(Path(folder), case))


@settings(max_examples=EXAMPLES // 5, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(case=cases())
def test_a_run_that_waits_for_each_answer_walks_the_same(case: Case) -> None:
    assume(case.walk(LONGEST).end is not None)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rdc.toml").touch()
        trial = prepare(Path(folder), case)
        assume(trial.answers.stat().st_size)
        compare_in_pieces(trial)


@settings(max_examples=EXAMPLES // 3, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(case=cases())
def test_a_run_whose_prompts_an_agent_answers_walks_the_same(case: Case) -> None:
    assume(case.walk(LONGEST).end is not None)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rdc.toml").touch()
        trial = prepare(Path(folder), case)
        assume(trial.answers.stat().st_size)
        text = workflow(trial, {"prompts": "agent", "agent": AGENT})
        check(trial, text, act.run(trial.folder, text, env={FOLDER_VARIABLE: str(trial.folder)}))


def workflow(trial: Trial, options: Mapping[str, object] = NO_OPTIONS) -> str:
    """The workflow of a case."""
    compilation = compile_file(str(trial.main))
    assert compilation.program, compilation.diagnostics
    emission = GithubBackend().emit(compilation.program, {"checkout": False, **options})
    assert emission.text, emission.diagnostics
    return emission.text


def compare(trial: Trial) -> None:
    """Run a case with all answers at once and compare all that shows."""
    text = workflow(trial)
    answers = "; ".join(trial.answers.read_text(encoding="utf-8").split())
    inputs = {"answers": answers} if "      answers:\n" in text else {}
    run = act.run(trial.folder, text, inputs=inputs, env={FOLDER_VARIABLE: str(trial.folder)})
    check(trial, text, run)


def compare_in_pieces(trial: Trial) -> None:
    """Run a case without answers, and go on with one answer after the other."""
    text = workflow(trial)
    answers = trial.answers.read_text(encoding="utf-8").split()
    env = {FOLDER_VARIABLE: str(trial.folder), "ARTIFACTS": str(trial.folder / "artifacts")}
    run = act.run(trial.folder, text, env=env, run_id=1)
    for number, answer in enumerate(answers, 2):
        assert ended(run.summary).startswith("WAITING "), run.log
        assert run.exit_code
        inputs = {"answers": answer, "resume": str(number - 1)}
        run = act.run(trial.folder, text, inputs=inputs, env=env, run_id=number)
    check(trial, text, run)


def check(trial: Trial, text: str, run: act.ActRun) -> None:
    """Compare the log of the commands, the end and its message, the job's result, and the summary."""
    said = f"{text}\n{run.log}"
    assert trial.logged() == trial.expected(), said
    assert ended(run.summary) == " ".join(trial.last_line.split()[1:]).replace("##[", "# # ["), said
    assert (run.exit_code != 0) == (trial.exit_code != 0), said
    assert table(run.summary) == expected_table(trial), said


def ended(summary: str) -> str:
    """How the run ended, by the heading of the summary. (The log of act may lack the last lines of a step.)"""
    heading = re.search(r"^### (.*)$", summary, re.MULTILINE)
    return re.sub(r"\\(.)", r"\1", heading[1]) if heading else ""


def table(summary: str) -> list[tuple[str, str]]:
    """Attempt and outcome of each row of the summary's table."""
    return re.findall(r"\| (\d+) \| (PASS|FAIL) \| \d+ s \|$", summary, re.MULTILINE)


def expected_table(trial: Trial) -> list[tuple[str, str]]:
    return [(str(visit.attempt), "PASS" if passed else "FAIL") for visit, passed in trial.walk.visits]
