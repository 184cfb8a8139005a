"""A case of the differential tests: documents, a way to write them, and the outcomes of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tests.equivalence.model import Files, Runbook
from tests.equivalence.oracle import NOTHING_GIVEN, Operator, walk
from tests.equivalence.render import PLAIN, Style, render, render_files
from tests.equivalence.visits import Given, Jump, Trace, Visit

LIMIT = 60
MAIN = "main.runbook.md"
OTHERS = 12
"""How many paths are looked at to find out which steps a run can come to."""


@dataclass(frozen=True)
class Outcomes:
    """The outcome of each visit by its index: a given start, then bits without a period.

    A period could keep a loop going forever; without one nearly every path ends. The share of passes differs
    from seed to seed, so that long paths occur as well as failures.
    """

    start: tuple[bool, ...] = ()
    seed: int = 0

    def __call__(self, visit: Visit) -> bool:
        """The outcome of a visit."""
        if visit.index < len(self.start):
            return self.start[visit.index]
        share = (128, 176, 208, 96)[self.seed % 4]
        return hashlib.sha256(f"{self.seed}/{visit.index}".encode()).digest()[0] < share


@dataclass(frozen=True)
class Case:
    """Something to compare targets on; it prints as the documents that it stands for."""

    runbook: Runbook
    files: Files = field(default_factory=dict)
    style: Style = PLAIN
    outcomes: Outcomes = Outcomes()
    main: str = MAIN
    given: Given = NOTHING_GIVEN
    jumps: tuple[tuple[int, int], ...] = ()
    """The operator's jumps: as soon as one can after so many visits, to one of the steps."""

    def documents(self) -> dict[str, str]:
        """All documents by path, the outermost under `main`."""
        return {self.main: render(self.runbook, self.style)} | render_files(self.files, self.style)

    def walk(self, limit: int = LIMIT) -> Trace:
        """The path by the rules."""
        operator = Operator(dict(self.jumps), self._steps()) if self.jumps else None
        return walk(self.runbook, self.files, self.outcomes, limit, self.given, operator)

    def _steps(self) -> frozenset[str]:
        """Steps that a run can come to without an operator."""
        traces = [
            walk(self.runbook, self.files, Outcomes(seed=self.outcomes.seed + seed), LIMIT, self.given)
            for seed in range(OTHERS)
        ]
        return frozenset(visit.label for taken in traces for visit, _ in taken.visits)

    def __repr__(self) -> str:
        """The documents and the expected path, for the report of a failing test."""
        parts = [f"----- {path}\n{text}" for path, text in self.documents().items()]
        given = f"----- given\n{self.given}\n" if self.given != NOTHING_GIVEN else ""
        return "\n" + "".join(parts) + f"{given}----- path\n{show_path(self.walk())}\n"


def tables(case: Case, number: int) -> Iterator[Case]:
    """The case and the same documents with other outcomes: of so many tables those with a path of their own."""
    seen: set[Trace] = set()
    for added in range(number):
        other = replace(case, outcomes=Outcomes(seed=case.outcomes.seed + added)) if added else case
        taken = other.walk()
        if taken not in seen:
            seen.add(taken)
            yield other


def show_visit(visit: Visit, passed: bool) -> str:
    """A visit in one word, such as `1.{n}#2@.3+`: step, attempt if not the first, instances, outcome."""
    attempt = f"#{visit.attempt}" if visit.attempt > 1 else ""
    instances = ""
    if visit.step_instance is not None or visit.substep_instance is not None:
        instances = f"@{visit.step_instance or ''}.{visit.substep_instance or ''}"
    return f"{visit.label}{attempt}{instances}{'+' if passed else '-'}"


def show_path(taken: Trace) -> str:
    """A path in words."""
    end = "cut off" if taken.end is None else " ".join(taken.end).strip()
    words: list[str] = []
    for index, visit in enumerate([*taken.visits, None]):
        words += [show_jump(jump) for jump in taken.jumps if jump.index == index]
        words += [show_visit(*visit)] if visit else []
    return " ".join([*words, "=>", end])


def show_jump(jump: Jump) -> str:
    """A jump in one word, such as `[3]1.2`: the step that waits, if one does, and the one where the run goes on."""
    return f"[{jump.waiting}]{jump.step}"
