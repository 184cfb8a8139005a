"""The soak: random documents and programs on all drivers, from fresh seeds, until the time is over or one differs."""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

from compiler.ir.features import Feature
from compiler.ir.verify import issues
from tests.differential.case import Case, DifferenceError
from tests.differential.drivers import DRIVERS, NAMES, SEMANTICS, carried, missing, try_driver
from tests.differential.generate.agent_workflow import random_workflow
from tests.differential.generate.playbook import random_playbook
from tests.differential.generate.program import random_case
from tests.differential.generate.rundown import random_runbook
from tests.differential.oracles import agent_workflow, playbook, rundown
from tests.differential.shrink import made_smaller
from tests.differential.stepspec import random_specification
from tests.support import interpreters
from tests.support.process import ROOT

SLOW = {Feature.TIMEOUTS, Feature.DELAYS}
"""What only the soak waits for."""


@dataclass(frozen=True)
class Format:
    """A format. `draw` takes a seed and the name of a driver, of which it may draw what its target carries."""

    name: str
    draw: Callable[[int, str], Any]
    case_of: Callable[[Any], Case]
    drivers: tuple[str, ...]

    def try_driver(self, driver: str, drawn: Any) -> bool:
        """Compare what was drawn by a driver; False if there is nothing to compare."""
        return self.attempt(drawn)(driver)

    def attempt(self, drawn: Any) -> Callable[[str], bool]:
        """What compares what was drawn by each driver; it is compiled once."""
        case = self.case_of(drawn)
        return lambda driver: try_driver(driver, case)


class StepSpecs(Format):
    """Specifications, whose runs are killed at any instant, in a process of their own."""

    def attempt(self, drawn: Any) -> Callable[[str], bool]:
        """What drives a run, with kills."""
        return lambda _: self._drive(drawn)

    def _drive(self, drawn: Any) -> bool:
        command = [sys.executable, "-m", "tests.differential.stepspec", "-"]
        given = json.dumps(asdict(drawn))
        done = subprocess.run(command, cwd=ROOT, input=given, capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stderr[-8000:])
        return True


def valid(case: Case) -> Case:
    if found := issues(case.compiled):
        raise DifferenceError("a program that is none", found, [])
    return case


def _kind(driver: str) -> str:
    return "" if driver == SEMANTICS else DRIVERS[driver].kind


FORMATS = {
    "rundown": Format("rundown", lambda seed, driver: random_runbook(seed, _kind(driver)), rundown.case_of, NAMES),
    "program": Format("program", lambda seed, driver: random_case(seed, carried(driver)), valid, NAMES),
    "playbook": Format("playbook", lambda seed, _: random_playbook(seed), playbook.case_of, (SEMANTICS,)),
    "agent-workflow": Format(
        "agent-workflow", lambda seed, _: random_workflow(seed), agent_workflow.case_of, (SEMANTICS,)
    ),
    "stepspec": StepSpecs("stepspec", lambda seed, _: random_specification(seed), valid, ("killed",)),
}


@lru_cache(256)
def _runbook(seed: int, kind: str) -> Case:
    return rundown.case_of(random_runbook(seed, kind))


def cases(name: str, driver: str) -> Iterator[Case]:
    """The cases of a format that a driver may take, always the same ones; those that pause are for the soak."""
    for seed in count():
        if name == "rundown":
            yield _runbook(seed, _kind(driver))
        elif name == "program":
            yield random_case(seed, carried(driver) if driver == SEMANTICS else carried(driver) - SLOW)
        else:
            yield FORMATS[name].case_of(FORMATS[name].draw(seed, driver))


BATCH = 20
"""Cases of a format from one seed."""

SHRINKING = 120.0
"""Seconds for making a case smaller."""

PAUSE = 60.0
"""Seconds between two lines of progress."""

THREADS = ThreadPoolExecutor(2)
"""Paths at the same time: most of one is waiting for processes."""


@dataclass(frozen=True)
class Finding:
    """A case, as small as it could be made, that a driver does not run as the rules ask."""

    format: Format
    drawn: Any
    driver: str
    seed: int
    error: BaseException
    always: bool = True

    @property
    def what(self) -> str:
        """What differs, or where anything else was raised."""
        error = self.error
        text = str(error) if isinstance(error, DifferenceError) else "".join(traceback.format_exception(error)[-4:])
        return text if self.always else f"{text}\n  (not always: it did not happen again)"


