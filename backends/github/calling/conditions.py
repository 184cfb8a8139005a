"""When the jobs of a workflow that calls the program run: conditions on results and outputs of other jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from backends.github.workflow import all_of
from backends.scheduling.jobs import Jobs, Part
from backends.scheduling.places import Place


class Conditions(Struct, frozen=True):
    """Names the jobs of parts, gates and matrices, and returns the condition of each.

    `ids` are the ids of nodes' steps, `word` returns the name of a place in conditions, `kind` is the document's kind.
    """

    cut: Jobs
    ids: Mapping[str, str]
    word: Callable[[str], str]
    kind: str

    def id_of(self, part: Part) -> str:
        """Return the id of a part's job."""
        return f"part_{part.level + 1}" if self.cut.is_cut else self.kind

    def gate(self, place: Place) -> str:
        """Return the id of the job that waits for a place's approval."""
        return f"approve_{self.ids[place.name]}"

    def entries(self, place: Place) -> str:
        """Return the id of the matrix job that calls the agents of a place."""
        return f"entries_{self.ids[place.name]}"

    def left_at(self, part: Part, name: str) -> str:
        """Return the condition that a job left the run at a node."""
        return f"needs.{self.id_of(part)}.outputs.next == '{self.word(name)}'"

    def reached(self, part: Part) -> str:
        """Return the condition of a part: an earlier part hands it the run, or people or agents have just decided."""
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
        asked = (place for each in earlier[:-1] for place in each.questions)
        passed = (f"{self._decided(place)} || needs.{self.gate(place)}.result == 'skipped'" for place in asked)
        return all_of("!cancelled()", *fine, *later, *passed, " || ".join(tests))

    def handing(self, part: Part) -> Sequence[Part]:
        """Return the parts that may hand the run to a part. The parts before them have succeeded by then."""
        first = min((other.level for other, _ in self.cut.handed(part)), default=part.level - 1)
        return self.cut.parts[first : part.level]

    def _decided(self, place: Place) -> str:
        """Return the condition that people decided about a gate.

        A rejection counts only if the run can continue after it.
        """
        result = f"needs.{self.gate(place)}.result"
        return f"{result} == 'success'" + (f" || {result} == 'failure'" if self.cut.survives(place) else "")

    def asked(self, part: Part, place: Place) -> str:
        """Return the condition of the job that decides about a place after a part.

        Without a status function, GitHub would skip the job if any earlier job was skipped.
        """
        left = self.left_at(part, place.name)
        return all_of("!cancelled()", f"needs.{self.id_of(part)}.result == 'success'", left) if part.level else left
