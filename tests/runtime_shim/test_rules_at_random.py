"""Rules in runs with random jumps, assumptions, repetitions and kills: each hold is as a model of the trace says."""

from functools import partial
from pathlib import Path

import pytest

from tests.support.rules import try_at_random
from tests.support.runtime_programs import Compiled

pytestmark = pytest.mark.process


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(n, marks=pytest.mark.soak) for n in range(6, 400))])
def test_a_run_is_held_as_the_trace_says(tmp_path: Path, seed: int) -> None:
    try_at_random(seed, partial(Compiled, tmp_path), 10)
