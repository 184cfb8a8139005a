"""How often a run visits each node at most: against random runs, and on documents."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.analyses.values import most_visits
from compiler.driver import compile_file
from compiler.ir.paths import walk
from compiler.ir.program import Program
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import alphabet
from tests.compiler.analyses.test_exploration import programs


def walked(program: Program, chance: random.Random) -> Counter[str]:
    """Return how often a random run of at most 60 steps visits each node."""
    path = walk(Machine(program), lambda node, _: Outcome(chance.choice(alphabet(node.task))), 60)
    return Counter(made.step for made in path.visits)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program=programs(), seed=st.integers(0, 1000))
def test_no_run_visits_a_node_more_often(program: Program, seed: int) -> None:
    most = most_visits(program)
    for name, times in walked(program, random.Random(seed)).items():
        limit = most[name]
        assert limit is None or times <= limit, (name, most)


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("examples/deploy-with-rollback.runbook.md", {"1": 1, "Rollback": 3}),
        ("examples/integration-tests.runbook.md", {"2.1": 3, "2.2": 3, "2.3": 3}),  # RETRY of a step with substeps
        ("examples/code-review.runbook.md", {"1": None, "Ask_for_changes": None}),
        ("examples/programs/review-loop.program.json", {"write": 4}),  # a counter of rounds
        ("examples/specifications/checked-code.stepspec.yaml", {"generate": 4, "verify": 3}),
    ],
)
def test_loops_of_documents(path: str, wanted: dict[str, int | None]) -> None:
    program = compile_file(path).program
    assert program is not None
    most = most_visits(program)
    assert {name: most[name] for name in wanted} == wanted
