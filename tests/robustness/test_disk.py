"""Full disks, read-only folders and state that is something else: what is said, and what is kept (R1).

A limit on the size of files stands for a full disk; where a small file system can be mounted, that one is filled too.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.robustness.places import FLOW, CommandResult, Place, run_words
from tests.support.cli import GOOD, call, document

pytestmark = [pytest.mark.process, pytest.mark.share(3)]

STATE = re.escape(".rdc/main")


@contextmanager
def limit_of_files(size: int) -> Iterator[None]:
    """No file that this process or one that it starts writes can be larger."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def goes_on_as_told(place: Place, refused: CommandResult) -> None:
    """See that the message names the file and what to do, and that this leads to each command having run once."""
    last = refused.last
    assert (refused.code, "Traceback" in refused.err) == (2, False), refused
    assert re.match(f"rdc: error: .*{STATE}", last), refused
    decision = re.search(r"--assume \w+", last)
    if decision:
        why = r"\(\S+journal: cannot record: (No space left|File too large).*\); free some space, then: "
        assert re.search(f"ended with PASS, but this could not be recorded {why}", last), last
    words = decision[0].split() if decision else []
    resumed = place.call(*run_words(place, "resume"), *words)
    if "no run" in resumed.last:
        assert place.log() == []
        resumed = place.call(*run_words(place, "run"))
    elif "WAITING" in resumed.last:
        assert "was interrupted" in resumed.err, "the record lacks only its line end: a person must decide"
        resumed = place.call(*run_words(place, "resume"), "--rerun-interrupted")
    assert resumed.code == 0, resumed
    assert place.log() == ["one", "three"]


@pytest.mark.share(3)
def test_a_journal_that_cannot_grow_loses_no_outcome(tmp_path: Path, is_whole: bool) -> None:
    place = Place(tmp_path, FLOW)
    words = run_words(place, "run")
    assert place.call(*words).code == 0
    size = place.journal.stat().st_size
    for limit in [0, 5, *range(60, size, 149 if is_whole else 399), size - 1]:
        shutil.rmtree(place.state)
        place.write_log([])
        with limit_of_files(limit):
            refused = place.call(*words)
        if refused.code or limit < size // 2:
            goes_on_as_told(place, refused)


def test_a_command_is_not_ended_since_its_process_could_not_be_recorded(tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW.replace("echo one", "sleep 0.2; echo one"))
    assert place.call("run").code == 75
    begin = len(place.journal.read_bytes().splitlines(keepends=True)[0])
    shutil.rmtree(place.state)
    place.write_log([])
    with limit_of_files(begin + 10):
        refused = place.call("run")
    assert place.log() == ["one"]
    assert "1 One ended with PASS, but this could not be recorded" in refused.last


@contextmanager
def small_disk(path: Path) -> Iterator[None]:
    """A file system of a few pages, enough for a whole journal."""
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=60k", "none", str(path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


LOOP = """\
## {N}. Do
```bash
echo {N} >> log; [ {N} -lt 90 ]
```
- PASS: GOTO NEXT
- FAIL: COMPLETE
"""


@pytest.mark.skipif(not shutil.which("mount") or os.geteuid() != 0, reason="only root can mount a file system")
def test_a_disk_that_is_full_in_the_middle_of_a_run(tmp_path: Path) -> None:
    place = Place(tmp_path, LOOP)
    with small_disk(tmp_path / ".rdc"):
        filler = tmp_path / ".rdc" / "filler"
        leave_free(filler, pages=3)  # the lock, the file that hides the folder from Git, a part of the journal
        refused = place.call("run")
        last = refused.last
        assert refused.code == 2
        assert re.match(rf"rdc: error: .*{STATE}.*journal", last), refused
        assert 5 < len(place.log()) < 90
        filler.unlink()
        decision = re.search(r"--assume \w+", last)
        resumed = place.call("resume", *(decision[0].split() if decision else []))
        assert resumed.code == 0, (refused, resumed)
    assert place.log() == [str(number) for number in range(1, 91)]


def leave_free(filler: Path, pages: int) -> None:
    with filler.open("wb", buffering=0) as stream, suppress(OSError):
        while True:
            stream.write(bytes(4096))
    os.truncate(filler, filler.stat().st_size - pages * 4096)


@pytest.mark.parametrize("end", ["", "nowhere", "main", "/proc"], ids=["file", "dangling", "circle", "unwritable"])
def test_a_state_directory_that_is_a_file_or_a_link_is_refused(end: str, tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW)
    place.state.parent.mkdir()
    if end:
        place.state.symlink_to(end)
    else:
        place.state.touch()
    before = sorted(tmp_path.rglob("*"))
    refused = place.call("run")
    assert (refused.code, "Traceback" in refused.err) == (2, False)
    hint = "choose another directory with --state-dir|lock|is a link"
    assert re.match(f"rdc: error: .*{STATE}.*({hint})", refused.last), refused
    assert place.log() == []
    assert [path for path in sorted(tmp_path.rglob("*")) if "proc" not in path.parts] == before
    assert place.call("resume").code == 2


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_journal_that_is_no_file_is_refused_at_once_and_can_be_put_away(kind: str, tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW)
    place.state.mkdir(parents=True)
    if kind == "pipe":
        os.mkfifo(place.journal)
    else:
        place.journal.mkdir()
    for verb in ("run", "resume", "status"):
        refused = place.call(verb).exits(2)
        assert ".rdc/main/journal" in refused.last
        assert "Traceback" not in refused.err
    assert place.call("reset").code == 0
    assert place.call(*run_words(place, "run")).code == 0


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"not a number\n", b"../../x\n", b"99999999999999999999\n"])
def test_a_damaged_lock_is_taken_over_or_told(content: bytes, tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW)
    place.state.mkdir(parents=True)
    (place.state / "lock").write_bytes(content)
    done = place.call(*run_words(place, "run"))
    if done.code:
        assert ".rdc/main/lock; if no run is in progress, remove it" in done.last
        (place.state / "lock").unlink()
        done = place.call(*run_words(place, "run"))
    assert done.code == 0, done
    assert place.log() == ["one", "three"]


WRITERS = {
    "compile": ("compile", "deploy.runbook.md", "--to", "python", "-o", "{out}"),
    "graph": ("graph", "deploy.runbook.md", "--format", "dot", "-o", "{out}"),
    "diff": ("diff", "deploy.runbook.md", "other.runbook.md", "--format", "dot", "-o", "{out}"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_old_output_and_nothing_else(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document(tmp_path, "deploy.runbook.md", GOOD)
    document(tmp_path, "other.runbook.md", GOOD + "\n## 3. More\n\n```bash\ntrue\n```\n")
    out = tmp_path / "out"
    words = [word.format(out="out") for word in WRITERS[name]]
    assert call(*words, cwd=tmp_path).code == 0
    out.write_bytes(old := out.read_bytes() + b"\n# older\n")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # of that it would keep what fits, and fail on it later
    with limit_of_files(100):
        refused = call(*words, cwd=tmp_path)
    assert refused.code == 1
    assert "cannot write out: File too large" in refused.err
    assert out.read_bytes() == old
    assert sorted(tmp_path.rglob("*")) == before
    if Path("/proc/self").exists():  # a folder that even root cannot write
        (tmp_path / "fixed").symlink_to("/proc", target_is_directory=True)
        refused = call(*[word.format(out="fixed/out") for word in WRITERS[name]], cwd=tmp_path)
        assert (refused.code, "cannot write fixed" in refused.err) == (1, True)
        assert "internal error" not in refused.err
