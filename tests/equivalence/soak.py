"""The soak: random cases on all drivers, from fresh seeds, until the time is over or something differs."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Protocol

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Flaky
from hypothesis.strategies import one_of

from tests.equivalence.cases import Case
from tests.equivalence.difference import DifferenceError
from tests.equivalence.drivers import DRIVERS, attempts
from tests.equivalence.smaller import made_smaller

BATCH = 50
"""Cases from one seed."""

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


SHRINKING = 120.0
"""Seconds for making a case smaller, after hypothesis has done what it can."""


AT_ONCE = 2
"""Paths at the same time: most of one is waiting for processes."""

THREADS = ThreadPoolExecutor(AT_ONCE)


@dataclass(frozen=True)
class Finding:
    """A case, as small as it could be made, that a driver does not run as the rules say."""

    case: Case
    driver: str
    seed: int
    error: BaseException
    always: bool

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
    """How many paths with one driver."""
    counts: Counter[str] = field(default_factory=Counter)
    """The paths with each driver."""
    documents: int = 0
    """The main documents that were compiled; a driver with tables walks through one of them several times."""
    finding: Finding | None = None

    @property
    def told(self) -> str:
        """What was tried, in words."""
        return f"{self.documents} documents, paths: {', '.join(f'{name} {self.counts[name]}' for name in self.drivers)}"

    @property
    def is_over(self) -> bool:
        """Whether no further case is to be tried; what was found is still made smaller."""
        return not self.finding and (
            time.monotonic() >= self.until or max(self.counts.values(), default=0) >= self.most
        )

    def batch(self, number: int) -> Finding | None:
        """Try the cases of a seed."""

        @BOUNDED
        @seed(number)
        @given(one_of(*(documents() for documents in dict.fromkeys(DRIVERS[name].documents for name in self.drivers))))
        def try_cases(case: Case) -> None:
            if not self.is_over:
                self.try_case(case, number)

        try:
            try_cases()
        except Flaky:
            assert self.finding
            self.finding = replace(self.finding, always=False)
        except Exception:
            if self.finding is None:
                raise
            made_smaller(self.finding.case, self.is_found_in, SHRINKING)
        return self.finding

    def try_case(self, case: Case, number: int) -> None:
        """Try all drivers; as soon as something was found, only the driver that it was found on."""
        self.documents += self.finding is None
        due = [name for name in self.drivers if self.documents % DRIVERS[name].every == 0]
        for name in [self.finding.driver] if self.finding else due or self.drivers:
            self._try_driver(name, case, number)

    def _try_driver(self, name: str, case: Case, number: int) -> None:
        is_new = self.finding is None
        with attempts(name, case) as found:
            for some in (found[first : first + AT_ONCE] for first in range(0, len(found), AT_ONCE)):
                if self.is_over:
                    return
                running = [(tried, THREADS.submit(attempt)) for tried, attempt in some]
                wait(future for _, future in running)
                for tried, future in running:
                    if error := future.exception():
                        self.finding = Finding(tried, name, number, error, always=True)
                        raise error
                    self.counts[name] += future.result() and is_new

    def is_found_in(self, case: Case) -> bool:
        """Whether a case shows what was found, which is then found in this case."""
        assert self.finding
        with attempts(self.finding.driver, case) as found:
            return any(self._is_found_by(tried, attempt) for tried, attempt in found)

    def _is_found_by(self, tried: Case, attempt: Callable[[], bool]) -> bool:
        assert self.finding
        try:
            attempt()
        except Exception as error:  # noqa: BLE001 (what was found may be any)
            if str(error.args[:1]) == str(self.finding.error.args[:1]):
                self.finding = replace(self.finding, case=tried, error=error)
                return True
        return False


class Batches(Protocol):
    """Something to go on with batch after batch: documents, or programs."""

    @property
    def is_over(self) -> bool: ...

    def batch(self, number: int) -> object: ...


def run(soaks: Sequence[Batches], first: int, tell: Callable[[], None]) -> None:
    """Try batch after batch, each time of the next soak, until one has a finding, with something to tell after each."""
    left = [soak for soak in soaks if not soak.is_over]
    while left:
        for soak in left:
            finding = soak.batch(first)
            tell()
            if finding:
                return
        first += 1
        left = [soak for soak in left if not soak.is_over]
