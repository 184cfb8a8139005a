"""`python -m tests.equivalence`: the soak. Ends with 1 if it has found a difference, which it saves as a regression."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from .regressions import write
from .scenario import scenario
from .soak import Finding, Soak, known, run
from .ways import WAYS

PAUSE = 60.0
"""Seconds between two lines of progress."""


def main() -> int:
    """Run the soak as the command line says."""
    options = _options()
    began = time.monotonic()
    first = random.randrange(10**9) if options.seed is None else options.seed
    ways = tuple(_available(options.ways))
    print(f"soak: {options.minutes:g} minutes, seed {first}, ways {', '.join(ways) or 'none'}", flush=True)
    if not ways:
        return 1
    soak = Soak(ways, began + options.minutes * 60, options.most)
    told = began

    def tell(soak: Soak) -> None:
        nonlocal told
        if soak.is_over or soak.finding or time.monotonic() - told >= PAUSE:
            told = time.monotonic()
            counts = ", ".join(f"{name} {soak.counts[name]}" for name in ways)
            print(f"{(told - began) / 60:5.1f} min, {soak.documents} documents, walks: {counts}", flush=True)

    finding = run(soak, first, tell)
    if finding:
        _report(finding)
    return 1 if finding else 0


def _available(names: Iterable[str]) -> Iterator[str]:
    """The ways for which this machine has all that they need."""
    for name in names:
        if missing := WAYS[name].missing():
            print(f"soak: {name} is left out: {missing}", flush=True)
        else:
            yield name


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.equivalence", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to go on (default: 10)")
    parser.add_argument("--seed", type=int, help="the seed of the first batch (default: a fresh one)")
    parser.add_argument("--ways", type=known, default=tuple(WAYS), help="some of the ways, separated by commas")
    parser.add_argument("--most", type=int, default=sys.maxsize, help="how many walks at most in one way")
    return parser.parse_args()


def _report(finding: Finding) -> None:
    folder = Path(tempfile.mkdtemp(prefix="difference-"))
    write(folder, scenario(finding.case))
    print(f"\nDIFFERENCE on {finding.way} (seed {finding.seed}): {finding.what}\n{finding.case!r}")
    print(f"As a regression case: move {folder} to tests/equivalence/found/, under a name that says what it is about.")


if __name__ == "__main__":
    sys.exit(main())
