"""What a step of a generated Makefile costs, however many there are."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.compiling import RDC
from benchmarks.document import NOTHING, commands
from benchmarks.figures import Figure


def making(few: int = 100, many: int = 1_000, limit: float = 2.5) -> list[Figure]:
    """A step among many against one among few: in a run, and as `status` tells of it.

    A step's time is that of a whole run less that of one which ends after its first step, by the number of the others.
    """
    with TemporaryDirectory() as name:
        run_few, status_few = _each(Path(name, "few"), few)
        run_many, status_many = _each(Path(name, "many"), many)
    against = f"one among {few}"
    return [
        Figure(f"a step among {few:,} of a Makefile, run", "13 ms", run_few, 0.013, 1.0),
        Figure(f"a step among {many:,} of a Makefile, run", against, run_many, run_few, limit),
        Figure(f"a step among {many:,} of a Makefile, in status", against, status_many, status_few, limit),
    ]


def _each(folder: Path, steps: int) -> tuple[float, float]:
    folder.mkdir()
    (folder / "main.runbook.md").write_text(commands(steps), encoding="utf-8")
    command = [RDC, "compile", "main.runbook.md", "--to", "make", "-o", "Makefile"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    first = _make(folder, "run", **{NOTHING: "yes"})
    whole = _make(folder, "run")
    return (whole - first) / steps, _make(folder, "status") / steps


def _make(folder: Path, target: str, **variables: str) -> float:
    begun = time.perf_counter()
    words = ["make", "--silent", target]
    subprocess.run(words, cwd=folder, env={**os.environ, **variables}, check=True, capture_output=True)
    return time.perf_counter() - begun
