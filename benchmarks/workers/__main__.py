"""`python -m benchmarks.workers NAME…`: measure the robustness and the cost of workers."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

from benchmarks.workers.disturbances import disturbances
from benchmarks.workers.kills import kills
from benchmarks.workers.parked import parked
from benchmarks.workers.places import Found, Place, place
from benchmarks.workers.speed import speed
from benchmarks.workers.takeover import takeover

MEASURES: dict[str, Callable[[Place], Iterator[Found]]] = {
    "kills": kills,
    "takeover": takeover,
    "parked": parked,
    "speed": speed,
    "disturbances": disturbances,
}


def main(names: list[str]) -> int:
    """Measure, and print each figure as it is found."""
    if unknown := {*names} - {*MEASURES}:
        print(f"no such measure: {', '.join(sorted(unknown))}; choose from {', '.join(MEASURES)}", file=sys.stderr)
        return 2
    for name in names or MEASURES:
        print(f"{name}", flush=True)
        since = time.monotonic()
        with place() as at:
            for found in MEASURES[name](at):
                print(f"  {found.what:70}  {found.figure}", flush=True)
        print(f"  {'':70}  ({time.monotonic() - since:.0f} s)\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
