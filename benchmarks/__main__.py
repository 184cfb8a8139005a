"""`python -m benchmarks`: measure, print the table, and fail if something takes longer than it may."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Sequence

from benchmarks.building import building
from benchmarks.cliffs import growing_worst
from benchmarks.compiling import compiling, growing
from benchmarks.compositions import composing
from benchmarks.editing import editing
from benchmarks.emitting import emitting
from benchmarks.figures import Figure, table
from benchmarks.looking import looking
from benchmarks.making import making
from benchmarks.playbooks import reading
from benchmarks.proving import proving
from benchmarks.sizes import sizes, sizes_table
from benchmarks.starting import first_words, starting
from benchmarks.stepping import stepping

SUITES: dict[str, Callable[[], list[Figure]]] = {
    "compile": compiling,
    "grow": growing,
    "cliffs": growing_worst,
    "make": making,
    "playbook": reading,
    "yaml": composing,
    "targets": emitting,
    "start": starting,
    "program": first_words,
    "build": building,
    "step": stepping,
    "rules": proving,
    "view": looking,
    "edit": editing,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for.

    Returns:
        The exit code: 1 if a limit is exceeded, else 0.
    """
    options = _options(arguments)
    figures: list[Figure] = []
    for name in options.suites or SUITES:
        print(f"measuring: {name} …", file=sys.stderr, flush=True)
        figures += SUITES[name]()
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, {platform.system()}\n")
    print(table(figures))
    found = [] if options.suites else sizes()
    if found:
        print(f"\n{sizes_table(found)}")
    over = [one.what for one in figures if one.is_over] + [one.what for one in found if one.is_over]
    if over:
        print(f"\n{len(over)} over the limit: {'; '.join(over)}")
    return int(bool(over) and not options.no_limit)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure the speed of rdc. Each figure is a ratio to a yardstick measured alternately with it.",
        epilog="See docs/performance.md for the figures.",
    )
    parser.add_argument(
        "suites", nargs="*", metavar="SUITE", help=f"what to measure: {', '.join(SUITES)} (default: all)"
    )
    parser.add_argument("--no-limit", action="store_true", help="exit with 0 even if a limit is exceeded")
    options = parser.parse_args(arguments)
    if unknown := set(options.suites) - SUITES.keys():
        parser.error(f"no such suite: {', '.join(sorted(unknown))}")
    return options


if __name__ == "__main__":
    sys.exit(main())
