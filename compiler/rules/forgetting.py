"""Forget the counters that nothing can read before they are reset (P-12).

Without this, each tolerated failure doubles the states, because its mark stays. A counter matters at a node if a test
may follow, and if a change may have come before. Both are searched in turns, until one search ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

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
        self._onward: dict[str, list[tuple[str, Edge]]] = {name: [] for name in edges}
        self._back: dict[str, list[tuple[str, Edge]]] = {name: [] for name in edges}
        self._readers: dict[str, set[str]] = {}
        self._changed: dict[str, set[str]] = {}
        self._initial = {counter.name: counter.initial for counter in program.counters}
        for name, leaving in edges.items():
            for edge in leaving:
                self._onward[name].append((edge.target, edge))
                self._back[edge.target].append((name, edge))
                self._note(name, edge)
        self._scopes: dict[str, set[str]] = {}
        for scope, members in scope_members(program.counters).items():
            for counter in members:
                self._scopes.setdefault(counter.name, set()).add(scope)
        self._found: dict[str, set[str]] = {}

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
                self._readers.setdefault(test.register, set()).add(name)
        for effect in edge.effects:
            is_reset = isinstance(effect, Set) and effect.value == self._initial[effect.register]
            if isinstance(effect, Set | Add | AtLeast) and not is_reset:
                self._changed.setdefault(effect.register, set()).add(edge.target)
            if isinstance(effect, Add) and isinstance(effect.amount, str):
                self._readers.setdefault(effect.amount, set()).add(name)

    def _search(self, counter: str) -> set[str]:
        readers = self._readers.get(counter, set())
        before, after = {*readers}, {*self._changed.get(counter, ())}
        backward = self._spread(before, self._back, counter, lambda _: True)
        forward = self._spread(after, self._onward, counter, lambda _: True)
        while next(backward, None):
            if not next(forward, None):  # the counter changes nowhere else
                before = readers & after
                all(self._spread(before, self._back, counter, after.__contains__))
                break
        return before

    def _spread(self, found: set[str], steps: Steps, counter: str, keeps: Callable[[str], bool]) -> Iterator[bool]:
        """Add the nodes that edges lead to without resetting a counter; yield after each edge."""
        pending = [*found]
        while pending:
            for other, edge in steps[pending.pop()]:
                if other not in found and keeps(other) and not self._is_reset(counter, edge):
                    found.add(other)
                    pending.append(other)
                yield True

    def _is_reset(self, counter: str, edge: Edge) -> bool:
        scopes = self._scopes.get(counter, ())
        return any(
            (isinstance(effect, Set) and effect.register == counter)
            or (isinstance(effect, Reset) and effect.scope in scopes)
            for effect in edge.effects
        )
