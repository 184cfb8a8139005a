"""The commands that are run as they stand, by hand: they give what they say they give, to both shells."""

from __future__ import annotations

import subprocess

import pytest

from tests.equivalence.cases import Case, Outcomes
from tests.equivalence.execution import workspace
from tests.equivalence.model import Runbook, Step
from tests.equivalence.scenario import command, scenario
from tests.equivalence.snippets import SNIPPETS, snippet


@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize("name", SNIPPETS)
def test_a_snippet_calls_once_and_keeps_the_outcome(name: str, shell: str) -> None:
    leaf = snippet(name, shell)
    for passed in (True, False):
        case = Case(Runbook((Step("1", leaf),)), outcomes=Outcomes((passed,)))
        with workspace(scenario(case)) as prepared:
            known = {"RDC_ATTEMPT": "1", "RDC_RUN_ID": "x"}
            words = [shell, "-c", command("", "1", leaf)]
            done = subprocess.run(
                words, cwd=prepared.folder, env={**prepared.environment, **known}, capture_output=True, check=False
            )
            prepared.check_log(done.stderr.decode())
            assert (done.returncode == 0) == passed, done.stderr
