"""The soak of programs: random cases on all drivers, from fresh seeds, until the time is over or something differs."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Flaky

from compiler.ir.features import Feature
from tests.equivalence.difference import DifferenceError
from tests.programs.cases import Case
from tests.programs.drivers import DRIVERS, carried, try_driver
from tests.programs.smaller import made_smaller
from tests.programs.strategies import cases, random_case

PREFIX = "programs-"
"""Before the names of drivers, where those of documents stand beside them."""

BATCH = 20
"""Cases from one seed."""

SHRINKING = 120.0
"""Seconds for making a case smaller, after hypothesis has done what it can."""

BOUNDED = settings(
    max_examples=BATCH,
    derandomize=False,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    print_blob=False,
)

THREADS = ThreadPoolExecutor(2)


@dataclass(frozen=True)
class Finding:
    """A case, as small as it could be made, that a driver does not run as the rules say."""

    case: Case
    driver: str
    seed: int
    error: BaseException
    always: bool = True

    @property
    def what(self) -> str:
        """What differs, or where anything else was raised."""
        error = self.error
        said = str(error) if isinstance(error, DifferenceError) else "".join(traceback.format_exception(error)[-4:])
        return said if self.always else f"{said}\n  (not always: it did not happen again)"


@dataclass
class Soak:
    """What was tried, and the last difference that was found."""

    drivers: tuple[str, ...]
    until: float
    most: int
    counts: Counter[str] = field(default_factory=Counter)
    programs: int = 0
    finding: Finding | None = None

    @property
    def is_over(self) -> bool:
        """Whether no further case is to be tried; what was found is still made smaller."""
        enough = time.monotonic() >= self.until or max(self.counts.values(), default=0) >= self.most
        return not self.finding and enough

    @property
    def told(self) -> str:
        """What was tried, in words."""
        traces = ", ".join(f"{PREFIX}{name} {self.counts[name]}" for name in self.drivers)
        return f"{self.programs} programs, paths: {traces}"

    def batch(self, number: int) -> Finding | None:
        """Try the cases of a seed; targets that carry less than others get programs of their own in turn."""
        kinds = sorted({carried(name) for name in self.drivers}, key=lambda each: (len(each), sorted(each)))
        known = kinds[number % len(kinds)]

        if number // len(kinds) % 2:
            return self._batch_by_chance(number, known)

        @BOUNDED
        @seed(number)
        @given(cases(known))
        def try_cases(case: Case) -> None:
            if not self.is_over:
                self._try_case(case, number)

        try:
            try_cases()
        except Flaky:
            assert self.finding
            self.finding = replace(self.finding, always=False)
        except Exception:
            if self.finding is None:
                raise
            made_smaller(self.finding.case, self._shows, SHRINKING)
        return self.finding

    def _batch_by_chance(self, number: int, known: frozenset[Feature]) -> Finding | None:
        """Cases that hypothesis has no hand in."""
        for count in range(BATCH):
            if self.is_over:
                break
            try:
                self._try_case(random_case(number * BATCH + count, known), number)
            except Exception:
                if self.finding is None:
                    raise
                made_smaller(self.finding.case, self._shows, SHRINKING)
                break
        return self.finding

    def _try_case(self, case: Case, number: int) -> None:
        is_new = self.finding is None
        self.programs += is_new
        due = [name for name in self.drivers if name not in DRIVERS or self.programs % DRIVERS[name].every == 0]
        names = [self.finding.driver] if self.finding else due
        running = [(name, THREADS.submit(try_driver, name, case)) for name in names]
        wait(future for _, future in running)
        for name, future in running:
            if error := future.exception():
                self.finding = Finding(case, name, number, error)
                raise error
            self.counts[name] += future.result() and is_new

    def _shows(self, case: Case) -> bool:
        """Whether a case shows what was found, which is then found in this case."""
        assert self.finding
        try:
            try_driver(self.finding.driver, case)
        except Exception as error:  # noqa: BLE001 (what was found may be any)
            if str(error.args[:1]) == str(self.finding.error.args[:1]):
                self.finding = replace(self.finding, case=case, error=error)
                return True
        return False
