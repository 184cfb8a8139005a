"""How long the first answer takes: `rdc check` of a small document, from a cold start."""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.compiling import RDC
from benchmarks.figures import Figure
from benchmarks.rounds import ROOT, alternate, elapsed

SMALL = ROOT / "examples" / "deploy-with-rollback.runbook.md"


def starting(rounds: int = 21, limit: float = 20.0) -> list[Figure]:
    """`rdc check` against an interpreter that does nothing; the median of the rounds of each.

    The median, because starting up waits for the system as well, as it does for whoever types the command. The compiled
    grammars are in the cache, except for the figure that says what the very first start takes.
    """
    with TemporaryDirectory() as folder:
        cache = {"XDG_CACHE_HOME": folder}

        def check() -> float:
            return elapsed([RDC, "check", str(SMALL)], environment=cache)

        def first_check() -> float:
            for kept in Path(folder, "rdc").glob("*"):
                kept.unlink()
            return check()

        def nothing() -> float:
            return elapsed([sys.executable, "-c", "pass"])

        times = alternate({"nothing": nothing, "check": check}, rounds)
        firsts = alternate({"first": first_check}, max(rounds // 4, 1))
    idle = median(times["nothing"])
    return [
        Figure("cold `rdc check`, small file", "python3 -c pass", median(times["check"]), idle, limit),
        Figure("the very first one, grammars not cached", "python3 -c pass", median(firsts["first"]), idle),
    ]
