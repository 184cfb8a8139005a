"""State that can't be written, or that a command removes, moves or replaces: no outcome is lost (R1)."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.runtime_shim.operator import codes, waiting
from tests.support.process import Place, Table, ask, program, shell

pytestmark = pytest.mark.process

REVIEW = program({"1": shell("echo one >> log", "2"), "2": ask("3"), "3": shell("echo three >> log", "COMPLETE")})


def test_paths_that_cannot_be_used(tmp_path: Path) -> None:
    place = Place(tmp_path, REVIEW)
    (tmp_path / "file").write_text("")
    for option in ("--events", "--answers", "--state-dir"):
        result = place.run("run", option, "file/below")
        assert (result.code, len(result.err.splitlines())) == (2, 1)
        assert result.err.startswith("rdc: error: file/below")
    assert place.text("log") == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_a_run_whose_first_event_cannot_be_written_has_begun_no_step(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("echo one >> log", "COMPLETE")}))
    refused = place.run("run", "--events", "/dev/full")
    assert (refused.code, "/dev/full: cannot write the event" in refused.last) == (2, True)
    assert "READY at 1" in place.run("status").out
    assert place.run("resume").code == 0
    assert place.text("log") == "one\n"


def test_a_step_that_could_not_be_announced_has_not_begun(tmp_path: Path) -> None:
    """Nobody is asked about a command that was never started."""
    steps = {"1": shell("until test -e go; do sleep 0.02; done", "2"), "2": shell("echo two >> log", "COMPLETE")}
    place = Place(tmp_path, program(steps))
    os.mkfifo(tmp_path / "pipe")
    process = place.start("run", "--events", "pipe")
    with (tmp_path / "pipe").open() as reader:
        while "step_started" not in reader.readline():
            pass
    (tmp_path / "go").touch()
    _, err = process.communicate(timeout=30)
    assert process.returncode == 2
    assert err.splitlines()[-1] == "rdc: error: pipe: cannot write the event step_finished: Broken pipe"
    assert "READY at 2" in place.run("status").out
    assert place.run("resume").code == 0
    assert place.walk() == ["1 pass", "2 pass"]


def test_answer_that_cannot_be_recorded_is_to_be_given_again(tmp_path: Path) -> None:
    place = waiting(tmp_path, REVIEW)
    size = place.journal.stat().st_size + 20
    place.hook(f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))")
    result = place.run("answer", "2", "no")
    assert result.code == 2
    assert "2 Review ended with FAIL, but this could not be recorded" in result.last
    assert result.last.endswith("deploy.py answer 2 fail")


def test_a_notice_that_cannot_be_recorded_changes_no_end(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("true", "COMPLETE")}))
    place.hook("import os\nwrite = os.write\nos.write = lambda file, line: b'sent' not in line and write(file, line)")
    ended = place.run("run", "--notify", "cat > notice", "--events", "events")
    assert (ended.code, ended.last) == (0, "rdc: COMPLETE all done")
    assert ("run_finished" in place.text("notice"), "run_finished" in place.text("events")) == (True, True)


@pytest.mark.parametrize("call", ["os.mkdir", "fcntl.flock", "os.fsync", "os.ftruncate", "os.pwrite"])
def test_errors_of_the_system_name_the_file(tmp_path: Path, call: str) -> None:
    place = Place(tmp_path, REVIEW)
    path = ", str(file)" if call == "os.mkdir" else ""
    place.hook(f"import fcntl, os\ndef fail(file, *_, **__): raise OSError(30, 'Broken'{path})\n{call} = fail")
    result = place.run("run")
    assert (result.code, len(result.err.splitlines())) == (2, 1)
    assert re.fullmatch(r"rdc: error: \S+: Broken; choose another directory with --state-dir", result.last), result.last


def test_no_other_directory_is_advised_to_a_run_and_an_empty_journal_is_no_run(tmp_path: Path) -> None:
    place = waiting(tmp_path, REVIEW)
    place.hook("import fcntl\ndef fail(*_): raise OSError(30, 'Broken')\nif len(sys.argv) > 2: fcntl.flock = fail")
    for words in ("answer 2 pass", "resume --adopt", "reset --state-dir .rdc/deploy"):
        assert place.run(*words.split()).last == "rdc: error: .rdc/deploy/lock: Broken"
    place.journal.write_bytes(b"")
    assert "No run has started here." in place.run("status").out


def with_command(command: str) -> Table:
    """A program whose second step does something to the state."""
    steps = {
        "1": shell("echo one >> log", "2"),
        "2": {**shell(command, "3"), "title": "Clean"},
        "3": shell("echo three >> log", "COMPLETE"),
    }
    return program(steps)


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf .rdc",
        "rm -rf .rdc/deploy",
        "rm .rdc/deploy/journal",
        "rm .rdc/deploy/lock",
        "cp .rdc/deploy/journal copy; mv copy .rdc/deploy/journal",
        "git init -q . && git clean -qfdx -e deploy.py -e log",
    ],
)
def test_state_that_a_command_removes_ends_the_run_with_the_remedy(tmp_path: Path, command: str) -> None:
    place = Place(tmp_path, with_command(command))
    result = place.run("run", "--events", "/dev/null")
    assert result.code == 2
    assert result.last == (
        "rdc: error: .rdc/deploy was removed or replaced during the run; "
        "2 Clean ended with PASS, but this is not recorded"
    )
    *_, moved, lost, elsewhere, _ = result.err.splitlines()
    assert moved.endswith(f"{place.script} resume")
    assert lost.endswith(f"{place.script} run")
    assert "--state-dir" in elsewhere
    assert place.text("log") == "one\n", "nothing runs that cannot be recorded"


def test_a_folder_that_was_moved_away_can_be_put_back(tmp_path: Path) -> None:
    place = Place(tmp_path, with_command("mv .rdc aside"))
    assert place.run("run").code == 2
    (tmp_path / "aside").rename(tmp_path / ".rdc")
    assert place.run("resume").code == 0
    assert place.walk() == ["1 pass", "2 pass", "3 pass"]


def test_a_run_in_a_copied_folder_names_the_folder_where_it_started(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    table = program({"1": ask("2"), "2": shell("echo two >> log", "COMPLETE")})
    place = waiting(tmp_path / "old", table)
    (tmp_path / "old").rename(tmp_path / "new")
    result = Place(tmp_path / "new", table).run("resume")
    problem = f"this run started in {tmp_path / 'old'}, which does not exist; move the folder back"
    assert (result.code, result.last) == (2, f"rdc: error: {problem}")
    (tmp_path / "new").rename(tmp_path / "old")
    assert codes(place, "answer 1 pass", "resume") == [0, 0]
    assert place.text("log") == "two\n"


def test_a_run_whose_state_was_removed_does_not_run_beside_a_second_one(tmp_path: Path) -> None:
    command = "echo two >> log; test -e again || { rm -rf .rdc; touch again; until test -e go; do sleep 0.02; done; }"
    place = Place(tmp_path, with_command(command))
    first = place.start("run")
    place.wait_for("log")
    while not (tmp_path / "again").exists():
        pass
    assert place.run("run").code == 0
    (tmp_path / "go").touch()
    _, err = first.communicate(timeout=30)
    assert first.returncode == 2, err
    assert place.text("log").splitlines() == ["one", "two", "one", "two", "three"]
    assert place.walk() == ["1 pass", "2 pass", "3 pass"], "the second run has its journal to itself"


def test_state_that_vanishes_while_a_question_is_shown(tmp_path: Path) -> None:
    place = Place(tmp_path, REVIEW)
    place.hook(
        "import shutil, runtime_shim.engine.session as t\nannounce = t.Session.announce\n"
        "def gone(self, name, *rest):\n    announce(self, name, *rest)\n    '2' == name and shutil.rmtree('.rdc')\n"
        "t.Session.announce = gone"
    )
    result = place.run("run")
    message = "rdc: error: .rdc/deploy was removed or replaced during the run; 2 Review was not started"
    assert (result.code, result.last) == (2, message)


def test_git_takes_no_state(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("git add -A && git ls-files > staged", "COMPLETE")}))
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    assert place.run("run").code == 0
    assert place.text("staged") == "deploy.py\n"
    assert place.run("run", "--state-dir", "stored/here").code == 0
    words = ["git", "status", "--porcelain", "--untracked-files=all"]
    shown = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert not re.search(r"\.rdc|stored", shown)


def test_a_folder_or_ignore_file_of_the_user_stays_visible_to_git(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("true", "COMPLETE")}))
    assert place.run("run", "--state-dir", ".").code == 0
    assert not (tmp_path / ".gitignore").exists()
    (tmp_path / ".rdc").mkdir()
    (tmp_path / ".rdc" / ".gitignore").write_text("deploy/lock\n")
    assert place.run("run").code == 0
    assert place.text(".rdc/.gitignore") == "deploy/lock\n"
    shutil.rmtree(tmp_path / ".rdc")
    assert place.run("run").code == 0
    assert place.text(".rdc/deploy/.gitignore") == "*\n"
