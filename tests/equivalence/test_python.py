"""The generated Python file against the oracle: the same walk for random runbooks, run as a real process."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings

from compiler.driver import compile_file
from compiler.ir.program import Program

from .cases import Case
from .execution import Trial, prepare
from .strategies import cases

EXAMPLES = 120

# Each command is a process with two or three of its own; longer walks show little that short ones do not.
LONGEST = 25


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(case=cases())
def test_the_generated_program_walks_as_the_oracle(case: Case, to_python: Callable[[Program], str]) -> None:
    assume(case.walk(LONGEST).end is not None)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rdc.toml").touch()
        compare(prepare(Path(folder), case), to_python)


def compare(trial: Trial, to_python: Callable[[Program], str]) -> None:
    """Run a case and compare all that shows: the log of its commands, the events, the end, the exit code."""
    compilation = compile_file(str(trial.main))
    assert compilation.program, compilation.diagnostics
    script = trial.folder / "program.py"
    script.write_text(to_python(compilation.program), encoding="utf-8")
    events = trial.folder / "events"
    done = subprocess.run(
        [sys.executable, str(script), "run", "--answers", str(trial.answers), "--events", str(events)],
        cwd=trial.folder,
        env=dict(trial.environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    said = done.stderr.decode()
    assert trial.logged() == trial.expected(), said
    assert finished(events) == expected(trial), said
    assert ended(events) == trial.walk.end, said
    assert done.returncode == trial.exit_code, said
    assert said.splitlines()[-1] == " ".join(trial.last_line.split()), "the message stands on one line"


def read(events: Path) -> list[dict[str, object]]:
    """The events as they were written."""
    return [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]


def finished(events: Path) -> list[object]:
    """What the events say of each unit that was done, prompts too: name, attempt, instances, outcome."""
    return [
        (event["unit"], event["attempt"], event["instances"], event["outcome"])
        for event in read(events)
        if event["event"] == "unit_finished"
    ]


def expected(trial: Trial) -> list[object]:
    """What they must say by the walk of the oracle."""
    walk: list[object] = []
    for visit, passed in trial.walk.visits:
        numbers = {"RDC_STEP_INSTANCE": visit.step_instance, "RDC_SUBSTEP_INSTANCE": visit.substep_instance}
        instances = {name: number for name, number in numbers.items() if number is not None}
        walk.append((visit.label, visit.attempt, instances, "pass" if passed else "fail"))
    return walk


def ended(events: Path) -> tuple[str, str]:
    """How the run ended, as the last event says."""
    last = read(events)[-1]
    assert last["event"] == "run_finished"
    return str(last["result"]).upper(), str(last["message"])