@dataclass
class Soak:
    """What was tried by the drivers of each format, and the last difference that was found."""

    drivers: Mapping[str, Sequence[str]]
    until: float
    most: int
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    drawn: Counter[str] = field(default_factory=Counter)
    finding: Finding | None = None

    def is_over(self, name: str) -> bool:
        """Whether no further case of a format is to be tried."""
        most = max((self.counts[name, driver] for driver in self.drivers[name]), default=0)
        return self.finding is not None or time.monotonic() >= self.until or most >= self.most

    @property
    def progress(self) -> str:
        return "; ".join(
            f"{self.drawn[name]} {name}s, paths: {', '.join(f'{each} {self.counts[name, each]}' for each in drivers)}"
            for name, drivers in self.drivers.items()
        )

    def run(self, first: int, tell: Callable[[], None]) -> None:
        """Try batch after batch of each format in turn, with something to tell after each."""
        number = first
        while left := [name for name in self.drivers if not self.is_over(name)]:
            for name in left:
                if self.is_over(name):
                    continue
                self._batch(FORMATS[name], number)
                tell()
                if self.finding:
                    return
            number += 1

    def _batch(self, format_: Format, number: int) -> None:
        for seed in range(number * BATCH, (number + 1) * BATCH):
            if self.is_over(format_.name):
                break
            self._try(format_, seed)
        if self.finding:
            again = self.finding
            if self._shows(again.drawn):
                made_smaller(again.drawn, self._shows, SHRINKING)
            else:
                self.finding = replace(again, always=False)

    def _try(self, format_: Format, seed: int) -> None:
        """Try what a seed gives, drawn for one of the drivers, by all whose turn it is."""
        drivers = self.drivers[format_.name]
        self.drawn[format_.name] += 1
        number = self.drawn[format_.name]
        drawn = format_.draw(seed, drivers[number % len(drivers)])
        due = [name for name in drivers if name not in DRIVERS or number % DRIVERS[name].every == 0]
        try:
            attempt = format_.attempt(drawn)
        except Exception as why:  # noqa: BLE001 (the compiler may raise any)
            self.finding = Finding(format_, drawn, drivers[0], seed, why)
            return
        running = [(name, THREADS.submit(attempt, name)) for name in due]
        wait(future for _, future in running)
        for name, future in running:
            if error := future.exception():
                self.finding = Finding(format_, drawn, name, seed, error)
                return
            self.counts[format_.name, name] += future.result()

    def _shows(self, drawn: Any) -> bool:
        """Whether a case shows what was found, which is then found in this case."""
        found = self.finding
        assert found
        try:
            found.format.try_driver(found.driver, drawn)
        except Exception as error:  # noqa: BLE001 (what was found may be any)
            if str(error.args[:1]) == str(found.error.args[:1]):
                self.finding = replace(found, drawn=drawn, error=error)
                return True
        return False


# --- The command line -------------------------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    """Run the soak as the command line asks; 1 if it has found a difference, or has nothing to run."""
    options = _options(words)
    interpreters.put_first()
    began = time.monotonic()
    first = random.randrange(10**9) if options.seed is None else options.seed
    able = set(_available(options.drivers))
    drivers = {name: [each for each in FORMATS[name].drivers if each in able] for name in options.formats}
    drivers = {name: each for name, each in drivers.items() if each}
    known = ", ".join(dict.fromkeys(each for some in drivers.values() for each in some)) or "none"
    print(f"soak: {options.minutes:g} minutes, seed {first}, formats {', '.join(drivers)}, drivers {known}", flush=True)
    if not drivers:
        return 1
    soak = Soak(drivers, began + options.minutes * 60, options.most)
    last = began

    def tell() -> None:
        nonlocal last
        if all(soak.is_over(name) for name in drivers) or time.monotonic() - last >= PAUSE:
            last = time.monotonic()
            print(f"{(last - began) / 60:5.1f} min, {soak.progress}", flush=True)

    soak.run(first, tell)
    if soak.finding:
        _report(soak.finding)
    return int(soak.finding is not None)


def _report(finding: Finding) -> None:
    name = finding.format.name
    print(f"\nDIFFERENCE on {name} by {finding.driver} (seed {finding.seed}): {finding.what}")
    if not isinstance(finding.drawn, Case):
        print(repr(finding.drawn))
    try:
        case = finding.format.case_of(finding.drawn)
    except Exception:  # noqa: BLE001 (it does not compile, or is a specification)
        print("As a regression case: write it as a test beside the generator of its format.")
        return
    folder = Path(tempfile.mkdtemp(prefix="difference-"))
    case.write(folder)
    place = f"tests/differential/found/{name}/"
    print(f"{case!r}\nAs a regression case: move {folder} to {place}, under a name that describes the defect.")


def _available(names: Sequence[str]) -> Iterator[str]:
    """The drivers for which this machine has all that they need."""
    for name in names:
        if name in DRIVERS and (lacking := missing(name)):
            print(f"soak: {name} is left out: {lacking}", flush=True)
        else:
            yield name


def _chosen(known: Sequence[str], what: str) -> Callable[[str], tuple[str, ...]]:
    def chosen(names: str) -> tuple[str, ...]:
        found = tuple(names.split(","))
        if wrong := sorted(set(found) - set(known)):
            raise argparse.ArgumentTypeError(f"no {what}: {', '.join(wrong)}; known are {', '.join(known)}")
        return found

    return chosen


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    drivers = tuple(dict.fromkeys(driver for each in FORMATS.values() for driver in each.drivers))
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to go on (default: 10)")
    parser.add_argument("--seed", type=int, help="the seed of the first batch (default: a fresh one)")
    parser.add_argument(
        "--formats", type=_chosen(tuple(FORMATS), "format"), default=tuple(FORMATS), help="formats, separated by commas"
    )
    parser.add_argument(
        "--drivers", type=_chosen(drivers, "driver"), default=drivers, help="drivers, separated by commas"
    )
    parser.add_argument("--most", type=int, default=sys.maxsize, help="how many paths at most of a format by a driver")
    return parser.parse_args(words)
