"""A program for workers in a folder: its worker processes and its commands, and nothing of them that stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from benchmarks.workers.nursery import Nursery, Process
from runtime_shim.targets.dbos.legs import Legs
from runtime_shim.targets.dbos.runs import run_state

Found = TypeVar("Found")

AT_ONCE = """
import os, sys
script, count, *words = sys.argv[1:]
for module in ("json", "psycopg" if os.environ["RDC_DATABASE"].startswith("p") else "sqlite3"):
    __import__(module)
code = compile(open(script, encoding="utf-8").read(), script, "exec")
ready, go = os.pipe()
children = []
for number in range(int(count)):
    children.append(os.fork())
    if not children[-1]:
        os.close(go)
        for stream in (1, 2):
            os.dup2(os.open(f"said-{number}", os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
        os.read(ready, 1)
        sys.argv = [script, *(word.replace("NUMBER", str(number)) for word in words)]
        exec(code, {"__name__": "__main__", "__file__": script})
os.close(ready)
os.close(go)
print(*(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
"""
"""Forks processes that wait, each ready to run the program, and lets them all go in one moment."""


class CommandResult(NamedTuple):
    """How a command ended, and its output."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """Everything that a person sees."""
        return self.out + self.err


def until(look: Callable[[], Found], seconds: float = 20.0, pause: float = 0.02) -> Found:
    """Return the first true value."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing came in {seconds} seconds")
        time.sleep(pause)
    return found


def group_is_gone(group: int) -> bool:
    """Return whether no process of a group runs any more."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, of = path.read_bytes().rpartition(b")")[2].split()[:3]
            if int(of) == group and state not in (b"Z", b"X"):
                return False
    return True


class WorkerProcess:
    """A worker in its own process group, whose output goes to a file."""

    def __init__(self, process: Process, log: Path) -> None:
        self.process, self.log = process, log

    @property
    def text(self) -> str:
        """Return the output of the worker."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def says(self, words: str, seconds: float = 20.0) -> None:
        """Wait until the worker has said this."""
        try:
            until(lambda: words in self.text or self.process.poll() is not None, seconds)
        except TimeoutError:
            raise TimeoutError(f"{words!r} is not in:\n{self.text}") from None
        if words not in self.text:
            raise RuntimeError(f"the worker has ended with {self.process.returncode}:\n{self.text}")

    def send(self, number: signal.Signals) -> None:
        """Send a signal to only the worker."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kill the worker at once."""
        self.process.kill()
        self.process.wait()

    def stop(self, seconds: float = 15.0) -> int:
        """Let the worker finish the steps that run, and return its exit code."""
        self.send(signal.SIGTERM)
        return self.process.wait(seconds)


class Fleet:
    """A program for workers, its database, and its processes."""

    def __init__(self, folder: Path, url: str, nursery: Nursery | None = None) -> None:
        self.folder, self.url, self.nursery = folder, url, nursery
        self.environment = {**os.environ, "RDC_DATABASE": url}
        self.workers: list[WorkerProcess] = []
        self.script = folder / "worker.py"
        self._legs = Legs(url, "")

    def compile(self, text: str, name: str = "job.runbook.md", *options: str) -> None:
        """Write a document, and compile it to the worker's program."""
        source = self.folder / name
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text, encoding="utf-8")
        self.compile_file(source, *options)

    def compile_file(self, source: Path, *options: str) -> None:
        """Compile a document."""
        command = [sys.executable, "-m", "rdc", "compile", str(source), "--to", "dbos", "-o", str(self.script)]
        output = self.run([*command, *options], self.folder, self.environment)
        if output.code:
            raise RuntimeError(output.text)

    def worker(
        self, *options: str, poll: str = "0.05", folder: Path | None = None, ready: bool = True, **environment: str
    ) -> WorkerProcess:
        """Start a worker, and wait until it is ready."""
        log = self.folder / f"worker-{len(self.workers) + 1}.log"
        words, where = [str(self.script), "worker", "--poll", poll, *options], folder or self.folder
        worker = WorkerProcess(self._process(words, where, log, {**self.environment, **environment}), log)
        self.workers.append(worker)
        if ready:
            worker.says("is ready")
        return worker

    def _process(self, words: list[str], folder: Path, log: Path, environment: Mapping[str, str]) -> Process:
        if self.nursery:
            return self.nursery.start(words, folder, log, environment)
        with log.open("wb") as file:
            return subprocess.Popen(
                [sys.executable, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=file,
                stderr=file, process_group=0,
            )  # fmt: skip

    def call(self, *words: str, folder: Path | None = None, input: bytes = b"", **environment: str) -> CommandResult:  # noqa: A002
        """Call a command of the program."""
        command = [sys.executable, str(self.script), *words]
        return self.run(command, folder or self.folder, {**self.environment, **environment}, input)

    def run(
        self, command: list[str], folder: Path, environment: Mapping[str, str], given: bytes = b""
    ) -> CommandResult:
        """Run a program of Python to its end."""
        done = subprocess.run(
            command, cwd=folder, env=environment, input=given, capture_output=True, timeout=60, check=False
        )
        return CommandResult(done.returncode, done.stdout.decode(), done.stderr.decode())

    def at_once(self, count: int, *words: str) -> list[CommandResult]:
        """Call a command in many processes in the same moment; `NUMBER` in its words is that of the process."""
        command = [sys.executable, "-c", AT_ONCE, str(self.script), str(count), *words]
        folder = self.folder / f"at-once-{uuid.uuid4().hex}"
        folder.mkdir()
        done = subprocess.run(
            command, cwd=folder, env=self.environment, capture_output=True, text=True, check=True, timeout=60
        )
        outputs = [(folder / f"said-{number}").read_text() for number in range(count)]
        return [CommandResult(int(code), "", text) for code, text in zip(done.stdout.split(), outputs, strict=True)]

    def start(self, run: str, *options: str) -> str:
        """Start a run."""
        output = self.call("start", "--id", run, *options)
        if output.code:
            raise RuntimeError(output.text)
        return run

    def state(self, run: str) -> str:
        """Return the state of a run, as `list` shows it."""
        if not self._legs.application and self._legs.is_ready():
            found = self._legs.rows("SELECT application_name FROM workflow_status WHERE application_name <> '' LIMIT 1")
            self._legs.application = found[0][0] if found else ""
        legs = self._legs.of_run(run) if self._legs.application else []
        return run_state(legs[-1]) if legs else "none"

    def until(self, run: str, *states: str, seconds: float = 20.0) -> str:
        """Wait until a run is in one of these states, and return that."""
        try:
            until(lambda: self.state(run) in states, seconds)
        except TimeoutError:
            outputs = "\n".join(worker.text for worker in self.workers)
            raise TimeoutError(f"{run} is {self.state(run)}, not {' or '.join(states)}:\n{outputs}") from None
        return self.state(run)

    def rows(self, query: str) -> list[Any]:
        """Return rows of the database."""
        return self._legs.rows(query)

    def lines(self, name: str) -> list[str]:
        """Return the lines of a file that steps write."""
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []

    def left(self) -> list[int]:
        """Return the processes that are in the folder of this fleet, also if no worker knows them any more."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cwd"):
            with suppress(OSError):
                if path.readlink().is_relative_to(self.folder):
                    found.append(int(path.parent.name))
        return found

    def close(self) -> None:
        """End everything."""
        self._legs.close()
        for worker in self.workers:
            worker.process.kill()
            worker.process.wait()
        for _ in range(3 if self.workers else 0):
            for pid in self.left():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
