"""Clocks that lie, state of another program, version or run, and journals that are cut or altered (R1).

rdc repairs what a cut-off write leaves, and runs no recorded step again. It refuses all other damage with the file and
the line. Other versions of a program are in `tests/runtime_shim/test_versions.py`.
"""

import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from runtime_shim.engine.journal import encode
from tests.robustness.places import FLOW, PATIENCE, Place, archived, environment, run_words

pytestmark = [pytest.mark.process, pytest.mark.share(3)]

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
    text = place.script.read_text(encoding="utf-8")
    hooked = text.replace('\nif __name__ == "__main__":', HOOK.replace("CLOCK", clock))
    assert hooked != text
    place.script.write_text(hooked, encoding="utf-8")


def runs_twice(place: Place, **variables: str) -> None:
    """Run a program in three calls and once more, and see that it walked as before and kept all journals."""
    stored: list[bytes] = []
    for _ in range(3):
        place.write_log([])
        begun = place.call("run", **variables)
        assert "WAITING" in begun.last, begun
        assert place.log() == ["one"]
        status = place.call("status", **variables)
        assert (status.code, "one" in status.out.lower() or "pass 1" in status.out) == (0, True), status
        assert place.call(*run_words(place, "resume"), **variables).code == 0
        assert place.log() == ["one", "three"]
        stored.append(place.journal.read_bytes())
        assert place.call("reset", **variables).code == 0
    stored += [f"damage {number}\n".encode() for number in range(2)]
    for content in stored[3:]:
        place.journal.write_bytes(content)
        done = place.call("reset", **variables)
        assert (done.code, "the run was archived as .rdc/main/history/damaged-" in done.last) == (0, True), done
    history = [archived(path) for path in (place.state / "history").iterdir()]
    assert sorted(history) == sorted(stored), "damaged journals are put away, too"
    assert "WAITING" in place.call("run", **variables).last


@pytest.mark.parametrize("clock", PYTHON_CLOCKS)
def test_a_python_program_does_not_count_on_the_clock(clock: str, tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW)
    with_clock(place, PYTHON_CLOCKS[clock])
    runs_twice(place)


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
        assert re.search("another version|different version|an unfinished run", refused.last), refused
    assert place.journal.read_bytes() == before
    assert place.log() == ["one"]
    assert place.call("reset").code == 0
    assert place.call("status").code == 0


def test_a_program_that_is_replaced_while_it_runs_mixes_nothing(tmp_path: Path) -> None:
    """As with a step that runs `git pull`: the run continues with the program that started it."""
    document = FLOW.replace("echo one >> log", "cp other program; echo one >> log")
    place = Place(tmp_path, document.replace("echo three >> log", "echo from a newer version >> log"))
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
        assert "this program does not know this state's format; `reset` archives it" in place.call(verb).exits(2).last
    assert place.call("reset").code == 0
    assert place.call("run").code == 75


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
            assert re.search(r"another process is using \S+ \(pid \d", place.call(verb).exits(2).last)
        assert place.call("status").code == 0
        assert place.journal.read_bytes() == before
        (tmp_path / "go").touch()
        assert first.wait(PATIENCE) == 0
    finally:
        if first.poll() is None:
            first.send_signal(signal.SIGKILL)
            first.wait(PATIENCE)
    assert place.log() == ["one", "three"]


"""What an altered byte becomes: with these bits turned over, or another one."""


@pytest.fixture
def ended(tmp_path: Path) -> Place:
    """A program that has run to its end."""
    place = Place(tmp_path, FLOW)
    assert place.call(*run_words(place, "run")).code == 0
    assert place.log() == ["one", "three"]
    return place


def test_the_python_program_refuses_a_journal_with_altered_bytes(ended: Place, is_whole: bool) -> None:
    """Each byte and each bit is altered in the tests of the journal itself; here `make test` tries each 97th byte."""
    content, verbs = ended.journal.read_bytes(), ("status", "resume", "run", "status")
    places = range(0, len(content), 41 if is_whole else 97)
    assert len(places) > (25 if is_whole else 10)
    for count, place in enumerate(places):
        other = content[place] ^ (1 << count % 8) if count % 3 else ord("\0\n |"[count % 4])
        damaged = content[:place] + bytes([other if other != content[place] else other ^ 1]) + content[place + 1 :]
        ended.journal.write_bytes(damaged)
        done = ended.call(verbs[count % len(verbs)])
        line = content[:place].count(b"\n") + 1
        assert done.code == 2, (damaged, done)
        assert f"rdc: error: .rdc/main/journal:{line}: the journal is damaged" in done.out + done.err
        assert "Traceback" not in done.err
        assert ended.journal.read_bytes() == damaged
        assert ended.log() == ["one", "three"]


def test_the_python_program_goes_on_with_a_journal_that_was_cut(ended: Place, is_whole: bool) -> None:
    """Of all; and of each line in the middle, and without its end; `make test` takes each third cut and the last."""
    content = ended.journal.read_bytes()
    ends = [place for place, byte in enumerate(content) if byte == ord("\n")]
    cuts = [length for start, end in zip([-1, *ends], ends, strict=False) for length in ((start + end) // 2, end)]
    for length in cuts if is_whole else [*cuts[::3], cuts[-1]]:
        goes_on(ended, content, length)
    goes_on(ended, content, 0)


def goes_on(place: Place, content: bytes, length: int) -> None:
    """See that a run goes on where a journal that was cut says that it stands."""
    count = content[:length].count(b"\n") + (content[length : length + 1] == b"\n")
    cut, whole = content[:length], content.splitlines()[:count]  # the last one perhaps without its end
    steps = {name: b'"kind":"done","node":"%d"' % step for step, name in enumerate(("one", "look", "three"), 1)}
    ended = [name for name, record in steps.items() if any(record in line for line in whole)]
    done = [name for name in ended if name != "look"]
    place.journal.write_bytes(cut)
    place.write_log(done)
    status = place.call("status")
    assert (status.code, status.err) == (0, "")
    assert place.journal.read_bytes() == cut
    if not whole:
        assert "no run has started" in place.call("resume").last
        assert place.call("run", "--answers", "answers").code == 0
    elif len(ended) in {0, 2}:
        assert place.call("resume", "--answers", "answers").code == 75
        assert place.log() == done, "what may have been done is not run without a decision"
    assert place.call("resume", "--answers", "answers", "--rerun-interrupted").code == 0
    assert place.log() == ["one", "three"]
