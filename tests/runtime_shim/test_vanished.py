"""State that a command removes, moves or replaces is noticed before the next step (R1), and Git never sees it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.process import Place, Table, ask, program, shell

pytestmark = pytest.mark.process


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
    place = Place(tmp_path / "old", program({"1": ask("2"), "2": shell("echo two >> log", "COMPLETE")}))
    assert place.run("run").code == 75
    (tmp_path / "old").rename(tmp_path / "new")
    moved = Place(tmp_path / "new", program({"1": ask("2"), "2": shell("echo two >> log", "COMPLETE")}))
    result = moved.run("resume")
    problem = f"this run started in {tmp_path / 'old'}, which does not exist; move the folder back"
    assert (result.code, result.last) == (2, f"rdc: error: {problem}")
    (tmp_path / "new").rename(tmp_path / "old")
    assert place.run("answer", "1", "pass").code == 0
    assert place.run("resume").code == 0
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
    place = Place(tmp_path, program({"1": shell("echo one >> log", "2"), "2": ask("COMPLETE")}))
    hook = (
        "import shutil, runtime_shim.engine.session as t\nannounce = t.Session.announce\n"
        "def gone(self, name, *rest):\n    announce(self, name, *rest)\n    '2' == name and shutil.rmtree('.rdc')\n"
        "t.Session.announce = gone\nPROGRAM ="
    )
    place.script.write_text(place.script.read_text().replace("PROGRAM =", hook, 1))
    result = place.run("run")
    assert (result.code, result.last) == (
        2,
        "rdc: error: .rdc/deploy was removed or replaced during the run; 2 Review was not started",
    )


def test_a_run_goes_on_where_another_folder_is_the_current_one(tmp_path: Path) -> None:
    """The folder is known by an absolute path: a resumed run goes back to where it was begun."""
    place = Place(tmp_path, program({"1": ask("2"), "2": shell("echo two >> log", "COMPLETE")}))
    state = tmp_path / "elsewhere"
    state.mkdir()
    place.run("run", "--state-dir", "elsewhere/state")
    (tmp_path / "answers").write_text("pass\n")
    result = place.run("resume", "--state-dir", "state", "--answers", "../answers", cwd=state)
    assert result.code == 0, result.err
    assert place.text("log") == "two\n"


def changes(folder: Path) -> list[str]:
    words = ["git", "status", "--porcelain", "--untracked-files=all"]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()


def test_git_takes_no_state(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("git add -A && git ls-files > staged", "COMPLETE")}))
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    assert place.run("run").code == 0
    assert place.text("staged") == "deploy.py\n"
    assert place.run("run", "--state-dir", "stored/here").code == 0
    assert not any(".rdc" in line or "stored" in line for line in changes(tmp_path))


def test_a_folder_that_was_there_stays_visible_to_git(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("true", "COMPLETE")}))
    assert place.run("run", "--state-dir", ".").code == 0
    assert not (tmp_path / ".gitignore").exists()


def test_an_ignore_file_of_the_user_stays(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("true", "COMPLETE")}))
    (tmp_path / ".rdc").mkdir()
    (tmp_path / ".rdc" / ".gitignore").write_text("deploy/lock\n")
    assert place.run("run").code == 0
    assert place.text(".rdc/.gitignore") == "deploy/lock\n"
    shutil.rmtree(tmp_path / ".rdc")
    assert place.run("run").code == 0
    assert place.text(".rdc/deploy/.gitignore") == "*\n"
