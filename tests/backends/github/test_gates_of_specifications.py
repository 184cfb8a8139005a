"""Gates of specifications on GitHub: an executor that attacks the run does not get past one without an approval."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.backends.github.specifications import written
from tests.support import actions_engine as engine

pytestmark = pytest.mark.tool

DOCUMENT = r"""
workflow: {module: notes, workflow: publish, phase: Release}
config:
  variables: {output_folder: public}
  executor: |
    echo "$RDC_STEP" >> "$FOLDER/done"
    [ "$RDC_STEP" != write ] || [ ! -e "$FOLDER/attack.sh" ] || sh "$FOLDER/attack.sh"
step_specs:
  - {id: write, description: Write the notes}
  - {id: announce, description: Tell everybody, human_gate: required}
  - {id: end, description: Clean up}
"""
FAKE = """
import os, subprocess, sys
open(os.environ["FOLDER"] + "/called", "a").close()
real = [sys.executable, os.environ["FOLDER"] + "/real.py"]
if sys.argv[1] == "status":
    for words in ("step announce", "approve --gate notes:publish:announce:hitl --by ceo", "step announce"):
        subprocess.run([*real, *words.split()], stdin=subprocess.DEVNULL, stdout=2)
sys.exit(subprocess.run([*real, *sys.argv[1:]]).returncode)
"""
ATTACKS = {
    "the program is replaced": (
        'for file in .github/rdc/*.py; do cp "$file" "$FOLDER/real.py"; chmod u+w "$file"; '
        'cat "$FOLDER/fake.py" > "$file"; done'
    ),
    "the program is removed and written again": (
        'for file in .github/rdc/*.py; do cp "$file" "$FOLDER/real.py"; rm -f "$file"; '
        'cp "$FOLDER/fake.py" "$file"; done'
    ),
    "later steps get another program by a file that it names or finds": (
        'cp .github/rdc/notes.py "$FOLDER/real.py"; { echo "RDC=$FOLDER/fake.py" >> "$GITHUB_ENV"; } 2> /dev/null; '
        'for file in "$RUNNER_TEMP"/*env*; do '
        'for name in RDC PYTHONSTARTUP PYTHONPATH RDC_FILE; do echo "$name=$FOLDER/fake.py" >> "$file"; done; done'
    ),
}


def run(folder: Path, *decisions: str, attack: str = "") -> tuple[engine.EngineRun, list[str]]:
    """Run the workflow with these decisions of reviewers; return the run and the steps whose executor was called."""
    repository, outside = folder / "repository", folder / "outside"
    repository.mkdir()
    outside.mkdir()
    workflow = written(repository, DOCUMENT)
    (outside / "fake.py").write_text(FAKE, encoding="utf-8")
    if attack:
        (outside / "attack.sh").write_text(attack, encoding="utf-8")
    env = {"FOLDER": str(outside), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    environments = {"approval": decisions} if decisions else {}
    done = engine.run(repository, workflow, history=folder / "history", env=env, environments=environments)
    steps = outside / "done"
    return done, steps.read_text(encoding="utf-8").split() if steps.exists() else []


def test_a_gate_opens_when_a_reviewer_approves(tmp_path: Path) -> None:
    done, steps = run(tmp_path, "approved")
    assert done.conclusion == "success", done.log
    assert steps == ["write", "announce", "end"]


def test_a_gate_stays_closed_when_no_reviewer_approves(tmp_path: Path) -> None:
    done, steps = run(tmp_path, "refused")
    assert done.conclusion != "success"
    assert steps == ["write"]


def test_nothing_runs_without_a_protected_environment(tmp_path: Path) -> None:
    done, steps = run(tmp_path)
    assert done.conclusion != "success"
    assert 'Give the environment "approval" required reviewers.' in done.log
    assert steps == []


class Attacked(NamedTuple):
    """A run that an executor has attacked and a reviewer rejected."""

    done: engine.EngineRun
    steps: list[str]
    outside: Path


@pytest.fixture(scope="module", params=list(ATTACKS.values()), ids=list(ATTACKS))
def attacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Attacked:
    """One run for all that is said of it."""
    folder = tmp_path_factory.mktemp("attacked")
    return Attacked(*run(folder, "rejected", attack=request.param), folder / "outside")


def test_no_program_of_an_executor_gets_a_run_past_a_gate(attacked: Attacked) -> None:
    """Also where the run seems to wait at no gate, so that nobody is asked: the job is skipped."""
    assert (attacked.outside / "real.py").exists()
    assert not (attacked.outside / "called").exists()
    assert attacked.steps == ["write"]
    (gate,) = (job.result for name, job in attacked.done.jobs.items() if name.startswith("approve"))
    assert gate == "success" or attacked.done.jobs["part_2"].result == "skipped"
    assert attacked.done.jobs["part_2"].result != "success"
    assert attacked.done.conclusion != "success"
