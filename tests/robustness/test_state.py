"""Clocks that lie, and state that another program, another version or another run has left.

What the Python runtime does about other versions of a program is tested in `tests/runtime_shim/test_versions.py`.
"""

from __future__ import annotations

import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from runtime_shim.engine.journal import encode
from tests.robustness.places import FLOW, PATIENCE, Place, archived, end_of, environment, run_words

pytestmark = [pytest.mark.process, pytest.mark.share(3)]


# --- Clocks -----------------------------------------------------------------------------------------------------------

PYTHON_CLOCKS = {
    "backwards": "2e9 - 1e5 * next(beats)",
    "by years": "(1e9, 4e9, 1e8, 2e9)[next(beats) % 4]",
    "standing": "1.5e9",
}
HOOK = """
import itertools
beats = itertools.count()
gmtime = time.gmtime
time.time = lambda: CLOCK
time.time_ns = lambda: int(time.time() * 1e9)
time.gmtime = lambda seconds=None: gmtime(time.time() if seconds is None else seconds)
time.monotonic = lambda: CLOCK
os.urandom = bytes
if __name__ == "__main__":"""


def with_clock(place: Place, clock: str) -> None:
    """Give a Python program another clock."""
    text = place.script.read_text(encoding="utf-8")
    hooked = text.replace('\nif __name__ == "__main__":', HOOK.replace("CLOCK", clock))
    assert hooked != text
    place.script.write_text(hooked, encoding="utf-8")


def runs_twice(place: Place, **variables: str) -> None:
    """Run a program in three calls and once more, and see that it walked as before and kept the journals of both."""
    stored: list[bytes] = []
    for _ in range(3):
        place.write_log([])
        begun = place.call("run", **variables)
        assert "WAITING" in end_of(begun), begun
        assert place.log() == ["one"]
        status = place.call("status", **variables)
        assert (status.code, "one" in status.out.lower() or "pass 1" in status.out) == (0, True), status
        assert place.call(*run_words(place, "resume"), **variables).code == 0
        assert place.log() == ["one", "three"]
        stored.append(place.journal.read_bytes())
        assert place.call("reset", **variables).code == 0
    history = [archived(path) for path in (place.state / "history").iterdir()]
    assert sorted(history) == sorted(stored)


@pytest.mark.parametrize("clock", PYTHON_CLOCKS)
def test_a_python_program_does_not_count_on_the_clock(clock: str, tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW)
    with_clock(place, PYTHON_CLOCKS[clock])
    runs_twice(place)


def test_damaged_journals_that_are_put_away_at_one_time_are_all_kept(tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW)
    with_clock(place, PYTHON_CLOCKS["standing"])
    damaged = [f"damage {number}\n".encode() for number in range(3)]
    for content in damaged:
        place.state.mkdir(parents=True, exist_ok=True)
        place.journal.write_bytes(content)
        assert place.call("reset").code == 0
    assert sorted(archived(path) for path in (place.state / "history").iterdir()) == damaged


# --- Other programs ---------------------------------------------------------------------------------------------------

OTHERS = {
    "a step was changed": FLOW.replace("echo three", "echo drei"),
    "a step was removed": re.sub(r"## 1\. One.*?## 2", "## 1", FLOW, flags=re.DOTALL).replace("## 3", "## 2"),
    "a step was renamed": FLOW.replace("## 2. Look", "## 2. See"),
    "it is another document": "# Other\n\n## 1. Ask\n\nIs it?\n",
}


@pytest.mark.share(3)
@pytest.mark.parametrize("change", OTHERS)
def test_state_of_another_version_is_refused_and_nothing_runs(change: str, tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW)
    place.call("run")
    before = place.journal.read_bytes()
    Place(tmp_path, OTHERS[change])
    for words in (["resume"], ["run"], run_words(place, "resume")):
        refused = place.call(*words)
        assert (refused.code, "Traceback" in refused.err) == (2, False)
        assert re.search("another version|different version|an unfinished run", end_of(refused)), refused
    assert place.journal.read_bytes() == before
    assert place.log() == ["one"]
    assert place.call("reset").code == 0
    assert place.call("status").code == 0


def test_a_program_that_is_replaced_while_it_runs_mixes_nothing(tmp_path: Path) -> None:
    """As with a step that runs `git pull`: the run continues with the program that started it."""
    document = FLOW.replace("echo one >> log", "cp other program; echo one >> log")
    newer = document.replace("echo three >> log", "echo from a newer version >> log")
    place = Place(tmp_path, newer)
    place.script.rename(tmp_path / "other")
    place = Place(tmp_path, document)
    (tmp_path / "program").symlink_to(place.script)
    assert place.call(*run_words(place, "run")).code == 0
    assert place.log() == ["one", "three"]


def test_another_format_of_state_is_refused_and_kept(tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW)
    place.state.mkdir(parents=True)
    place.journal.write_bytes(encode({"n": 0, "kind": "begin", "format": 2, "what": "ever"}))
    for verb in ("status", "resume", "run"):
        refused = place.call(verb)
        assert refused.code == 2
        assert "this program does not know this state's format; `reset` archives it" in refused.last
    assert place.call("reset").code == 0
    assert place.call("run").code == 75


# --- Two at once ------------------------------------------------------------------------------------------------------


def test_a_second_runner_is_refused_and_does_no_harm(tmp_path: Path) -> None:
    slow = FLOW.replace("echo one", "touch began; until test -e go; do sleep 0.02; done; echo one")
    place = Place(tmp_path, slow)
    command = [*place.command, *run_words(place, "run")]
    quiet = subprocess.DEVNULL
    first = subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while not (tmp_path / "began").exists() or b"process" not in place.journal.read_bytes():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        before = place.journal.read_bytes()
        for verb in ("run", "resume", "reset"):
            refused = place.call(verb)
            assert refused.code == 2
            assert re.search(r"another process is using \S+ \(pid \d", end_of(refused))
        assert place.call("status").code == 0
        assert place.journal.read_bytes() == before
        (tmp_path / "go").touch()
        assert first.wait(PATIENCE) == 0
    finally:
        if first.poll() is None:
            first.send_signal(signal.SIGKILL)
            first.wait(PATIENCE)
    assert place.log() == ["one", "three"]
