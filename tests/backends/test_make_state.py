"""The state of a Makefile's run: two runs at once, disks and signals, and state that vanishes."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.backends.makefiles import (
    BOTH,
    FLOW,
    PATIENCE,
    PLAIN,
    SLOW_FLOW,
    Place,
    environment,
    here,
    kill_all,
    last_line,
)

pytestmark = pytest.mark.share(3)

# --- Two runs at once -------------------------------------------------------------------------------------------------


@BOTH
def test_a_second_run_is_refused_and_the_first_goes_on(
    document: str, tmp_path: Path, ended: list[subprocess.Popen[str]]
) -> None:
    place = Place(tmp_path, document)
    ended.append(place.start())
    for verb in ("run", "resume", "clean"):
        second = place.make(verb)
        assert second.returncode
        assert last_line(second).startswith("rdc: error: another process is using")
    os.kill(int(place.lines("began")[0]), signal.SIGKILL)  # its sleep alone
    said, _ = ended[0].communicate(timeout=PATIENCE)
    assert said.splitlines()[-1] == "rdc: STOP"
    assert place.lines("log") == ["build"]
    assert not (place.state / "lock").exists()


@pytest.mark.parametrize("document", [PLAIN, FLOW], ids=["plain", "flow"])
def test_a_lock_of_a_dead_process_is_taken_over(document: str, tmp_path: Path) -> None:
    place = Place(tmp_path, document)
    dead = subprocess.Popen(["true"])
    dead.wait()
    place.make()
    place.make("clean")
    (place.state / "lock").symlink_to(f"{dead.pid}-1 {here()}")
    assert "another run" not in place.make().stdout
    assert place.lines("log").count("build") == 2
    assert [path.name for path in place.state.iterdir() if path.name.startswith("lock")] == []


def test_only_one_of_many_takes_over_a_lock_that_was_left_behind(tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN.replace("echo build", "sleep 0.7; echo build"))
    dead = subprocess.Popen(["true"])
    dead.wait()
    (tmp_path / ".rdc" / "main.make").mkdir(parents=True)
    (place.state / "lock").symlink_to(f"{dead.pid}-1 {here()}")
    many = [
        subprocess.Popen(["make"], cwd=tmp_path, env=environment({}), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(8)
    ]
    said = [process.communicate(timeout=PATIENCE)[0] for process in many]
    journal = (place.state / "journal").read_text(encoding="utf-8")
    runs = 1 + len(list((place.state / "history").glob("*")))
    assert journal.startswith("1 run ")
    assert len(re.findall("^[0-9]+ run ", journal, re.MULTILINE)) == 1
    assert place.lines("log") == ["build", "ship"] * runs
    assert sum(b"COMPLETE" in line for line in said) == runs


# --- Trouble ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("document", [PLAIN, FLOW], ids=["plain", "flow"])
def test_a_state_that_cannot_be_written_is_said_clearly(document: str, tmp_path: Path) -> None:
    place = Place(tmp_path, document)
    (place.folder / ".rdc").touch()  # where the state directory should be
    refused = place.make()
    assert refused.returncode
    assert re.match(r"rdc: error: cannot write the state( directory)?", last_line(refused))
    noise = [
        line
        for line in refused.stderr.splitlines()
        if not line.startswith(("rdc: cannot write the state", "make: ***"))
    ]
    assert noise == []
    assert place.lines("log") == []


@BOTH
def test_a_line_that_was_not_written_to_its_end_counts_as_not_there(
    document: str, tmp_path: Path, ended: list[subprocess.Popen[str]]
) -> None:
    place = Place(tmp_path, document)
    ended.append(place.start())
    kill_all(ended[0].pid)
    ended[0].communicate(timeout=PATIENCE)
    (tmp_path / "quick").touch()
    journal = (place.state / "journal").read_text(encoding="utf-8")
    number, _, step = journal.splitlines()[-1].split()[:3]
    (place.state / "journal").write_text(f"{journal}{int(number) + 1} end {step} pa", encoding="utf-8")
    assert last_line(place.make("resume")) == "rdc: WAITING 2"
    assert (place.state / "journal").read_text(encoding="utf-8") == journal
    assert place.make("resume", "ASSUME=pass").returncode == 0
    assert place.lines("log") == ["build", "ship"]
    passed = [line for line in place.make("status").stdout.splitlines() if line.startswith("pass ")]
    assert ["as assumed" in line for line in passed] == [False, True, False]


@pytest.mark.skipif(not shutil.which("busybox"), reason="there is no busybox here")
def test_an_awk_that_does_not_say_that_the_disk_is_full_takes_nothing_from_the_journal(tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW)
    place.make()
    with (place.state / "journal").open("a", encoding="utf-8") as journal:
        journal.write("5 en")
    before = (place.state / "journal").read_bytes()
    shim = tmp_path / "bin"
    shim.mkdir()
    (shim / "awk").write_text('#!/bin/sh\nexec busybox awk "$@"\n', encoding="utf-8")
    (shim / "awk").chmod(0o755)
    refused = subprocess.run(
        ["make", "resume"],
        cwd=tmp_path,
        env=environment({"PATH": f"{shim}:{os.environ['PATH']}"}),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (150, 150)),  # a disk with so much room
        restore_signals=False,
        capture_output=True,
        check=False,
        text=True,
    )
    assert last_line(refused).startswith("rdc: error: cannot write the state")
    assert (place.state / "journal").read_bytes() == before
    assert last_line(place.make("resume")) == "rdc: WAITING 2"


@pytest.mark.parametrize("flag", ["-i", "-k", "-j4"])
def test_no_flag_of_make_makes_it_go_on_after_a_stop(flag: str, tmp_path: Path) -> None:
    """With `-i` make itself ends with 0, whatever a Makefile does."""
    place = Place(tmp_path, PLAIN.replace("echo build", "exit 1; echo build"))
    done = place.make(flag)
    assert flag == "-i" or done.returncode
    assert "COMPLETE" not in done.stdout
    assert place.stands() == "fail 1\nover: STOP\n"
    assert place.lines("log") == []


# --- Signals ----------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_was_interrupted_goes_on_as_one_decides(
    document: str, number: signal.Signals, tmp_path: Path, ended: list[subprocess.Popen[str]]
) -> None:
    place = Place(tmp_path, document)
    ended.append(place.start())
    os.killpg(ended[0].pid, number)
    said, shown = ended[0].communicate(timeout=PATIENCE)
    assert ended[0].returncode
    assert said.splitlines()[-1] == "rdc: INTERRUPTED 2"
    assert "\nrdc: to continue: make resume\n" in shown
    undecided = place.make("resume")
    assert undecided.returncode
    assert last_line(undecided) == "rdc: WAITING 2"
    assert place.lines("log") == ["build"]
    (tmp_path / "began").unlink()
    (tmp_path / "quick").touch()
    decision = "RERUN=1" if number == signal.SIGINT else "ASSUME=pass"
    done = place.make("resume", decision)
    assert done.returncode == 0
    assert last_line(done).startswith("rdc: COMPLETE")
    assert bool(place.lines("began")) == (decision == "RERUN=1")
    assert place.lines("log") == ["build", "ship"]


@pytest.mark.xfail(reason="the driver of native Makefiles gives the command no time (Plain targets)", strict=True)
def test_a_command_cleans_up_after_a_signal(tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    command = "trap 'sleep 0.3; echo safe >> log; exit 1' INT\necho $$ > began; while :; do sleep 0.05; done"
    text = f"# A\n\n## 1. Move\n\n```bash\n{command}\n```\n\n- FAIL: GOTO 2\n\n## 2. Back\n\n```bash\ntrue\n```\n"
    place = Place(tmp_path, text)
    ended.append(place.start())
    os.killpg(ended[0].pid, signal.SIGINT)
    said, _ = ended[0].communicate(timeout=PATIENCE)
    assert said.splitlines()[-1] == "rdc: INTERRUPTED 1"
    assert place.lines("log") == ["safe"]


@BOTH
def test_a_run_that_was_interrupted_can_be_taken_for_failed(
    document: str, tmp_path: Path, ended: list[subprocess.Popen[str]]
) -> None:
    place = Place(tmp_path, document)
    ended.append(place.start())
    os.killpg(ended[0].pid, signal.SIGTERM)
    ended[0].communicate(timeout=PATIENCE)
    assert place.make("resume", "ASSUME=perhaps").returncode
    done = place.make("resume", "ASSUME=fail")
    assert done.returncode
    assert last_line(done) == "rdc: STOP"
    assert place.lines("log") == ["build"]


# --- State that vanishes ----------------------------------------------------------------------------------------------

GONE = {
    "plain": "# Plain\n\n## 1. Build\n\n```bash\necho build >> log\n```\n\n## 2. Clean\n\n```bash\n{}\n```\n\n"
    "## 3. Ship\n\n```bash\necho ship >> log\n```\n",
}
GONE["flow"] = GONE["plain"] + '\n- PASS: COMPLETE "Done"\n'


@pytest.mark.parametrize("document", GONE.values(), ids=GONE)
@pytest.mark.parametrize(
    "command", ["rm -rf .rdc", "rm .rdc/*/journal", "git init -q . && git clean -qfdx -e Makefile -e log"]
)
def test_state_that_a_command_removes_ends_the_run(document: str, command: str, tmp_path: Path) -> None:
    place = Place(tmp_path, document.format(command))
    done = place.make()
    assert done.returncode
    said = "error: step 2 ended with PASS, and this is lost: .rdc/main.make was removed or replaced during the run"
    assert last_line(done) == f"rdc: {said}"
    assert "make resume" in done.stderr
    assert place.lines("log") == ["build"]


def test_a_command_that_removes_the_makefile_too_is_named(tmp_path: Path) -> None:
    place = Place(tmp_path, GONE["flow"].format("rm -rf .rdc Makefile"))
    done = place.make()
    assert last_line(done).startswith("rdc: error: step 2 ended with PASS, and this is lost")
    assert "No such file" not in done.stderr


@pytest.mark.parametrize("document", GONE.values(), ids=GONE)
def test_a_command_that_cannot_be_started_has_no_outcome(document: str, tmp_path: Path) -> None:
    """As where the environment is too large: a transition for FAIL would do what nobody wanted."""
    place = Place(tmp_path, document.format("# " + "x" * 100_000 + "\necho clean >> log"))
    used = sum(len(name) + len(value) + 10 for name, value in os.environb.items())
    room = os.sysconf("SC_ARG_MAX") - used - 50_000
    refused = place.make(**{f"LARGE{number}": "x" * 9_980 for number in range(room // 10_000)})
    assert last_line(refused) == "rdc: error: step 2 has no outcome: cannot start bash"
    assert "make resume RERUN=1" in refused.stderr
    assert place.lines("log") == ["build"]
    assert place.make("resume", "RERUN=1").returncode == 0
    assert place.lines("log") == ["build", "clean", "ship"]


def test_exit_code_126_of_a_command_is_a_failure(tmp_path: Path) -> None:
    place = Place(tmp_path, GONE["flow"].format("exit 126"))
    assert last_line(place.make()) == "rdc: STOP"


def test_a_run_whose_state_was_removed_leaves_that_of_another_run_alone(tmp_path: Path) -> None:
    place = Place(tmp_path, SLOW_FLOW.replace("exec sleep 30", "until [ -e go ]; do sleep 0.02; done"))
    process = place.start()
    shutil.rmtree(tmp_path / ".rdc")
    (tmp_path / "began").unlink()
    second = place.start()
    (tmp_path / "go").touch()
    results = {one.communicate(timeout=PATIENCE)[0].splitlines()[-1]: one.returncode for one in (process, second)}
    lost = "rdc: error: step 2 ended with PASS, and this is lost: .rdc/main.make was removed or replaced during the run"
    assert results == {lost: 2, "rdc: COMPLETE Done": 0}
    assert place.lines("log") == ["build", "build", "ship"]
    assert place.stands() == "pass 1\npass 2\npass 3\nover: COMPLETE\n"


def test_git_takes_no_state(tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN)
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    assert place.make().returncode == 0
    words = ["git", "status", "--porcelain", "--untracked-files=all"]
    shown = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "Makefile" in shown
    assert ".rdc" not in shown


def test_an_answer_is_shown_with_the_word_of_its_question(flow: Place) -> None:
    (flow.folder / "answers").write_text("fail\n", encoding="utf-8")
    done = flow.make("ANSWERS=answers")
    words = [line.split()[0] for line in done.stderr.splitlines() if line.startswith("    ")]
    assert words == ["PASS", "NO"]
