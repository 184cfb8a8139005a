"""The steps of a specification in jobs. Each gate before a step starts a new job (B4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from backends.github.calling.steps import AROUND
from backends.github.identifiers import identifiers, identifiers_of
from backends.scheduling.flow import Identifiers
from backends.specification import Specification, Step
from compiler.ir.program import Node, Program


class LinePart(Struct, frozen=True):
    """A job: steps in document order. The first step may have gates that are approved before the job."""

    id: str
    steps: tuple[Step, ...]
    gates: tuple[Node, ...] = ()


class Line(Struct, frozen=True, dict=True):
    """A program with a contract as a sequence of jobs."""

    program: Program

    @cached_property
    def contract(self) -> Specification:
        """The program's specification."""
        return Specification(self.program)

    @cached_property
    def ids(self) -> Identifiers:
        """The identifiers of steps. A step is named after the node that does its work."""
        return identifiers_of(self.program, AROUND)

    @cached_property
    def parts(self) -> Sequence[LinePart]:
        """The jobs in order. The first one opens the run."""
        cuts = list(self._cut())
        if len(cuts) == 1:
            return [LinePart(self.program.kind, tuple(cuts[0]))]
        return [LinePart(f"part_{number}", tuple(cut), _gates(number, cut)) for number, cut in enumerate(cuts, 1)]

    def _cut(self) -> Iterator[list[Step]]:
        cut: list[Step] = []
        for number, step in enumerate(self.contract.steps.values()):
            if step.gates and (cut or number == 0):
                yield cut
                cut = []
            cut.append(step)
        yield cut

    @cached_property
    def approvals(self) -> dict[str, str]:
        """The ids of the jobs that wait for an approval, by their gates."""
        gates = [node.id for step in self.contract.steps.values() for node in step.gates]
        taken = [part.id for part in self.parts]
        return identifiers(((gate, f"approve {gate}") for gate in gates), taken)

    def before(self, part: LinePart) -> LinePart | None:
        """Return the job before another one."""
        number = self.parts.index(part)
        return self.parts[number - 1] if number else None

    def after(self, part: LinePart) -> LinePart | None:
        """Return the job after another one."""
        number = self.parts.index(part) + 1
        return self.parts[number] if number < len(self.parts) else None


def _gates(number: int, cut: Sequence[Step]) -> tuple[Node, ...]:
    return cut[0].gates if number > 1 and cut else ()
