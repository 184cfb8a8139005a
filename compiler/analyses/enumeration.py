"""All walks of a program, the shortest first, up to a bound.

The search is iterative deepening with a lower bound (IDA*): walks of one length after the other, depth first, passing
by every beginning that no end is near enough to. It needs no memory but for one walk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from compiler.ir.program import Branch, End, Program, Verdict
from compiler.ir.semantics import Machine, Outcome, State
from compiler.ir.walks import LIMIT, Visit, Walk, ending, visit

EFFORT = 4_000_000
"""How much is tried before the search gives up. A visit costs `VISIT` and one for each counter, which it copies."""

VISIT = 20


@dataclass(frozen=True, slots=True)
class Enumeration:
    """The walks that were found; `is_complete` says whether there are no others that end."""

    walks: tuple[Walk, ...]
    is_complete: bool


def enumerate_walks(program: Program, most: int, limit: int = LIMIT) -> Enumeration:
    """The distinct walks of a program that end, at most so many, and none with more visits than the limit."""
    search = _Search(program, limit)
    walks: list[Walk] = []
    for found in search.walks():
        if len(walks) == most:
            return Enumeration(tuple(walks), is_complete=False)
        walks.append(found)
    return Enumeration(tuple(walks), search.is_exhausted)


class _Search:
    """One enumeration. `is_exhausted` says, after the last walk, whether nothing was left out."""

    def __init__(self, program: Program, limit: int) -> None:
        self.machine = Machine(program)
        self.distances = _distances(program)
        self.limit = limit
        self.effort = EFFORT
        self.cost = VISIT + len(program.registers)
        self.is_exhausted = False
        self._next = 0
        self._is_cut = False

    def walks(self) -> Iterator[Walk]:
        """The walks by length; among those of one length PASS comes before FAIL."""
        start = self.machine.start()
        if start.node not in self.distances:
            self.is_exhausted = True
            return
        length = self.distances[start.node]
        while length <= self.limit:
            self._next = self.limit + 1
            yield from self._of_length(start, length)
            if self.effort <= 0:
                return
            if self._next > self.limit:
                break
            length = self._next
        self.is_exhausted = self._next > self.limit and not self._is_cut

    def _of_length(self, start: State, length: int) -> Iterator[Walk]:
        self._is_cut = False
        pending: list[tuple[int, Visit | None, State]] = [(0, None, start)]
        visits: list[Visit] = []
        while pending and self.effort > 0:
            depth, made, state = pending.pop()
            del visits[max(depth - 1, 0) :]
            if made:
                visits.append(made)
            if ending(self.machine, state):
                if depth == length:
                    yield Walk(tuple(visits), state)
                continue
            pending += reversed(list(self._onward(state, depth, length)))

    def _onward(self, state: State, depth: int, length: int) -> Iterator[tuple[int, Visit, State]]:
        for verdict in Verdict:
            self.effort -= self.cost
            made, after = visit(self.machine, state, Outcome(verdict))
            if after.node not in self.distances:
                continue
            least = depth + 1 + self.distances[after.node]
            if least <= length:
                yield depth + 1, made, after
            elif least <= self.limit:
                self._next = min(self._next, least)
            else:
                self._is_cut = True


def _distances(program: Program) -> dict[str, int]:
    """For each node from which an end can be reached, how many visits it takes at least, guards aside."""
    before: dict[str, list[str]] = {}
    for node in program.nodes:
        for edge in node.edges:
            before.setdefault(edge.target, []).append(node.id)
    nodes = program.index()
    found = {node.id: 0 for node in program.nodes if isinstance(node.task, End) and not node.edges}
    pending = deque(found)
    while pending:
        name = pending.popleft()
        for earlier in before.get(name, ()):
            node = nodes[earlier]
            cost = 0 if isinstance(node.task, Branch | End) else 1
            if earlier not in found or found[earlier] > found[name] + cost:
                found[earlier] = found[name] + cost
                (pending.append if cost else pending.appendleft)(earlier)
    return found
