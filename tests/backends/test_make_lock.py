"""Who holds a run of the Makefile: signals to make alone, commands that outlive their driver, other places."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.backends.makefiles import (
    BOTH,
    PATIENCE,
    PLAIN,
    SLOW_FLOW,
    Place,
    children,
    environment,
    here,
    last_line,
)


def slow_command(place: Place) -> int:
    """The number of the command that runs."""
    return int(place.lines("began")[0])


def is_alive(pid: int) -> bool:
    """Whether a process lives."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(pid: int, *, lives: bool = False) -> None:
    """Wait until a process has ended."""
    deadline = time.monotonic() + PATIENCE
    while is_alive(pid) != lives:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def kill_with_driver(make: subprocess.Popen[str]) -> None:
    """Kill make and its driver, and wait until both are gone; the command of the driver lives on."""
    (driver,) = children(make.pid)
    for pid in (make.pid, driver):
        os.kill(pid, signal.SIGKILL)
    make.wait(PATIENCE)
    wait_until(driver)


@BOTH
def test_a_signal_to_make_alone_ends_the_command_and_the_run_is_resumed(
    document: str, tmp_path: Path, ended: list[subprocess.Popen[str]]
) -> None:
    place = Place(tmp_path, document)
    ended.append(place.start())
    os.kill(ended[0].pid, signal.SIGTERM)
    said, _ = ended[0].communicate(timeout=PATIENCE)
    assert said.splitlines()[-1] == "rdc: INTERRUPTED 2"
    assert not is_alive(slow_command(place))
    assert not (place.state / "lock").is_symlink()
    (tmp_path / "began").unlink()
    (tmp_path / "quick").touch()
    assert place.make("resume", "RERUN=1").returncode == 0
    assert place.lines("log") == ["build", "ship"]
    assert len(place.lines("began")) == 1


@BOTH
def test_the_lock_outlives_a_make_that_was_killed(
    document: str, tmp_path: Path, ended: list[subprocess.Popen[str]]
) -> None:
    place = Place(tmp_path, document.replace("exec sleep 30", "until [ -e go ]; do sleep 0.02; done"))
    ended.append(place.start())
    (driver,) = children(ended[0].pid)
    os.kill(ended[0].pid, signal.SIGKILL)
    for words in (["resume", "RERUN=1"], ["resume", "ASSUME=pass"], ["run"], ["clean"]):
        refused = place.make(*words)
        assert (
            last_line(refused)
            == f"rdc: error: another process is using .rdc/main.make (pid {driver}); wait until it ends"
        )
    assert place.make("unlock").returncode
    (tmp_path / "go").touch()
    wait_until(driver)
    place.make("resume", "RERUN=1")
    assert len(place.lines("began")) == 1, "the step ran once"
    assert place.lines("log") == ["build", "ship"]


@BOTH
def test_a_command_that_outlived_its_driver_is_not_assumed_and_is_ended_before_it_runs_again(
    document: str, tmp_path: Path, ended: list[subprocess.Popen[str]]
) -> None:
    place = Place(tmp_path, document)
    ended.append(place.start())
    command = slow_command(place)
    kill_with_driver(ended[0])
    try:
        still = f"step 2: its command still runs (pid {command})"
        again = "stop it and run it again: make resume RERUN=1"
        assumed = place.make("resume", "ASSUME=pass")
        assert last_line(assumed) == f"rdc: error: {still}; wait until it ends, or {again}"
        waits = place.make("resume")
        assert last_line(waits) == "rdc: WAITING 2"
        assert f"rdc: {still}; wait until it ends, or {again}\n" in waits.stderr
        assert place.make("status").stdout.endswith(f", its command still runs (pid {command})\n")
        assert is_alive(command)
        (tmp_path / "quick").touch()
        rerun = place.make("resume", "RERUN=1")
    finally:
        with suppress(ProcessLookupError):
            os.kill(command, signal.SIGKILL)
    assert f"rdc: {still}; ending it\n" in rerun.stderr
    assert (rerun.returncode, is_alive(command)) == (0, False)
    assert slow_command(place) != command
    assert place.lines("log") == ["build", "ship"]


def without_proc(place: Place) -> None:
    """Let a Makefile run as on macOS: without /proc and setsid."""
    path = place.folder / "Makefile"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("/proc/", "/none/").replace("v setsid", "v /none"), encoding="utf-8")
    assert len(text) == len(path.read_text(encoding="utf-8")) + len("setsid") - len("/none")


@pytest.fixture(params=["/bin/sh", shutil.which("bash") or "/bin/bash"])
def left(request: pytest.FixtureRequest, tmp_path: Path, ended: list[subprocess.Popen[str]]) -> tuple[Place, str]:
    """A run whose driver was killed without /proc, while its command lives, and the shell that make is given."""
    place, shell = Place(tmp_path, SLOW_FLOW), f"SHELL={request.param}"
    without_proc(place)
    ended.append(place.start(shell))
    kill_with_driver(ended[0])
    return place, shell


@pytest.mark.skipif(not shutil.which("ps"), reason="ps is not here")
def test_without_proc_a_command_that_outlived_its_driver_is_ended_before_it_runs_again(
    left: tuple[Place, str],
) -> None:
    place, shell = left
    command = slow_command(place)
    try:
        assert last_line(place.make(shell, "resume")) == "rdc: WAITING 2"
        assumed = last_line(place.make(shell, "resume", "ASSUME=pass"))
        assert assumed.startswith(f"rdc: error: step 2: its command still runs (pid {command})")
        assert is_alive(command)
        (place.folder / "quick").touch()
        rerun = place.make(shell, "resume", "RERUN=1")
    finally:
        with suppress(ProcessLookupError):
            os.kill(command, signal.SIGKILL)
    assert f"(pid {command}); ending it\n" in rerun.stderr
    assert (rerun.returncode, is_alive(command)) == (0, False)
    assert place.lines("log") == ["build", "ship"]
    assert "Done" not in rerun.stderr.replace("COMPLETE Done", "")


