"""The golden Makefiles run to the end that the Python programs have."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.golden.test_golden import INPUTS, NAMES, SECRETS, STOPS, emitted
from tests.support.makefiles import PATIENCE, environment


def replies_of(answers: Path) -> list[list[str]]:
    """The lines of a file of answers: a word, maybe behind a step."""
    text = answers.read_text(encoding="utf-8") if answers.exists() else ""
    return [line.split() for line in text.splitlines() if line.strip()]


def make(folder: Path, makefile: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run make to its end."""
    return subprocess.run(
        ["make", "-f", str(makefile), *words],
        cwd=folder,
        env=environment(SECRETS),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
        text=True,
    )


@pytest.mark.share(6)
@pytest.mark.parametrize("name", NAMES)
def test_they_run_to_their_end(name: str, tmp_path: Path) -> None:
    answers = ROOT / "examples" / "answers" / f"{name}.txt"
    makefile = emitted() / name / f"{name}.mk"
    is_native = "define RDC_LOOP\n" in makefile.read_text(encoding="utf-8")
    given = [f"ANSWERS={answers}"] if answers.exists() and not is_native else []
    done = make(tmp_path, makefile, *INPUTS.get(name, [])[1::2], *given)
    replies = replies_of(answers) if is_native else []
    while waiting := re.findall(r"^rdc: WAITING (\S+)", done.stdout, re.MULTILINE):
        reply = next(each for each in replies if each[:-1] in ([], waiting))
        replies.remove(reply)
        done = make(tmp_path, makefile, "resume", f"STEP={waiting[0]}", f"REPLY={reply[-1]}")
    words = done.stdout.splitlines()[-1].split()
    assert words[:2] == ["rdc:", "STOP" if name in STOPS else "COMPLETE"], done.stderr
    assert words[2:], "every end of an example has a message"
    assert bool(done.returncode) == (name in STOPS)
