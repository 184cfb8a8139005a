"""The generated workflow, walked through by GitHub's own expression engine, against the oracle: random runbooks."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from tests.equivalence import regressions
from tests.equivalence.cases import Case, Outcomes
from tests.equivalence.difference import DifferenceError
from tests.equivalence.drivers import DRIVERS, github, try_driver
from tests.equivalence.model import Declared, Leaf, Runbook, Runbooks, Settings, Step, Substep, Substeps
from tests.equivalence.notation import transitions
from tests.equivalence.scenario import fits_a_table, tabled
from tests.equivalence.shares import compare_random_cases
from tests.support import actions_engine as engine
from tests.support.actions_engine import EngineRun, Flow

SHARES = {"engine": 3, "engine-agent": 2, "engine-steps": 2, "engine-environment": 3}
"""Documents; each is walked through by real shells once, and with several tables of outcomes."""


@pytest.mark.parametrize("driver", SHARES)
def test_it_walks_as_the_oracle(driver: str) -> None:
    compare_random_cases(driver, SHARES[driver])


COMMAND, PROMPT = Leaf(code="true {N}", info="bash"), Leaf(prompt="Is it good?")
ENGINE = engine.run
Shown = TypeVar("Shown")


def steps_with(asked: Leaf) -> Case:
    """Steps of all kinds; some of them are this one."""
    return Case(
        Runbook(
            (
                Step("1", COMMAND, transitions(["FAIL: RETRY 2 CONTINUE"]), "it's"),
                Step("2", COMMAND, transitions(["FAIL: CONTINUE"])),
                Step("3", asked, transitions(["FAIL: GOTO Fix"])),
                Step("4", Runbooks(("it's/b.runbook.md",))),
                Step("5", Substeps((Substep("{n}", COMMAND, transitions(["PASS: GOTO NEXT 5.{n}", "FAIL: GOTO 6"])),))),
                Step("6", asked),
                Step("Fix", COMMAND, transitions(["PASS: GOTO 4"])),
            )
        ),
        files={"it's/b.runbook.md": Runbook((Step("1", Leaf(code="a\\", info="sh")), Step("2", asked)))},
    )


STEPS, WITHOUT_QUESTIONS = steps_with(PROMPT), steps_with(COMMAND)
APPROVED = Case(
    Runbook(
        (
            Step("1", COMMAND, transitions(["FAIL: RETRY 2 CONTINUE"]), "it's"),
            Step("2", PROMPT, transitions(["FAIL: STOP no"])),
            Step("3", COMMAND, transitions(["FAIL: GOTO 5"])),
            Step("4", COMMAND),
            Step("5", PROMPT, transitions(["PASS: COMPLETE yes"])),
        )
    )
)
TABLE = "fail pass fail no pass pass yes pass fail yes"


def test_a_table_knows_neither_values_nor_time_limits() -> None:
    limited = Declared(steps=(("1", Settings(timeout=90)),))
    nested = replace(STEPS.files["it's/b.runbook.md"], declared=limited)
    assert fits_a_table(STEPS)
    assert not fits_a_table(replace(STEPS, files={"it's/b.runbook.md": nested}))
    assert not fits_a_table(replace(STEPS, runbook=replace(STEPS.runbook, declared=Declared(outputs=("HOST",)))))


@pytest.mark.parametrize("driver", [driver for driver in SHARES if not DRIVERS[driver].flow_only])
def test_a_table_gives_the_run_that_shells_give(driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[list[EngineRun]] = [[], []]
    case = APPROVED if driver == "engine-environment" else STEPS
    start = tabled(replace(case, outcomes=Outcomes(tuple(word in {"pass", "yes"} for word in TABLE.split()))))
    for is_tabled, found in zip((True, False), runs, strict=True):
        monkeypatch.setattr(engine, "run", lambda *a, found=found, **b: found.append(ENGINE(*a, **b)) or found[-1])
        assert try_driver(driver, replace(start, is_tabled=is_tabled))
    tabled_runs, shell_runs = runs
    assert _known(tabled_runs) == _known(shell_runs[: len(tabled_runs)])


def _known(runs: list[EngineRun]) -> str:
    """What became of runs, except for the seconds that they took, their folders, and words that are drawn."""
    known = [
        (run.conclusion, run.summary, run.log, job, step.id, step.outcome, step.outputs)
        for run in runs
        for job, found in run.jobs.items()
        for step in found.steps
    ]
    return re.sub(
        r"\| \d+ s \||/engine-\w+/|\d+\.\d s\b|rdc-[0-9a-f]{32}|before 20\S+ \S+", "", "\n".join(map(str, known))
    )


REPEATED = Case(
    Runbook(
        (
            Step("1", COMMAND, transitions(["FAIL: RETRY 2 STOP asked"])),
            Step("2", COMMAND, transitions(["PASS: RETRY 1 COMPLETE good", "FAIL: RETRY 3 STOP bad"])),
        )
    )
)
FLOWS = [
    (WITHOUT_QUESTIONS, TABLE),
    (WITHOUT_QUESTIONS, "fail fail fail pass yes fail"),
    (WITHOUT_QUESTIONS, "pass pass no fail"),
    (WITHOUT_QUESTIONS, "pass pass yes pass no"),
    (REPEATED, "no no yes pass pass"),
    (REPEATED, "no no no"),
    (REPEATED, "yes fail pass"),
    (REPEATED, "yes pass fail fail fail"),
]
"""A program decides where a workflow with questions goes on, so its steps alone show no flow."""


@pytest.mark.parametrize(("case", "table"), FLOWS)
def test_a_table_shows_the_flow_that_shells_show(case: Case, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    flows: list[Flow] = []
    runs: list[EngineRun] = []
    monkeypatch.setattr(github, "_has_summary", lambda trial: True)
    monkeypatch.setattr(engine, "flow", _kept(engine.flow, flows))
    monkeypatch.setattr(engine, "run", _kept(engine.run, runs))
    start = tabled(replace(case, outcomes=Outcomes(tuple(word in {"pass", "yes"} for word in table.split()))))
    assert len(start.trace.visits) == len(table.split())
    assert try_driver("engine", start)
    assert try_driver("engine", replace(start, is_tabled=False))
    (flow,), (run,) = flows, runs
    attempts = re.findall(r"\| (\d+) \| \w+ \| \d+ s \|$", run.summary, re.MULTILINE)
    assert [line.split("\t")[2] for line in flow.lines] == attempts
    assert (flow.end, flow.conclusion) == (github._ended(run.summary), run.conclusion)


def _kept(trace: Callable[..., Shown], found: list[Shown]) -> Callable[..., Shown]:
    """The same path, whose results are kept."""

    def kept(*given: object, **named: object) -> Shown:
        found.append(trace(*given, **named))
        return found[-1]

    return kept


STEP = '```sh\n: "${{RDC_RUN_ID:+}}${{RDC_ATTEMPT:+}}"\nset -- {name} -; . "$YARDSTICK/visit"\n```\n'
DOCUMENT = "\n".join(
    f"## {name}\n\n{STEP.format(name=name)}\n{transitions}"
    for name, transitions in {
        "1": "- FAIL: GOTO Fix\n",
        "2": "- FAIL: RETRY 2 GOTO Fix\n",
        "3": "- PASS: GOTO 2\n- FAIL: COMPLETE\n",
        "Fix": "- PASS: STOP fixed\n",
    }.items()
)
PATHS = {
    "straight": ("1 pass", "2 pass", "3 fail", '=> COMPLETE ""'),
    "repeated": ("1 pass", "2 fail", "2#2 pass", "3 pass", "2 pass", "3 fail", '=> COMPLETE ""'),
    "fixed": ("1 fail", "Fix pass", '=> STOP "fixed"'),
    "broken": ("1 fail", "Fix fail", '=> STOP ""'),
}
MUTATIONS = [
    ("        if: steps.s1.outcome == 'success'", "        if: steps.s1.outcome != 'success'", "straight"),
    ("        if: steps.s1.outcome == 'success'", "        if: always()", "fixed"),
    ("steps.s1.outcome == 'failure' ||", "steps.s1.outcome == 'failed' ||", "fixed"),
    ("        continue-on-error: true\n", "", "fixed"),
    ("if: failure() && steps.Fix", "if: success() && steps.Fix", "broken"),
    ("          exit 1\n", "", "fixed"),
    ("if: steps.s2.outputs.next == 'COMPLETE'", "if: steps.s2.outputs.next == 'STOP'", "repeated"),
    ("pass) rdc_node='s2' ;;", "pass) rdc_node='s3' ;;", "repeated"),
]


@pytest.mark.parametrize("is_tabled", [True, False], ids=["by a table", "by shells"])
@pytest.mark.parametrize("trace", PATHS)
def test_it_walks_as_written(trace: str, is_tabled: bool, tmp_path: Path) -> None:
    assert _walks(tmp_path, trace, is_tabled=is_tabled)


@pytest.mark.parametrize(("right", "wrong", "trace"), MUTATIONS)
def test_it_notices_a_workflow_that_is_wrong(
    right: str, wrong: str, trace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    emitted = github.workflow

    def mutated(*given: object) -> str:
        text = emitted(*given)  # type: ignore[arg-type] # passed on
        assert text
        assert right in text
        return text.replace(right, wrong, 1)

    monkeypatch.setattr(github, "workflow", mutated)
    monkeypatch.setattr(github, "_has_summary", lambda trial: True)
    with pytest.raises(DifferenceError):
        _walks(tmp_path, trace)


def _walks(folder: Path, trace: str, *, is_tabled: bool = True) -> bool:
    (folder / "main.runbook.md").write_text(DOCUMENT, encoding="utf-8")
    (folder / regressions.TRACE).write_text("\n".join(["run main.runbook.md", *PATHS[trace], ""]), encoding="utf-8")
    return try_driver("engine", replace(regressions.read(folder), is_tabled=is_tabled))
