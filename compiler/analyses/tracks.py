"""Choose where to follow which counters, so that the effort is linear in the program's size.

Most counters matter to only a few nodes: a mark to its step's children, a RETRY's count to its node. A counter's values
are followed along the edges between these nodes, its members. Elsewhere there is one set of values for the whole
program. Any choice of members is sound if it has all nodes that test or change the counter, other than by a reset.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from compiler.analyses.zeros import Track
from compiler.ir.edges import Add, AtLeast, CounterTest, Effect, Set
from compiler.ir.program import Program, Register

LARGEST = 100_000_000
"""The most bits to keep for a step's counters; beyond that, they are not followed."""

EFFORT = 30
"""The most groups to look at around each node, on average."""


class Tracks(Struct):
    """The tracks of a program, and their numbers by node and by counter."""

    every: list[Track] = field(default_factory=list)
    at: dict[str, list[int]] = field(default_factory=dict)
    of: dict[str, int] = field(default_factory=dict)

    def add(self, registers: Iterable[Register], members: Iterable[str]) -> None:
        """Follow counters along some nodes."""
        track = Track(registers)
        number = len(self.every)
        self.every.append(track)
        self.of |= dict.fromkeys(track.names, number)
        for name in members:
            self.at.setdefault(name, []).append(number)


def find_tracks(program: Program) -> Tracks:
    """Return the tracks of a program: one per step, and one per counter outside of steps.

    If a counter may fall below zero, there are none; no front end generates such programs.
    """
    found, uses = Tracks(), _uses(program)
    scopes: dict[str, list[Register]] = {}
    for register in program.registers:
        use = uses[register.name]
        if register.initial < 0 or use.can_fall():
            return found
        if use.tests and not use.is_count(register.initial):
            scopes.setdefault(register.scope, []).append(register)
    inside = _inside(program, scopes)
    for scope, registers in scopes.items():
        around = inside.get(scope, {})
        if not around:
            for register in registers:
                found.add([register], uses[register.name].nodes)
        elif 2 * len(registers) * len(around) <= LARGEST:
            for register in registers:
                around |= uses[register.name].nodes
            found.add(registers, around)
    return found


def _inside(program: Program, scopes: Mapping[str, object]) -> dict[str, dict[str, None]]:
    """Return the nodes inside each step that is a scope, as far as the effort allows."""
    groups = {group.id: group for group in program.groups}
    inside: dict[str, dict[str, None]] = {}
    if not scopes:
        return inside
    effort = EFFORT * len(program.nodes)
    for node in program.nodes:
        name = node.group
        while name and effort > 0:
            effort -= 1
            if name in scopes and groups[name].kind == "step":
                inside.setdefault(name, {})[node.id] = None
            name = groups[name].parent
    return inside


class Use(Struct, frozen=True):
    """The use of a counter: the nodes that test or change it other than by a reset, their tests and effects."""

    nodes: dict[str, None] = field(default_factory=dict)
    testers: set[str] = field(default_factory=set)
    tests: list[CounterTest] = field(default_factory=list)
    effects: list[Add | AtLeast | Set] = field(default_factory=list)

    def can_fall(self) -> bool:
        """Return whether an effect may bring the counter below zero if no counter is below zero yet."""
        numbers = (effect.amount if isinstance(effect, Add) else effect.value for effect in self.effects)
        return any(isinstance(number, int) and number < 0 for number in numbers)

    def is_count(self, initial: int) -> bool:
        """Return whether it counts the visits of one node, as for a RETRY, so that its tests may or may not hold."""
        return (
            len(self.testers) == 1
            and all(test.operator == "<" and test.value > initial for test in self.tests)
            and all(_counts(effect, initial) for effect in self.effects)
        )


def _counts(effect: Add | AtLeast | Set, initial: int) -> bool:
    return effect.value == initial if isinstance(effect, Set) else isinstance(effect, Add) and effect.amount == 1


def _uses(program: Program) -> dict[str, Use]:
    uses = {register.name: Use() for register in program.registers}
    for node in program.nodes if uses else ():
        for edge in node.edges:
            for test in edge.guard:
                if isinstance(test, CounterTest):
                    use = uses[test.register]
                    use.nodes[node.id] = None
                    use.testers.add(node.id)
                    use.tests.append(test)
            if edge.effects:
                _add_effects(uses, node.id, edge.effects)
    for jump in program.jumps if uses else ():
        _add_effects(uses, jump.target, jump.all_effects)
    return uses


_CHANGES = (Set, Add, AtLeast)


def _add_effects(uses: dict[str, Use], name: str, effects: Iterable[Effect]) -> None:
    for effect in effects:
        if isinstance(effect, _CHANGES):
            use = uses[effect.register]
            use.nodes[name] = None
            use.effects.append(effect)
