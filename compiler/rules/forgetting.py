"""Forget the counters that nothing can read before they are reset (P-12).

Without this, each tolerated failure doubles the states, because its mark stays. A counter matters at a node if a test
may follow, and if a change may have come before. Both are searched in turns, until one search ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from msgspec.structs import replace

from compiler.ir.edges import Add, AtLeast, CounterTest, Edge, Reset, Set
from compiler.ir.program import Program, scope_members
from compiler.ir.semantics import State

Steps = Mapping[str, list[tuple[str, Edge]]]
"""The edges that lead to or from each node, with the node at their other end."""


class Forgetting:
    """The counters of a program that matter at each node, which are found when they are asked for."""

    def __init__(self, program: Program, edges: Mapping[str, list[Edge]]) -> None:
        """Take the possible edges of each node."""
        self._onward: Steps = {name: [(edge.target, edge) for edge in leaving] for name, leaving in edges.items()}
        self._back: Steps = {name: [] for name in edges}
        self._readers: defaultdict[str, set[str]] = defaultdict(set)
        self._changed: defaultdict[str, set[str]] = defaultdict(set)
        self._scopes: defaultdict[str, set[str]] = defaultdict(set)
        self._initial = {counter.name: counter.initial for counter in program.counters}
        self._found: dict[str, set[str]] = {}
        for name, leaving in edges.items():
            for edge in leaving:
                self._back[edge.target].append((name, edge))
                self._note(name, edge)
        for scope, members in scope_members(program.counters).items():
            for counter in members:
                self._scopes[counter.name].add(scope)

    def without_forgotten(self, state: State) -> State:
        """Return a state with the initial values of the counters that don't matter."""
        if not state.counters.changed:
            return state
        return replace(state, counters=state.counters.only(lambda name: state.node in self.places(name)))

    def places(self, counter: str) -> set[str]:
        """Return the nodes where a counter matters; where it can't have changed, the answer may be either."""
        if counter not in self._found:
            self._found[counter] = self._search(counter)
        return self._found[counter]

    def _note(self, name: str, edge: Edge) -> None:
        for test in edge.guard:
            if isinstance(test, CounterTest):
                self._readers[test.register].add(name)
        for effect in edge.effects:
            is_reset = isinstance(effect, Set) and effect.value == self._initial[effect.register]
            if isinstance(effect, Set | Add | AtLeast) and not is_reset:
                self._changed[effect.register].add(edge.target)
            if isinstance(effect, Add) and isinstance(effect.amount, str):
                self._readers[effect.amount].add(name)

    def _search(self, counter: str) -> set[str]:
        before, after = {*self._readers[counter]}, {*self._changed[counter]}
        backward, forward = self._spread(before, self._back, counter), self._spread(after, self._onward, counter)
        while next(backward, None):
            if not next(forward, None):  # the counter changes nowhere else
                before = self._readers[counter] & after
                all(self._spread(before, self._back, counter, after))
                break
        return before

    def _spread(
        self, found: set[str], steps: Steps, counter: str, inside: Collection[str] | None = None
    ) -> Iterator[bool]:
        """Add the nodes that edges lead to without resetting a counter; yield after each edge."""
        pending = [*found]
        while pending:
            for other, edge in steps[pending.pop()]:
                if other not in found and (inside is None or other in inside) and not self._is_reset(counter, edge):
                    found.add(other)
                    pending.append(other)
                yield True

    def _is_reset(self, counter: str, edge: Edge) -> bool:
        return any(
            effect.register == counter
            if isinstance(effect, Set)
            else isinstance(effect, Reset) and effect.scope in self._scopes[counter]
            for effect in edge.effects
        )
