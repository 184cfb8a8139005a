"""Random runs, killed at any instant and resumed, keep to the contract."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.process import ROOT

SEEDS = 8


@pytest.mark.parametrize("first", range(0, 8 * SEEDS, SEEDS))
@pytest.mark.share(8)
def test_every_run_keeps_to_the_contract(first: int) -> None:
    """Whatever fails, and wherever it is killed; the runs have a process that has loaded nothing else."""
    seeds = map(str, range(first, first + SEEDS))
    command = [sys.executable, "-m", "tests.stepspecs.random_runs", *seeds]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-8000:]
    assert int(done.stdout) >= SEEDS * 3 // 4, "most runs come to their end"
