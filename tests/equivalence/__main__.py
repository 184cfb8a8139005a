"""`python -m tests.equivalence`: the soak. Ends with 1 if it has found a difference, which it saves as a regression."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.agent_workflows.soak import KIND as WORKFLOWS
from tests.equivalence import drawn
from tests.equivalence.drivers import DRIVERS
from tests.equivalence.regressions import write
from tests.equivalence.scenario import scenario
from tests.equivalence.soak import Finding, Soak, run
from tests.playbooks.soak import KIND as PLAYBOOKS
from tests.programs import soak as programs_soak
from tests.programs.drivers import NAMES as PROGRAMS
from tests.programs.drivers import missing
from tests.programs.soak import PREFIX
from tests.stepspecs.soak import KIND as SPECIFICATIONS
from tests.support import interpreters

DRAWN: tuple[drawn.Kind[Any], ...] = (PLAYBOOKS, WORKFLOWS, SPECIFICATIONS)
"""Kinds of documents that are drawn by seeds."""

PAUSE = 60.0
"""Seconds between two lines of progress."""


def main() -> int:
    """Run the soak as the command line says: documents and programs of all kinds in turn."""
    options = _options()
    interpreters.put_first()
    began = time.monotonic()
    first = random.randrange(10**9) if options.seed is None else options.seed
    drivers = tuple(_available(options.drivers))
    print(f"soak: {options.minutes:g} minutes, seed {first}, drivers {', '.join(drivers) or 'none'}", flush=True)
    until = began + options.minutes * 60
    documents = Soak(tuple(name for name in drivers if name in DRIVERS), until, options.most)
    programs = programs_soak.Soak(_of(PREFIX, drivers), until, options.most)
    others = [drawn.Soak(kind, _of(kind.prefix, drivers), until, options.most) for kind in DRAWN]
    every: list[Soak | programs_soak.Soak | drawn.Soak[Any]] = [documents, programs, *others]
    soaks = [soak for soak in every if soak.drivers]
    if not soaks:
        return 1
    told = began

    def tell() -> None:
        nonlocal told
        is_last = any(soak.finding for soak in soaks) or all(soak.is_over for soak in soaks)
        if is_last or time.monotonic() - told >= PAUSE:
            told = time.monotonic()
            print(f"{(told - began) / 60:5.1f} min, {'; '.join(soak.told for soak in soaks)}", flush=True)

    run(soaks, first, tell)
    if documents.finding:
        _report(documents.finding)
    if programs.finding:
        _report_program(programs.finding)
    found = next((soak.finding for soak in others if soak.finding), None)
    if found:
        print(f"\nDIFFERENCE on {found.kind.prefix}{found.driver} (seed {found.seed}): {found.what}")
        print("As a regression case: write it as a test beside the generator of its format.")
    return int(any(soak.finding for soak in soaks))


def _of(prefix: str, drivers: Iterable[str]) -> tuple[str, ...]:
    """The drivers of one kind, by their own names."""
    return tuple(name.removeprefix(prefix) for name in drivers if name.startswith(prefix))


def _drivers() -> dict[str, Callable[[], str]]:
    """Every driver, each with what says what this machine lacks for it."""
    kinds = (PREFIX, *(kind.prefix for kind in DRAWN if not kind.drivers))
    programs = {f"{kind}{name}": partial(missing, name) for kind in kinds for name in PROGRAMS}
    own = {f"{kind.prefix}{name}": lambda: "" for kind in DRAWN for name in kind.drivers}
    return {**{name: driver.missing for name, driver in DRIVERS.items()}, **programs, **own}


def _available(names: Iterable[str]) -> Iterator[str]:
    """The drivers for which this machine has all that they need."""
    for name in names:
        if missing := _drivers()[name]():
            print(f"soak: {name} is left out: {missing}", flush=True)
        else:
            yield name


def known(names: str) -> tuple[str, ...]:
    """The drivers of some names, separated by commas; the command line refuses others."""
    chosen = tuple(names.split(","))
    wrong = sorted(set(chosen) - set(_drivers()))
    if wrong:
        raise argparse.ArgumentTypeError(f"no driver: {', '.join(wrong)}; known are {', '.join(_drivers())}")
    return chosen


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.equivalence", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to go on (default: 10)")
    parser.add_argument("--seed", type=int, help="the seed of the first batch (default: a fresh one)")
    parser.add_argument("--drivers", type=known, default=tuple(_drivers()), help="which drivers, separated by commas")
    parser.add_argument("--most", type=int, default=sys.maxsize, help="how many paths at most with one driver")
    return parser.parse_args()


def _report(finding: Finding) -> None:
    folder = Path(tempfile.mkdtemp(prefix="difference-"))
    write(folder, scenario(finding.case))
    print(f"\nDIFFERENCE on {finding.driver} (seed {finding.seed}): {finding.what}\n{finding.case!r}")
    print(f"As a regression case: move {folder} to tests/equivalence/found/, under a name that says what it is about.")


def _report_program(finding: programs_soak.Finding) -> None:
    path = Path(tempfile.mkdtemp(prefix="difference-")) / "case.json"
    finding.case.write(path)
    print(f"\nDIFFERENCE on {PREFIX}{finding.driver} (seed {finding.seed}): {finding.what}\n{finding.case!r}")
    print(f"As a regression case: move {path} to tests/programs/found/, under a name that says what it is about.")


if __name__ == "__main__":
    sys.exit(main())
