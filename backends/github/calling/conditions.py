"""When the jobs of a workflow run that calls the program: conditions over the results and outputs of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from backends.github.workflow import all_of
from backends.scheduling.jobs import Jobs, Part
from backends.scheduling.places import Place


class Conditions(Struct, frozen=True):
    """Names the jobs of parts, gates and matrices, and says when each runs.

    `ids` are those of the steps of nodes, `word` gives what conditions call a place, `kind` is that of the document.
    """

    cut: Jobs
    ids: Mapping[str, str]
    word: Callable[[str], str]
    kind: str

    def id_of(self, part: Part) -> str:
        """The id of the job of a part."""
        return f"part_{part.level + 1}" if self.cut.is_cut else self.kind

    def gates(self, place: Place) -> list[str]:
        """The ids of the jobs that wait for the approval of a place; each further one asks after a rejection."""
        first = f"approve_{self.ids[place.name]}"
        return [first, *(f"{first}_again_{number}" for number in range(1, self.cut.asked(place)))]

    def entries(self, place: Place) -> str:
        """The id of the job that is a matrix of the agents of a place."""
        return f"entries_{self.ids[place.name]}"

    def left_at(self, part: Part, name: str) -> str:
        """That a job has left the run at a node."""
        return f"needs.{self.id_of(part)}.outputs.next == '{self.word(name)}'"

    def reached(self, part: Part) -> str:
        """When a part is reached: an earlier one hands the run on to it, or others have decided just before."""
        earlier = self.handing(part)
        before = earlier[-1]
        tests = [self.left_at(other, name) for other, name in self.cut.handed(part)]
        tests += [self._decided(place) for place in before.questions]
        tests += [f"needs.{self.entries(place)}.result != 'skipped'" for place in before.matrices]
        sure = earlier if earlier == [before] else [other for other in earlier if other.level == 0]
        fine = (f"needs.{self.id_of(other)}.result == 'success'" for other in sure)
        later = (
            f"needs.{name}.result == 'success' || needs.{name}.result == 'skipped'"
            for name in [self.id_of(other) for other in earlier if other not in sure]
        )
        passed = (self._let_through(place) for each in earlier[:-1] for place in each.questions)
        return all_of("!cancelled()", *fine, *later, *passed, " || ".join(tests))

    def handing(self, part: Part) -> Sequence[Part]:
        """The parts just before one, any of which may hand the run on; those before them have ended in success then."""
        first = min((other.level for other, _ in self.cut.handed(part)), default=part.level - 1)
        return self.cut.parts[first : part.level]

    def _decided(self, place: Place) -> str:
        """That people have decided about a gate; a rejection matters only where the run can go on after it."""
        gates = [f"needs.{gate}.result" for gate in self.gates(place)]
        rejected = [f"{gates[-1]} == 'failure'"] if self.cut.survives(place) else []
        return " || ".join([*(f"{gate} == 'success'" for gate in gates), *rejected])

    def _let_through(self, place: Place) -> str:
        """That no earlier gate has failed: the run may have gone past it, or was let through."""
        return f"{self._decided(place)} || needs.{self.gates(place)[0]}.result == 'skipped'"

    def asked(self, part: Part, place: Place) -> str:
        """When the job beside a part runs that decides about a place, if the part has succeeded.

        Without a status function GitHub would skip it wherever some earlier job was skipped.
        """
        left = self.left_at(part, place.name)
        return all_of("!cancelled()", f"needs.{self.id_of(part)}.result == 'success'", left) if part.level else left