@pytest.mark.skipif(not shutil.which("ps"), reason="ps is not here")
def test_without_proc_a_process_that_has_the_number_of_one_that_is_gone_is_left_alone(left: tuple[Place, str]) -> None:
    place, shell = left
    os.kill(slow_command(place), signal.SIGKILL)
    other = subprocess.Popen(["sleep", "60"])
    try:
        path = place.state / "process"
        count, where, _, began = path.read_text(encoding="utf-8").split()
        assert began[:3] in {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
        path.write_text(f"{count} {where} {other.pid} {began}0\n", encoding="utf-8")
        (place.folder / "quick").touch()
        assert place.make(shell, "resume", "RERUN=1").returncode == 0
        assert is_alive(other.pid)
    finally:
        other.kill()
        other.wait()


def test_a_command_that_cannot_be_ended_is_not_run_again(tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    place = Place(tmp_path, SLOW_FLOW)
    ended.append(place.start())
    command = slow_command(place)
    kill_with_driver(ended[0])
    path = tmp_path / "Makefile"
    text = path.read_text(encoding="utf-8")
    powerless = text.replace("\nload\n", "\nload\nkill() { :; }\nsleep() { :; }\n")
    path.write_text(powerless, encoding="utf-8")
    try:
        refused = place.make("resume", "RERUN=1")
        assert is_alive(command)
    finally:
        os.kill(command, signal.SIGKILL)
    assert last_line(refused) == f"rdc: error: step 2: its command still runs (pid {command}), and it cannot be ended"
    assert slow_command(place) == command


@pytest.mark.parametrize("pid", ["0", "1", "-1", "01"])
def test_what_left_no_process_of_its_own_is_not_ended(pid: str, tmp_path: Path) -> None:
    """These numbers would send a signal to the group that asks, or to everything."""
    place = Place(tmp_path, PLAIN.replace("echo build", "[ -e again ] || { touch again; kill -9 $PPID; }; echo build"))
    place.make()
    count = len((place.state / "journal").read_text(encoding="utf-8").splitlines())
    (place.state / "process").write_text(f"{count} {here()} {pid} (sh) S{' 0' * 30}\n", encoding="utf-8")
    text = (tmp_path / "Makefile").read_text(encoding="utf-8")
    # The driver sends no signals here, whatever it would do.
    harmless = text.replace("\nload\n", '\nload\nkill() { [ "$1" != -0 ] || command kill "$@"; }\n')
    assert harmless != text
    (tmp_path / "Makefile").write_text(harmless, encoding="utf-8")
    assert "still runs" not in place.make("status").stdout
    done = place.make("resume", "RERUN=1")
    assert "ending it" not in done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("elsewhere", ["other-host pid__4026531836_", "{host} pid__1_"], ids=["machine", "container"])
def test_a_lock_of_another_place_is_never_judged_dead(elsewhere: str, tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN)
    (tmp_path / ".rdc" / "main.make").mkdir(parents=True)
    where = re.sub("[^A-Za-z0-9.-]", "_", elsewhere.format(host=os.uname().nodename))
    (place.state / "lock").symlink_to(f"99999999-1 {where}")
    refused = place.make()
    assert last_line(refused).startswith(
        f"rdc: error: another process is using .rdc/main.make (pid 99999999 on another machine, {where}); "
    )
    assert last_line(refused).endswith("; if it no longer runs: make unlock")
    assert place.lines("log") == []
    assert place.make("unlock").returncode == 0
    assert place.make().returncode == 0


def test_two_namespaces_of_processes_do_not_run_at_once(tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    """As two containers that share a volume."""
    unshare = [shutil.which("unshare") or "", "--pid", "--fork", "--mount-proc"]
    if not unshare[0] or subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no other namespace can be made here")
    place = Place(tmp_path, SLOW_FLOW)
    ended.append(place.start())
    words = [*unshare, "make", "resume", "RERUN=1"]
    other = subprocess.run(words, cwd=tmp_path, env=environment({}), capture_output=True, check=False, text=True)
    assert other.returncode
    assert "rdc: error: another process is using" in other.stdout
    assert "on another machine" in other.stdout
    assert len(place.lines("began")) == 1


def test_a_lock_names_process_machine_and_namespace(tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    place = Place(tmp_path, SLOW_FLOW)
    ended.append(place.start())
    (driver,) = children(ended[0].pid)
    number, _, where = str((place.state / "lock").readlink()).partition(" ")
    assert (number.split("-")[0], where) == (str(driver), here())


def test_no_process_is_killed_whose_start_is_not_recorded(tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    place = Place(tmp_path, SLOW_FLOW)
    ended.append(place.start())
    command = slow_command(place)
    kill_with_driver(ended[0])
    record = place.state / "process"
    whole = record.read_text()
    (tmp_path / "quick").touch()
    try:
        record.write_text(re.sub(r"[0-9]+\n$", "0\n", whole))  # a file in a repository can fit any process like this
        said = place.make("resume", "RERUN=1")
        assert "its start is not recorded; look, and end it yourself" in last_line(said)
        assert (said.returncode, is_alive(command)) == (2, True)
        record.write_text(whole)
        assert (place.make("resume", "RERUN=1").returncode, is_alive(command)) == (0, False)
    finally:
        with suppress(ProcessLookupError):
            os.kill(command, signal.SIGKILL)
