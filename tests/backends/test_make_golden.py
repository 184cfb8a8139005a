"""The golden Makefiles run to the end that the Python programs have."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.backends.makefiles import PATIENCE, environment
from tests.conftest import ROOT
from tests.golden.test_golden import INPUTS, NAMES, SECRETS, STOPS, emitted


@pytest.mark.share(6)
@pytest.mark.parametrize("name", NAMES)
def test_they_run_to_their_end(name: str, tmp_path: Path) -> None:
    answers = ROOT / "examples" / "answers" / f"{name}.txt"
    given = [*INPUTS.get(name, [])[1::2], *([f"ANSWERS={answers}"] if answers.exists() else [])]
    done = subprocess.run(
        ["make", "-f", str(emitted() / name / f"{name}.mk"), *given],
        cwd=tmp_path,
        env=environment(SECRETS),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
        text=True,
    )
    words = done.stdout.splitlines()[-1].split()
    assert words[:2] == ["rdc:", "STOP" if name in STOPS else "COMPLETE"], done.stderr
    assert words[2:], "every end of an example has a message"
    assert bool(done.returncode) == (name in STOPS)
