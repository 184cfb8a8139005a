"""The soak: random cases on all ways, from fresh seeds, until the time is over or something differs."""

from __future__ import annotations

import time
import traceback
from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Flaky

from .cases import Case
from .difference import DifferenceError
from .scenario import scenario
from .smaller import made_smaller
from .strategies import cases
from .ways import WAYS, try_way

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


@dataclass(frozen=True)
class Finding:
    """A case, as small as it could be made, that a way does not run as the rules say."""

    case: Case
    way: str
    seed: int
    error: Exception
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

    ways: tuple[str, ...]
    until: float
    most: int
    counts: Counter[str] = field(default_factory=Counter)
    cases: int = 0
    finding: Finding | None = None

    @property
    def is_over(self) -> bool:
        """Whether no further case is to be tried; what was found is still made smaller."""
        return not self.finding and (time.monotonic() >= self.until or self.cases >= self.most)

    def batch(self, number: int) -> Finding | None:
        """Try the cases of a seed."""

        @BOUNDED
        @seed(number)
        @given(cases())
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
        """Try all ways; as soon as something was found, only the way that it was found on."""
        prepared = scenario(case)
        is_new = self.finding is None
        self.cases += is_new
        due = [name for name in self.ways if self.cases % WAYS[name].every == 0]
        for name in [self.finding.way] if self.finding else due or self.ways:
            try:
                self.counts[name] += try_way(name, prepared) and is_new
            except Exception as error:
                self.finding = Finding(case, name, number, error, always=True)
                raise

    def is_found_in(self, case: Case) -> bool:
        """Whether a case shows what was found, which is then found in this case."""
        assert self.finding
        try:
            try_way(self.finding.way, scenario(case))
        except Exception as error:  # noqa: BLE001 (what was found may be any)
            if str(error.args[:1]) == str(self.finding.error.args[:1]):
                self.finding = replace(self.finding, case=case, error=error)
                return True
        return False


def run(soak: Soak, first: int, tell: Callable[[Soak], None]) -> Finding | None:
    """Try batch after batch, with something to tell after each."""
    while True:
        finding = soak.batch(first)
        tell(soak)
        if finding or soak.is_over:
            return finding
        first += 1


def known(names: str) -> tuple[str, ...]:
    """The ways of some names, separated by commas; the command line refuses others."""
    chosen = tuple(names.split(","))
    wrong = sorted(set(chosen) - set(WAYS))
    if wrong:
        raise ArgumentTypeError(f"no way: {', '.join(wrong)}; known are {', '.join(WAYS)}")
    return chosen
