"""How long compiling takes: against the bare Markdown parse, and as documents grow."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.document import runbook
from benchmarks.figures import Figure
from benchmarks.rounds import ROOT, alternate, elapsed

RDC = str(Path(sysconfig.get_path("scripts")) / "rdc")
"""The command as it is installed beside the interpreter that measures."""


def compiling(steps: int = 10_000, rounds: int = 5, limit: float = 1.6) -> list[Figure]:
    """Parse, check, lower and emit against the block parse of the same file; the best of the rounds of each.

    The best, because both are work of one processor alone: whatever comes on top of it is not theirs.
    """
    with TemporaryDirectory() as folder:
        source = write(Path(folder), steps)
        blocks, work = Worker("blocks", source), Worker("compile", source)
        target = Path(folder, "out.py")

        def command() -> float:
            target.unlink(missing_ok=True)
            return elapsed([RDC, "compile", str(source), "--to", "python", "-o", str(target)], Path(folder))

        times = alternate({"blocks": blocks, "work": work, "command": command}, rounds)
    best = {name: min(seconds) for name, seconds in times.items()}
    whole = "the whole process of that parse"
    return [
        Figure(f"compile {steps:,} steps", "block parse of the file", best["work"], best["blocks"], limit),
        Figure(f"`rdc compile` of {steps:,} steps", whole, best["command"], min(blocks.wholes)),
    ]


def growing(sizes: tuple[int, ...] = (2_500, 10_000, 20_000), rounds: int = 3, limit: float = 1.5) -> list[Figure]:
    """The time per step in larger and larger documents, against that in the smallest; the best of the rounds."""
    with TemporaryDirectory() as folder:
        workers = {str(size): Worker("compile", write(Path(folder), size)) for size in sizes}
        times = alternate(workers, rounds)
    first, *others = ((size, min(times[str(size)]) / size) for size in sizes)
    against = f"a step of {first[0]:,}"
    return [Figure(f"a step of {size:,}", against, each, first[1], limit) for size, each in others]


def write(folder: Path, steps: int) -> Path:
    """Write a document of that size into a folder."""
    path = folder / f"benchmark-{steps}.runbook.md"
    path.write_text(runbook(steps), encoding="utf-8")
    return path


class Worker:
    """A piece of work of `benchmarks.worker`, in a new process each time; `wholes` are the times of those processes."""

    def __init__(self, work: str, source: Path) -> None:
        self._command = [sys.executable, "-m", "benchmarks.worker", work, str(source)]
        self.wholes: list[float] = []

    def __call__(self) -> float:
        """Do the work once and return the seconds that it took by itself."""
        begun = time.perf_counter()
        process = subprocess.run(self._command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        self.wholes.append(time.perf_counter() - begun)
        return float(process.stdout)
