"""What a generated program adds to each step: its journal, its display, its bookkeeping."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.compiling import RDC
from benchmarks.document import NOTHING, commands
from benchmarks.figures import Figure
from benchmarks.rounds import Times, alternate

Run = Callable[[list[str], Path, dict[str, str]], None]


def stepping(steps: int = 200, rounds: int = 11, limit: float = 1.6) -> list[Figure]:
    """A step that does nothing in a generated program, against `bash -c true` started in a loop.

    A step's time is that of a whole run less that of one of the same program which ends after its first step, by the
    number of the others: what is left out is the start of the program, its reading of its own table included. The
    yardstick is the cheaper one of two loops. The ratios are taken within each round, whose parts run within a second
    of each other; the figure is the round with the median ratio.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        program = generate(folder, steps)
        outputs: dict[str, Run] = {"pipe": to_pipe, "terminal": at_terminal}
        contestants: dict[str, Callable[[], float]] = {}
        for output, run in outputs.items():
            contestants[f"all {output}"] = Timer(run, program)
            contestants[f"first {output}"] = Timer(run, program, {NOTHING: "yes"})
        contestants["spawn"] = lambda: loop_in_python(steps)
        contestants["bash"] = lambda: loop_in_bash(steps)
        times = alternate(contestants, rounds)
    return [
        _middle(f"a step of a program, {label}", times, output, steps, limit)
        for output, label in (("pipe", "output to a pipe"), ("terminal", "at a terminal"))
    ]


def _middle(what: str, times: Times, output: str, steps: int, limit: float) -> Figure:
    figures = []
    for all_, first, spawn, bash in zip(
        times[f"all {output}"], times[f"first {output}"], times["spawn"], times["bash"], strict=True
    ):
        loop = "bash -c true by posix_spawn" if spawn < bash else "bash -c true in a bash loop"
        each = (all_ - first) / steps
        figures.append(Figure(what, loop, each, min(spawn, bash) / steps, limit))
    return min(figures, key=lambda figure: abs(figure.ratio - median(other.ratio for other in figures)))


class Timer:
    """Runs a generated program from its beginning to its end, with a new state, and says how long it took."""

    def __init__(self, run: Run, program: Path, variables: Mapping[str, str] | None = None) -> None:
        self._run = run
        self._program = program
        self._environment = {**os.environ, **(variables or {})}

    def __call__(self) -> float:
        """Run it once."""
        with TemporaryDirectory(dir=self._program.parent) as folder:
            begun = time.perf_counter()
            self._run([sys.executable, str(self._program), "run"], Path(folder), self._environment)
            return time.perf_counter() - begun


def generate(folder: Path, steps: int) -> Path:
    """Compile a program of so many steps that do nothing."""
    source, program = folder / f"steps-{steps}.runbook.md", folder / f"steps-{steps}.py"
    source.write_text(commands(steps), encoding="utf-8")
    return compiled(source, program)


def compiled(source: Path, program: Path) -> Path:
    """Compile a document to a program."""
    command = [RDC, "compile", str(source), "--to", "python", "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True)
    return program


def to_pipe(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Run a program whose output is read from a pipe, as a log does."""
    subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def at_terminal(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Run a program as a person does: the terminal is its input, its output, and what its commands are lent."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execve(command[0], command, environment)
    try:
        with suppress(OSError):  # how a terminal tells that nobody writes any more
            while os.read(terminal, 1 << 16):
                pass
    finally:
        os.close(terminal)
    _, status = os.waitpid(child, 0)
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with status {status}")


def loop_in_python(count: int) -> float:
    """The seconds that it takes to start `bash -c true` so often, in the cheapest way that Python has."""
    bash, environment = shutil.which("bash") or "/bin/bash", dict(os.environ)
    begun = time.perf_counter()
    for _ in range(count):
        os.waitpid(os.posix_spawn(bash, ["bash", "-c", "true"], environment), 0)
    return time.perf_counter() - begun


def loop_in_bash(count: int) -> float:
    """The same in a loop of bash itself, whose own start is left out."""
    loop = "TIMEFORMAT=%6R; time for ((i = 0; i < $0; i++)); do bash -c true; done"
    command = ["bash", "-c", loop, str(count)]
    environment = {**os.environ, "LC_ALL": "C"}
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(process.stderr)
