"""Find the targets of an operator's jumps, with the possible values of counters there (I27).

A jump can leave from any step. So counters can have any of their values at its target, apart from the jump's effects.
The effects of entering a step only apply if the run is outside that step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from compiler.analyses.tracks import Tracks
from compiler.ir.edges import Clear, Effect, Keep, Reset, Set
from compiler.ir.program import Jump, Program

EFFORT = 100
"""The most groups to look at per target, on average, before the analysis gives up."""


class Landing(Struct, frozen=True):
    """How a jump changes the counters of a track; `is_inside` if it leaves from inside their step."""

    target: str
    track: int
    is_inside: bool
    effects: tuple[Effect, ...]


class Landings:
    """The landings of all jumps of a program; `are_few` is true if the analysis can follow them."""

    def __init__(self, program: Program, tracks: Tracks) -> None:
        self.tracks = tracks
        self.targets = dict.fromkeys(jump.target for jump in program.jumps)
        members = tracks.at
        effort = sum((len(jump.entering) + 1) * len(members.get(jump.target, ())) for jump in program.jumps)
        self.are_few = effort <= EFFORT * len(program.nodes)
        if not self.are_few or not self.targets:
            return
        self._groups = _groups_inside(program)
        self._every = tuple(dict.fromkeys(item for jump in program.jumps for item in self._of_jump(jump)))
        self._inside: dict[int, list[str]] = {item.track: [] for item in self._every if item.is_inside}
        for node in program.nodes:
            for number in members.get(node.id, ()) if self._inside else ():
                if number in self._inside and self._is_within(node.group, number):
                    self._inside[number].append(node.id)
        self._attempts: dict[int, list[Set]] = {}
        for name in dict.fromkeys(node.retries for node in program.nodes if node.retries in tracks.of):
            if name:
                self._attempts.setdefault(tracks.of[name], []).append(Set(name, 0))

    def taken_along(self, values: Mapping[int, int]) -> Mapping[int, int]:
        """Return the values that a jump may take from a node to anywhere; the node's attempts are reset."""
        return {number: self._leaving(number, known) for number, known in values.items()} if self.targets else {}

    def at(self, outside: list[int], at: Mapping[str, Mapping[int, int]]) -> Iterable[tuple[str, dict[int, int]]]:
        """Return the values at each target; `at` has the values of tracks at their members."""
        found: dict[str, dict[int, int]] = {name: {} for name in self.targets}
        if not found:
            return ()
        inside = {
            number: self._leaving(number, _union(at[name].get(number, 0) for name in names if name in at))
            for number, names in self._inside.items()
        }
        for landing in self._every:
            number = landing.track
            values = inside[number] if landing.is_inside else outside[number]
            if values:
                known = found[landing.target].get(number, 0)
                found[landing.target][number] = known | self.tracks.every[number].after(values, landing.effects)
        return found.items()

    def _leaving(self, number: int, values: int) -> int:
        track = self.tracks.every[number]
        return _union([values, *(track.after(values, [effect]) for effect in self._attempts.get(number, ()))])

    def _of_jump(self, jump: Jump) -> Iterator[Landing]:
        """Yield how the jump may arrive for each track of its target: from inside or outside its groups."""
        for number in self.tracks.at.get(jump.target, ()):
            effects = self._touching(number, jump.effects)
            inside = jump.entering[-1].group if jump.entering else ""
            yield Landing(jump.target, number, self._is_within(inside, number), effects)
            for place in range(len(jump.entering) - 1, -1, -1):
                effects = (*self._touching(number, jump.entering[place].effects), *effects)
                inside = jump.entering[place - 1].group if place else ""
                yield Landing(jump.target, number, self._is_within(inside, number), effects)

    def _touching(self, number: int, effects: Iterable[Effect]) -> tuple[Effect, ...]:
        """Return the effects that may change the counters of a track."""
        of = self.tracks.of
        counters = (effect for effect in effects if not isinstance(effect, Keep | Clear))
        return tuple(item for item in counters if isinstance(item, Reset) or of.get(item.register) == number)

    def _is_within(self, group: str, number: int) -> bool:
        """Return whether a group is a track's step or inside it."""
        return group in self._groups.get(self.tracks.every[number].scope, ())


def _groups_inside(program: Program) -> dict[str, set[str]]:
    """Return the groups inside each group, including itself."""
    found: dict[str, set[str]] = {}
    for group in program.groups:
        name = group.id
        while name:
            found.setdefault(name, set()).add(group.id)
            name = program.parents[name]
    return found


def _union(values: Iterable[int]) -> int:
    found = 0
    for each in values:
        found |= each
    return found
