"""The jobs of a run: one, or several where others decide in between, each of which hands the run on to the next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from backends.github.condition import Condition
from backends.github.identifiers import REVIEWS, Identifiers
from backends.github.places import Place
from backends.github.prompts import Decision
from backends.github.scalar import Expression
from compiler.ir.program import Noun


@dataclass(frozen=True, slots=True)
class Part:
    """The places of one job in order, and when the job is reached.

    Jobs of their own decide about some places after it: about `questions` people do, about `matrices` agents.
    `environment` is one that the job has whatever the options say.
    """

    id: str
    places: tuple[Place, ...]
    reached: Condition
    questions: tuple[Place, ...] = ()
    matrices: tuple[Place, ...] = ()
    environment: str = ""

    @property
    def apart(self) -> tuple[Place, ...]:
        """The places that jobs of their own decide about."""
        return (*self.questions, *self.matrices)


class Jobs(ABC):
    """Places cut into jobs. Remembers in `outputs` which facts about its steps each job must hand on to later ones.

    A place comes after all decisions that lead to it: its level is the number of decisions on the longest path there.
    """

    parts: Sequence[Part]

    def __init__(self, ids: Identifiers, levels: dict[str, int], kind: Noun, *, is_cut: bool) -> None:
        self.ids = ids
        self._kind = kind
        self.levels = levels
        self.outputs: dict[str, dict[str, Expression]] = {}
        self.last = max(levels.values())
        self._single = self.last == 0 and not is_cut

    @abstractmethod
    def is_gate(self, place: Place) -> bool:
        """Whether people decide about a place by approval."""

    @abstractmethod
    def condition(self, part: Part, place: Place) -> str:
        """When a place of a part is reached, as an expression; empty where that is whenever the part is."""

    @abstractmethod
    def whole(self, part: Part) -> str:
        """When a part is reached, as an expression for its job."""

    @abstractmethod
    def asked(self, part: Part, place: Place) -> str:
        """When others are to decide about a place of a part, as an expression for the job by which they do."""

    def asks(self, part: Part) -> bool:
        """Whether a part looks at the reviews of the run."""
        return bool(part.questions or self.before(part)[1])

    def needs(self, part: Part) -> list[str]:
        """The jobs that have to end before a part."""
        earlier, decisions = self.before(part)
        before = self.just_before(part)
        return [*earlier, *map(self.gate, decisions), *map(self.entries, before.matrices if before else ())]

    def fine(self, part: Part) -> Iterator[str]:
        """That each earlier job has come to its end, as expressions."""
        return map(self.is_done, self.before(part)[0])

    def is_done(self, job: str) -> str:
        """That a job has come to its end, or was not needed: it may also fail, be cancelled, and be out of time."""
        done = f"needs.{job}.result == 'success'"
        return done if job == self.parts[0].id else f"{done} || needs.{job}.result == 'skipped'"

    def gate(self, place: Place) -> str:
        """The id of the job that waits for the approval of a place."""
        return f"approve_{self.ids.nodes[place.name]}"

    def entries(self, place: Place) -> str:
        """The id of the job that is a matrix of the agents of a place."""
        return f"entries_{self.ids.nodes[place.name]}"

    def decision(self, place: Place) -> Decision:
        """What people decide about a place; the job that asks them hands on the reviews before."""
        before = self.handed_on(self.id(self.levels[place.name]), REVIEWS, "outputs.until_now")
        ended = Expression(f"${{{{ needs.{self.gate(place)}.result }}}}")
        return Decision(self.ids.nodes[place.name], ended, Expression(f"${{{{ {before} }}}}"))

    def before(self, part: Part) -> tuple[list[str], list[Place]]:
        """The parts and the decisions before a part."""
        level = self.parts.index(part)
        earlier = self.parts[:level]
        return [other.id for other in earlier], [place for other in earlier for place in other.questions]

    def just_before(self, part: Part) -> Part | None:
        """The part before another one, if there is one."""
        level = self.parts.index(part)
        return self.parts[level - 1] if level else None

    def handed_on(self, job: str, step: str, name: str) -> str:
        """A property of a step as later jobs see it."""
        output = f"{step}_{name.removeprefix('outputs.')}"
        self.outputs.setdefault(job, {})[output] = Expression(f"${{{{ steps.{step}.{name} }}}}")
        return f"needs.{job}.outputs.{output}"

    def id(self, level: int) -> str:
        """The id of the job of a level."""
        return self._kind if self._single else f"part_{level + 1}"

    def at(self, places: Iterable[Place], level: int) -> tuple[Place, ...]:
        """Those of some places that are at a level."""
        return tuple(place for place in places if self.levels[place.name] == level)


def all_of(*conditions: str) -> str:
    """Some expressions joined to one, for an `if:` that says when it runs itself."""
    return "${{ " + " && ".join(f"({text})" if "||" in text else text for text in conditions if text) + " }}"
