"""A share of the mutants in each run of the tests, and some that only the verifier notices at once."""

import random

import pytest

from tests.mutants.mutation import mutants
from tests.mutants.trial import CLASSES, Seen, baseline, verdict

pytestmark = pytest.mark.process

NUMBER = 2


@pytest.fixture(scope="module")
def expected() -> Seen:
    return baseline()


def test_every_mutant_gets_a_verdict(expected: Seen) -> None:
    for mutant in random.Random(7).sample(mutants(), NUMBER):
        found, message = verdict(mutant, expected)
        assert found in CLASSES
        assert "TimeoutError" not in message, mutant


@pytest.mark.soak
def test_the_verifier_notices_a_pass_that_forgets_where_a_jump_leads(expected: Seen) -> None:
    """Nodes that only a jump or an edge reaches are removed."""
    wanted = ("compiler.passes.remove_unreachable", "dropped statement")
    dropped = [mutant for mutant in mutants() if (mutant.module, mutant.what) == wanted]
    assert any(verdict(mutant, expected)[0] == "verifier" for mutant in dropped)
