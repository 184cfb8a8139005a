"""The soak of playbooks: random ones on all ways, from fresh seeds, until the time is over or something differs."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace

from tests.equivalence.difference import DifferenceError
from tests.playbooks.drawing import random_told
from tests.playbooks.model import Told
from tests.playbooks.render import document
from tests.playbooks.smaller import made_smaller
from tests.playbooks.ways import try_way
from tests.programs.ways import WAYS

PREFIX = "playbooks-"
"""Before the names of ways, where those of documents and programs stand beside them."""

BATCH = 20
"""Playbooks from one seed."""

SHRINKING = 120.0
"""Seconds for making a playbook smaller."""

THREADS = ThreadPoolExecutor(2)


@dataclass(frozen=True)
class Finding:
    """A playbook, as small as it could be made, that a way does not run as the rules say."""

    told: Told
    way: str
    seed: int
    error: BaseException

    @property
    def what(self) -> str:
        """What differs, or where anything else was raised, and the playbook."""
        error = self.error
        said = str(error) if isinstance(error, DifferenceError) else "".join(traceback.format_exception(error)[-4:])
        return f"{said}\n{shown(self.told)}"


def shown(told: Told) -> str:
    """A playbook with all that is given and replied, for the report of a difference."""
    return f"{document(told.book)}\nfiles {told.book.files}\ninputs {told.inputs}\nreplies {told.replies}\n{told!r}\n"


@dataclass
class Soak:
    """What was tried, and the last difference that was found."""

    ways: tuple[str, ...]
    until: float
    most: int
    counts: Counter[str] = field(default_factory=Counter)
    playbooks: int = 0
    finding: Finding | None = None

    @property
    def is_over(self) -> bool:
        """Whether no further playbook is to be tried."""
        return time.monotonic() >= self.until or max(self.counts.values(), default=0) >= self.most

    @property
    def told(self) -> str:
        """What was tried, in words."""
        walks = ", ".join(f"{PREFIX}{name} {self.counts[name]}" for name in self.ways)
        return f"{self.playbooks} playbooks, walks: {walks}"

    def batch(self, number: int) -> Finding | None:
        """Try the playbooks of a seed."""
        for seed in range(number * BATCH, (number + 1) * BATCH):
            if self.is_over or self.finding:
                break
            self._try(seed)
        if self.finding:
            made_smaller(self.finding.told, self._shows, SHRINKING)
        return self.finding

    def _try(self, seed: int) -> None:
        told = random_told(seed)
        self.playbooks += 1
        due = [name for name in self.ways if name not in WAYS or self.playbooks % WAYS[name].every == 0]
        running = [(name, THREADS.submit(try_way, name, told)) for name in due]
        wait(future for _, future in running)
        for name, future in running:
            if error := future.exception():
                self.finding = Finding(told, name, seed, error)
                return
            self.counts[name] += future.result()

    def _shows(self, told: Told) -> bool:
        """Whether a playbook shows what was found, which is then found in this one."""
        assert self.finding
        try:
            try_way(self.finding.way, told)
        except Exception as error:  # noqa: BLE001 (what was found may be any)
            if str(error.args[:1]) == str(self.finding.error.args[:1]):
                self.finding = replace(self.finding, told=told, error=error)
                return True
        return False
