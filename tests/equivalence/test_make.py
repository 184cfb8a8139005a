"""The generated Makefile against the oracle: the same walk for random runbooks, run by GNU make."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings

from backends.make import MakeBackend
from compiler.driver import compile_file

from .cases import Case
from .execution import Trial, prepare
from .strategies import cases

EXAMPLES = 80
LONGEST = 25


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(case=cases())
def test_the_generated_makefile_walks_as_the_oracle(case: Case) -> None:
    assume(case.walk(LONGEST).end is not None)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rdc.toml").touch()
        trial = prepare(Path(folder), case)
        write(trial)
        check(trial, make(trial, f"ANSWERS={trial.answers}"))


@settings(max_examples=EXAMPLES // 4, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(case=cases())
def test_a_run_that_waits_for_each_answer_walks_the_same(case: Case) -> None:
    assume(case.walk(LONGEST).end is not None)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rdc.toml").touch()
        trial = prepare(Path(folder), case)
        assume(trial.answers.stat().st_size)
        write(trial)
        asked = [visit.label for visit, _ in trial.walk.visits if not visit.is_command]
        done = make(trial)
        for unit, answer in zip(asked, trial.answers.read_text(encoding="utf-8").split(), strict=True):
            assert last_line(done) == f"rdc: WAITING {unit}", done.stderr
            assert done.returncode
            assert make(trial, "answer", f"UNIT={unit}", f"RESULT={answer}").returncode == 0
            done = make(trial, "resume")
        check(trial, done)


def write(trial: Trial) -> None:
    """The Makefile of a case."""
    compilation = compile_file(str(trial.main))
    assert compilation.program, compilation.diagnostics
    text = MakeBackend().emit(compilation.program, {}).text
    assert text
    (trial.folder / "Makefile").write_bytes(text.encode())


def make(trial: Trial, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *words],
        cwd=trial.folder,
        env=dict(trial.environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
        encoding="utf-8",
    )


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stdout.splitlines() or [""])[-1]


def check(trial: Trial, done: subprocess.CompletedProcess[str]) -> None:
    """Compare the log of the commands, the end and its message, and that make fails where it must."""
    said = f"{done.stdout}\n{done.stderr}"
    assert trial.logged() == trial.expected(), said
    assert last_line(done) == " ".join(trial.last_line.split()), said
    assert bool(done.returncode) == bool(trial.exit_code), said
