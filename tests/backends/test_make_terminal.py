"""The Makefile at a terminal: it asks its questions, and about a step that was interrupted."""

from __future__ import annotations

import os
import pty
import subprocess
import time
from pathlib import Path

from tests.backends.makefiles import PATIENCE, Place, environment, kill_all

DOCUMENT = """\
## 1. Slow

```bash
echo began >> lines; test -f fast || sleep 60; echo slow >> lines
```

## 2. Agree

Fine?

- YES: COMPLETE Agreed
- NO: STOP Refused
"""


def at_terminal(place: Place, typed: str, *words: str) -> tuple[str, str]:
    """Run make with a terminal as standard input and error; gives its last line of output, and what it showed."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        ["make", *words],
        cwd=place.folder,
        env=environment({}),
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=slave,
        text=True,
    )
    os.close(slave)
    os.write(master, typed.encode())
    out, _ = process.communicate(timeout=PATIENCE)
    shown = b""
    try:
        while piece := os.read(master, 4096):
            shown += piece
    except OSError:
        pass  # how Linux says that nobody holds the other end any more
    os.close(master)
    return out.splitlines()[-1], shown.decode()


def cut_off(place: Place) -> None:
    """A run whose first step is killed."""
    process = subprocess.Popen(
        ["make"],
        cwd=place.folder,
        env=environment({}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + PATIENCE
    while not (place.folder / "lines").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    kill_all(process.pid)
    process.wait()
    (place.folder / "fast").touch()


def test_questions_are_asked_until_they_are_answered(tmp_path: Path) -> None:
    place = Place(tmp_path, DOCUMENT)
    (tmp_path / "fast").touch()
    last, shown = at_terminal(place, "perhaps\n\ny\n")
    assert last == "rdc: COMPLETE Agreed"
    assert shown.count("2 [yes/no]") == 3
    assert at_terminal(place, "no\n")[0] == "rdc: STOP Refused"


def test_a_step_that_was_cut_off_is_asked_about(tmp_path: Path) -> None:
    place = Place(tmp_path, DOCUMENT)
    cut_off(place)
    last, shown = at_terminal(place, "again\nyes\n", "resume")
    assert last == "rdc: COMPLETE Agreed"
    assert "step 1 was interrupted [pass/fail/again]" in shown
    assert (tmp_path / "lines").read_text(encoding="utf-8").split() == ["began", "began", "slow"]


def test_a_step_that_was_cut_off_can_be_taken_for_passed(tmp_path: Path) -> None:
    place = Place(tmp_path, DOCUMENT)
    cut_off(place)
    assert at_terminal(place, "pass\nyes\n", "resume")[0] == "rdc: COMPLETE Agreed"
    assert (tmp_path / "lines").read_text(encoding="utf-8").split() == ["began"]
