"""Programs for the tests, and a place where they run as real processes."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from runtime_shim.engine.signals import Signals
from tests.support import warm
from tests.support.warm.started import Started

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """#!/usr/bin/env python3
import sys
from runtime_shim.editions import main
PROGRAM = {program!r}
if __name__ == "__main__":
    sys.exit(main(PROGRAM))
"""
CLOCK = """\
import time
from pathlib import Path
REAL, AHEAD = (time.time, time.sleep), Path(__file__).with_name("ahead")
def ahead():
    return float(AHEAD.read_text()) if AHEAD.exists() else 0.0
def sleep(seconds):
    REAL[1](seconds) if seconds < 0.1 else AHEAD.write_text(str(ahead() + seconds))
time.time, time.sleep = lambda: REAL[0]() + ahead(), sleep
time.time_ns = lambda: int(time.time() * 1e9)
"""
"""The time of a program that does not wait: its pauses set the clock ahead, and so does a test (`later`)."""
Table = dict[str, Any]


def shell(command: str, good: str, bad: str = "STOP", **more: object) -> Table:
    """A step that runs a command."""
    edges = [{"on": "pass", "go": good, "says": "CONTINUE"}, {"on": "fail", "go": bad, "says": f"GOTO {bad}"}]
    return {
        "title": "Work", "at": "deploy.runbook.md:3", "task": "shell", "shell": "bash",
        "command": command, "edges": edges, **more,
    }  # fmt: skip


def ask(good: str, bad: str = "STOP", **more: object) -> Table:
    """A step that asks."""
    edges = [{"on": "pass", "go": good, "says": "CONTINUE"}, {"on": "fail", "go": bad, "says": f"GOTO {bad}"}]
    return {
        "title": "Review", "at": "deploy.runbook.md:9", "task": "ask", "question": "pass/fail",
        "prompt": "Look at it.", "edges": edges, **more,
    }  # fmt: skip


def end(result: str, message: str = "", **more: object) -> Table:
    """An end."""
    return {
        "title": "", "at": "deploy.runbook.md:1", "task": "end", "result": result, "message": message, **more,
    }  # fmt: skip


def program(steps: dict[str, Table], registers: dict[str, int] | None = None, **more: object) -> Table:
    """A program that begins at its first step and has the two ends."""
    ends = {"COMPLETE": end("complete", "all done"), "STOP": end("stop", "gave up")}
    return {
        "name": "deploy", "title": "Deploy the service", "source": "deploy.runbook.md",
        "sha256": "0", "rdc": "0", "entry": next(iter(steps)), "registers": registers or {}, "scopes": {},
        "nodes": {**steps, **ends}, **more,
    }  # fmt: skip


LOOP = program(
    {
        "1": {
            **shell("echo $RDC_ATTEMPT >> log; false", "COMPLETE"),
            "attempt": "1 retries",
            "edges": [
                {
                    "on": "fail",
                    "if": [["1 retries", "<", 2]],
                    "do": [["1 retries", "+", 1]],
                    "go": "1",
                    "says": "RETRY 2",
                },
                {"on": "fail", "do": [["1 retries", "=", 0]], "go": "STOP", "says": "STOP"},
            ],
        }
    },
    {"1 retries": 0},
)
"""A command that always fails, with two retries."""


class Result(NamedTuple):
    """What came of a process."""

    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line on standard error."""
        return self.err.splitlines()[-1]


