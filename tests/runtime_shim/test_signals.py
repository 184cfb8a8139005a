"""Runners that are killed, told to stop, and resumed (R1, R2, R5)."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runtime_shim.engine.journal import encode
from tests.runtime_shim.operator import at_terminal, codes, ended, talk
from tests.support.process import LOOP, Place, is_gone, kill, program, shell, wait_until

pytestmark = pytest.mark.process

HANG = "echo $$ > pid; sleep 1000 & echo $! > child; echo ready > ready; wait"
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")


def pids(place: Place) -> list[int]:
    return [int(place.wait_for(name)) for name in ("pid", "child")]


def test_signal_ends_the_command_and_all_of_its_group(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("echo >> one", "2"), "2": shell(HANG, "COMPLETE")}))
    runner = place.start("run", "--events", "events")
    place.wait_for("ready")
    runner.send_signal(signal.SIGINT)
    _, err = runner.communicate(timeout=20)
    assert runner.returncode == 130
    assert err.splitlines()[-1] == "rdc: INTERRUPTED 2 Work"
    assert f"{place.script} resume" in err.splitlines()[-2]
    assert all(is_gone(pid) for pid in pids(place))
    assert place.text("events").count("run_interrupted") == 1
    status = place.run("status")
    assert "INTERRUPTED at 2" in status.out
    choices = ["--rerun-interrupted", "--assume pass", "--assume fail"]
    assert status.out.splitlines()[-3:] == [f"  {place.script} resume {choice}" for choice in choices]
    undecided = place.run("resume")
    assert (undecided.code, undecided.last) == (75, "rdc: WAITING 2 Work")
    assert "--rerun-interrupted" in undecided.err
    assert "--assume pass" in undecided.err
    assert codes(place, "answer 2 pass", "resume --assume pass") == [2, 0]
    assert place.walk() == ["1 pass", "2 pass"]


def test_child_that_ignores_the_signal_is_killed_with_its_leader(tmp_path: Path) -> None:
    inner = "(trap '' TERM; sleep 1000 & echo $! > child; wait)"
    command = f"{inner} & echo $$ > pid; until test -s child; do sleep 0.02; done; echo ready > ready; wait"
    place = Place(tmp_path, program({"1": shell(command, "COMPLETE")}))
    runner = place.start("run")
    place.wait_for("ready")
    started = time.monotonic()
    assert ended(runner, signal.SIGTERM)[0] == 130
    assert time.monotonic() - started < 5
    wait_until(lambda: all(is_gone(pid) for pid in pids(place)), 5)


def test_leader_that_ignores_the_signal_is_killed_in_the_end(tmp_path: Path) -> None:
    command = "trap '' TERM INT; echo $$ > pid; while :; do sleep .1; done"
    place = Place(tmp_path, program({"1": shell(command, "COMPLETE")}))
    place.hook("import runtime_shim.tasks.process as s; s.PATIENCE = 1")
    runner = place.start("run")
    pid = int(place.wait_for("pid"))
    assert ended(runner, signal.SIGTERM)[0] == 130
    assert is_gone(pid)


@pytest.mark.parametrize("name", ["TERM", "QUIT"])
def test_command_that_passes_after_a_signal_is_the_last_before_a_resume(tmp_path: Path, name: str) -> None:
    trap = f"trap 'echo got >> got; sleep 0.1; exit 0' {name}"
    command = f"{trap}; echo ready > ready; while :; do sleep 0.05; done"
    place = Place(tmp_path, program({"1": shell(command, "2"), "2": shell("echo 2 >> log", "COMPLETE")}))
    runner = place.start("run")
    place.wait_for("ready")
    assert ended(runner, signal.Signals[f"SIG{name}"]) == (130, "rdc: INTERRUPTED 2 Work")
    assert (place.text("got"), place.walk(), place.text("log")) == ("got\n", ["1 pass"], "")
    assert "READY at 2" in place.run("status").out
    assert place.run("resume").code == 0
    assert place.text("log") == "2\n"


@pytest.mark.parametrize(
    ("sent", "got", "code"),
    [("INT", "INT", 1), ("TERM", "TERM", 143), ("HUP", "HUP", 3), ("QUIT", "QUIT", 1), ("USR1", "TERM", 3)],
)
def test_command_that_fails_after_a_signal_is_not_retried(tmp_path: Path, sent: str, got: str, code: int) -> None:
    traps = " ".join(f"trap 'echo {name} >> got; exit {code}' {name};" for name in ("INT", "TERM", "HUP", "QUIT"))
    command = f"{traps} echo $RDC_ATTEMPT >> log; while :; do sleep 0.05; done"
    place = Place(tmp_path, program({"1": {**LOOP["nodes"]["1"], "command": command}}, {"1 retries": 0}))
    runner = place.start("run")
    place.wait_for("log")
    assert ended(runner, signal.Signals[f"SIG{sent}"]) == (130, "rdc: INTERRUPTED 1 Work")
    assert (place.text("got"), place.walk(), place.text("log")) == (f"{got}\n", [], "1\n")


@pytest.mark.parametrize(("key", "name", "code"), [("\x03", "INT", 0), ("\x1c", "QUIT", 7), ("\x03", "INT", 1)])
def test_key_reaches_the_command_once_and_stops_the_run(tmp_path: Path, key: str, name: str, code: int) -> None:
    """The runner gets no signal: the command has the terminal."""
    trap = f"trap 'echo got >> got; sleep 0.1; exit {code}' {name}"
    command = f"{trap}; echo attempt; while :; do sleep 0.05; done"
    table = program(
        {"1": {**LOOP["nodes"]["1"], "command": command}, "2": shell("echo 2 >> log", "COMPLETE")}, {"1 retries": 0}
    )
    table["nodes"]["1"]["edges"] += [{"on": "pass", "go": "2", "says": "CONTINUE"}]
    place = Place(tmp_path, table)
    screen = at_terminal(place, "run")
    talk(screen, "attempt", key)
    at = "2" if code == 0 else "1"
    screen.expect(f"rdc: INTERRUPTED {at} Work")
    assert screen.close() == 130
    assert (place.text("got"), place.text("log")) == ("got\n", "")
    assert place.walk() == ["1 pass"] * (code == 0)


def test_command_has_as_much_time_as_it_needs_after_a_key(tmp_path: Path) -> None:
    command = "trap 'sleep 1.5; echo cleaned > cleaned; exit 1' INT QUIT; echo ready; while :; do sleep 0.05; done"
    place = Place(tmp_path, program({"1": shell(command, "COMPLETE")}))
    place.hook("import runtime_shim.tasks.process as s; s.PATIENCE = 1")
    screen = at_terminal(place, "run")
    talk(screen, "ready", "\x03")
    assert screen.close() == 130
    assert place.text("cleaned") == "cleaned\n"


def test_signal_to_a_runner_at_a_terminal_reaches_its_command_once(tmp_path: Path) -> None:
    command = "trap 'echo got >> got; sleep 0.1; exit 1' TERM; echo ready; while :; do sleep 0.05; done"
    place = Place(tmp_path, program({"1": shell(command, "COMPLETE")}))
    for send in (os.kill, os.killpg):
        screen = at_terminal(place, *(("resume", "--rerun-interrupted") if send is os.killpg else ("run",)))
        screen.expect("ready")
        send(screen.pid, signal.SIGTERM)
        assert screen.close() == 130
        assert place.text("got") == "got\n"
        (tmp_path / "got").unlink()


def test_no_key_is_heard_where_none_came(tmp_path: Path) -> None:
    """A failing command with the terminal follows its transitions, and nothing of the runner stays in its group."""
    place = Place(tmp_path, program({"1": shell("echo $$ > pid; exit 1", "COMPLETE", "2"), "2": shell("true", "STOP")}))
    screen = at_terminal(place, "run")
    screen.expect("rdc: STOP")
    assert screen.close() == 1
    assert place.walk() == ["1 fail", "2 pass"]
    with pytest.raises(ProcessLookupError):
        os.killpg(int(place.wait_for("pid")), 0)


def ignoring(place: Place, number: int) -> subprocess.Popen[str]:
    """A run in an interpreter that begins while a signal is ignored."""
    before = signal.signal(number, signal.SIG_IGN)
    try:
        return subprocess.Popen(
            [sys.executable, "-S", str(place.script), "run"], cwd=place.path, env=place.environment(), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    finally:
        signal.signal(number, before)


@LINUX
def test_commands_see_the_usual_signals(tmp_path: Path) -> None:
    command = "grep -E 'Sig(Blk|Ign)' /proc/self/status"
    place = Place(tmp_path, program({"1": shell(command, "COMPLETE")}))
    plain = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)

    def signals(text: str) -> list[int]:
        return [int(line.split()[1], 16) & 0x7FFFFFFF for line in text.splitlines()]  # glibc keeps 32 and 33

    assert len(signals(plain.stdout)) == 2
    assert signals(place.run("run").out) == signals(plain.stdout)


def test_signal_between_steps_leaves_nothing_to_decide(tmp_path: Path) -> None:
    """The command stops its runner in the moment of its own end, so the next step must not begin."""
    place = Place(tmp_path, program({"1": shell("echo 1 >> log", "2"), "2": shell("echo 2 >> log", "COMPLETE")}))
    hook = (
        "import os, signal, runtime_shim.engine.session as s\nsettle = s.Session.settle\n"
        "def stopped(*a, **k):\n    settle(*a, **k)\n    os.kill(os.getpid(), signal.SIGTERM)\n"
        "if 'run' in sys.argv: s.Session.settle = stopped"
    )
    place.hook(hook)
    result = place.run("run")
    assert (result.code, result.last) == (130, "rdc: INTERRUPTED 2 Work")
    assert "READY at 2" in place.run("status").out
    assert place.run("resume").code == 0
    assert place.text("log") == "1\n2\n"


@LINUX
def test_killed_runner_leaves_a_command_that_is_found_again(tmp_path: Path) -> None:
    place = Place(
        tmp_path, program({"1": shell(f"echo run >> runs; test $(wc -l < runs) = 2 && exit; {HANG}", "COMPLETE")})
    )
    runner = place.start("run")
    place.wait_for("ready")
    leader, child = pids(place)
    status = place.run("status").out
    assert "RUNNING at 1" in status
    assert f"Its command is running (pid {leader}).\n" in status
    assert not re.search(r"\b(end|stop) it\b|still runs", status), "it does not advise to end it"
    kill(runner)
    assert not is_gone(leader)
    status = place.run("status").out
    assert f"still runs (pid {leader})" in status
    assert "--assume" not in status
    assert status.splitlines()[-1] == f"  {place.script} resume --rerun-interrupted"
    assert json.loads(place.run("status", "--json").out)["pid"] == leader
    for words, code in (((), 75), (("--assume", "pass"), 2)):
        undecided = place.run("resume", *words)
        assert (undecided.code, f"still runs (pid {leader})" in undecided.err) == (code, True)
    assert place.walk() == []
    done = place.run("resume", "--rerun-interrupted")
    assert done.code == 0
    assert f"still runs (pid {leader}); ending it" in done.err
    wait_until(lambda: is_gone(leader) and is_gone(child), 5)
    assert place.walk() == ["1 pass"]


@LINUX
def test_pid_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("test -e go || { echo $$ > pid; sleep 1000; }", "COMPLETE")}))
    runner = place.start("run")
    kill_group = int(place.wait_for("pid"))
    wait_until(lambda: '"process"' in place.journal.read_text())
    kill(runner)
    os.killpg(kill_group, signal.SIGKILL)
    with subprocess.Popen(["sleep", "1000"], start_new_session=True) as other:
        records = place.records()
        records[-1]["pid"] = other.pid
        records[-1]["since"] -= 100
        place.journal.write_bytes(b"".join(encode(record) for record in records))
        (tmp_path / "go").touch()
        result = place.run("resume", "--rerun-interrupted")
        assert result.code == 0
        assert "still runs" not in result.err
        assert other.poll() is None
        other.kill()


@pytest.mark.parametrize("assume", ["pass", "fail"])
def test_assumed_outcome(tmp_path: Path, assume: str) -> None:
    place = Place(tmp_path, program({"1": shell(HANG, "2"), "2": shell("echo >> two", "COMPLETE")}))
    runner = place.start("run")
    place.wait_for("ready")
    kill(runner)
    os.killpg(int(place.wait_for("pid")), signal.SIGKILL)
    wait_until(lambda: all(is_gone(pid) for pid in pids(place)))
    assert place.run("resume", "--assume", assume).code == (0 if assume == "pass" else 1)
    assert place.walk()[0] == f"1 {assume}"
    (line,) = (line for line in place.run("status").out.splitlines() if line.startswith(f"  {assume.upper()}  1 Work"))
    assert line.endswith(", as assumed")
    assert place.run("status").out.count("as assumed") == 1


def test_killed_at_random_moments_it_walks_as_undisturbed(tmp_path: Path) -> None:
    count, kills, moments = 12, 0, random.Random(7)
    steps = {
        str(n): shell(f"echo {n} >> begun; sleep 0.0{n % 4}", str(n + 1) if n < count else "COMPLETE")
        for n in range(1, count + 1)
    }
    place = Place(tmp_path, program(steps))
    words = ["run"]
    while True:
        runner = place.start(*words)
        enough = place.text("begun").count("\n") + moments.choice((1, 2, 3))
        wait_until(lambda: runner.poll() is not None or place.text("begun").count("\n") >= enough)  # noqa: B023
        time.sleep(moments.uniform(0, 0.04))
        kill(runner)
        if runner.returncode == 0:
            break
        kills += 1
        words = ["resume", "--rerun-interrupted"]
    assert kills >= 3
    assert place.walk() == [f"{n} pass" for n in range(1, count + 1)]
    begun = [int(line) for line in place.text("begun").split()]
    assert begun == sorted(begun), "no finished step ran again"
    assert len(begun) <= count + kills


@pytest.mark.parametrize("name", ["QUIT", "USR2", "ALRM", "PROF"])
def test_any_signal_that_would_end_the_runner_ends_the_command(tmp_path: Path, name: str) -> None:
    # In the foreground, since what a shell has in the background ignores QUIT, and is ended only after ten seconds.
    hang = "echo $$ > pid; sh -c 'echo $$ > child; echo ready > ready; exec sleep 1000'"
    place = Place(tmp_path, program({"1": shell(f"ulimit -c 0; {hang}; exit 1", "COMPLETE")}))
    runner = place.start("run")
    place.wait_for("ready")
    assert ended(runner, signal.Signals[f"SIG{name}"]) == (130, "rdc: INTERRUPTED 1 Work")
    wait_until(lambda: all(is_gone(pid) for pid in pids(place)), 5)
    assert place.walk() == []


@pytest.mark.parametrize("name", ["HUP", "USR1", "ALRM"])
def test_signal_that_was_ignored_on_entry_ends_nothing(tmp_path: Path, name: str) -> None:
    """As nohup has it, also for the command itself."""
    after = f"kill -{name} $$; echo survived > survived" if name == "HUP" else "echo survived > survived"
    command = f"echo ready > ready; until test -e go; do sleep 0.02; done; {after}"
    place = Place(tmp_path, program({"1": shell(command, "COMPLETE")}))
    number = signal.Signals[f"SIG{name}"]
    runner = ignoring(place, number)
    place.wait_for("ready")
    runner.send_signal(number)
    time.sleep(0.1)
    (tmp_path / "go").touch()
    _, err = runner.communicate(timeout=20)
    assert runner.returncode == 0, err
    assert (place.walk(), place.text("survived")) == (["1 pass"], "survived\n")
