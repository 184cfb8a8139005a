"""How long it takes to compile a document for each target, against checking it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from backends.registry import BACKENDS
from benchmarks.compiling import Worker, write
from benchmarks.figures import Figure
from benchmarks.rounds import alternate


def emitting(steps: int = 1_400, rounds: int = 5, limit: float = 2.2) -> list[Figure]:
    """Compile a document for each target against checking it; the best of the rounds of each."""
    with TemporaryDirectory() as folder:
        source = write(Path(folder), steps)
        works = {name: Worker(f"emit-{name}", source) for name in BACKENDS}
        times = alternate({"check": Worker("check", source), **works}, rounds)
    check = min(times["check"])
    return [
        Figure(f"compile {steps:,} steps for {name}", "check of the file", min(times[name]), check, limit)
        for name in BACKENDS
    ]