class Place:
    """A directory with a script in it."""

    def __init__(self, path: Path, table: Table) -> None:
        self.path = path
        self.script = path / "deploy.py"
        self.journal = path / ".rdc" / "deploy" / "journal"
        self.write(table)

    def write(self, table: Table) -> None:
        self.script.write_text(SCRIPT.format(program=table), encoding="utf-8")
        self.script.chmod(0o755)

    def hook(self, code: str) -> None:
        """Have the script do something before it runs its program."""
        self.script.write_text(self.script.read_text().replace("PROGRAM =", f"{code}\nPROGRAM =", 1))

    def later(self, seconds: float = 0.0) -> None:
        """Let the time be that much later for the script; from now on it does not wait in its pauses."""
        if CLOCK not in self.script.read_text():
            self.hook(CLOCK)
        ahead = self.path / "ahead"
        ahead.write_text(str(float(ahead.read_text() if ahead.exists() else 0) + seconds))

    def environment(self, **more: str) -> dict[str, str]:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("RDC_")}
        return {**inherited, "PYTHONPATH": str(ROOT), **more}

    def start(self, *words: str, cwd: Path | None = None, **more: str) -> Started:
        environment = self.environment(**more)
        loads = "runtime_shim" if environment["PYTHONPATH"] else ""
        command = [sys.executable, "-S", str(self.script), *words]
        return warm.start(command, cwd=cwd or self.path, env=environment, loads=loads)

    def run(self, *words: str, cwd: Path | None = None, **more: str) -> Result:
        command = [sys.executable, "-S", str(self.script), *words]
        environment = self.environment(**more)
        loads = "runtime_shim" if environment["PYTHONPATH"] else ""
        done = warm.run(command, cwd=cwd or self.path, env=environment, timeout=30, loads=loads)
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def mocked(self, *words: str, mock: str = "mock.json") -> Result:
        """Run a subcommand with the option `--mock`, which only `rdc run` has."""
        runs = "from rdc.calls.mock_option import MockRuns\nfrom runtime_shim.editions import main\n"
        code = self.script.read_text().replace("from runtime_shim.editions import main\n", runs)
        script = self.path / "mocked.py"
        script.write_text(code.replace("main(PROGRAM)", "main(PROGRAM, more=(MockRuns,))"), encoding="utf-8")
        command = [sys.executable, str(script), words[0], "--mock", mock, *words[1:]]
        done = warm.run(command, cwd=self.path, env=self.environment(), timeout=60, loads="rdc")
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def records(self) -> list[Table]:
        return [json.loads(line.split(" ", 1)[1]) for line in self.journal.read_text().splitlines()]

    def walk(self) -> list[str]:
        """The finished steps with their outcomes."""
        return [f"{record['node']} {record['outcome']}" for record in self.records() if record["kind"] == "done"]

    def text(self, name: str) -> str:
        return (self.path / name).read_text() if (self.path / name).exists() else ""

    def wait_for(self, name: str) -> str:
        """Wait for a line in a file and return it."""
        wait_until(lambda: self.text(name).endswith("\n"))
        return self.text(name).strip()


def wait_until(condition: Any, seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.01)


@contextmanager
def held_back() -> Iterator[Signals]:
    """Hold signals back for a while, and let them do what they did before; a run does so until its process ends."""
    numbers = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
    handlers = {number: signal.getsignal(number) for number in numbers}
    signals = Signals()
    try:
        yield signals
    finally:
        signal.alarm(0)
        while pending := signal.sigpending() - signals.before:
            signal.sigwait(pending)
        for number, handler in handlers.items():
            if handler is not None:
                signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, signals.before)


def kill(process: subprocess.Popen[str] | Started) -> None:
    """End a runner at once; its command may live on, and with it the other ends of the pipes."""
    process.kill()
    process.wait(20)
    for stream in (process.stdout, process.stderr):
        assert stream
        stream.close()


def is_gone(pid: int) -> bool:
    """Whether a process has ended (a zombie that nobody has collected has)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return not shown.stdout.strip() or shown.stdout.strip().startswith("Z")


class Screen:
    """A process on a terminal of its own."""

    def __init__(self, words: list[str], cwd: Path, environment: dict[str, str]) -> None:
        self.seen = ""
        self._at = 0
        self._forked: Started | None = None
        if words[0] == sys.executable or words[0].endswith(".py"):
            rest = [word for word in words if word not in {sys.executable, "-S"}]
            command = [sys.executable, *["-S"][: rest[0] != "-m"], *rest]
            self._terminal, theirs = pty.openpty()
            self._forked = warm.start(command, cwd=cwd, env=environment, loads="runtime_shim", terminal=theirs)
            os.close(theirs)
            self.pid = self._forked.pid
            return
        self.pid, self._terminal = pty.fork()
        if not self.pid:
            os.chdir(cwd)
            os.execvpe(words[0], words, environment)

    def expect(self, pattern: str, seconds: float = 15) -> str:
        """Read until a pattern appears after what was expected before."""
        deadline = time.monotonic() + seconds
        while not (match := re.search(pattern, self.seen[self._at :])):
            left = deadline - time.monotonic()
            assert left > 0, f"{pattern!r} did not appear in {self.seen[self._at :]!r}"
            if not self._read(left):
                match = re.search(pattern, self.seen[self._at :])
                assert match, f"the terminal closed before {pattern!r}: {self.seen[self._at :]!r}"
                break
        self._at += match.end()
        return match.group()

    def type(self, text: str | bytes) -> None:
        os.write(self._terminal, text if isinstance(text, bytes) else text.encode())

    def close(self) -> int:
        """Read to the end and return the exit code."""
        deadline = time.monotonic() + 15
        while self._read(deadline - time.monotonic()):
            assert time.monotonic() < deadline, f"the process does not end: {self.seen!r}"
        return self.hang_up()

    def hang_up(self) -> int:
        """Close the terminal and return the exit code."""
        os.close(self._terminal)
        return self._forked.wait(15) if self._forked else os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read(self, seconds: float) -> bool:
        if not select.select([self._terminal], [], [], max(seconds, 0))[0]:
            return True
        try:
            data = os.read(self._terminal, 65536)
        except OSError:  # Linux says so when the other side is closed
            return False
        self.seen += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)
