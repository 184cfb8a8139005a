"""The flow of a run as one table for the shell, a row for each outcome of each step, and recipes (T-3)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import assert_never

from msgspec import Struct

from backends.common.templates import quoted
from backends.make.names import Identifiers, visible
from compiler.analyses.exploration import kept_retries
from compiler.ir.edges import (
    Add,
    AtLeast,
    CounterTest,
    Edge,
    Effect,
    Reset,
    Set,
    counter_effects,
    counter_tests,
    may_follow,
    register_tests,
)
from compiler.ir.program import Counter, Node, Program, scope_members, texts_of
from compiler.ir.tasks import IDLE, End, alphabet
from compiler.ir.texts import Text

_OPERATORS = {"<": "-lt", ">=": "-ge", "=": "-eq"}
_WIDEST = 118
_BRANCH = "\0"
"""Marks where a long row may be broken. No message has it."""

_Choice = tuple[str, list[str]]
"""The condition of a transition ("" for none), and the words that take it."""


class Flow(Struct, frozen=True, dict=True):
    """The table of an optimized program, and the counters that it changes."""

    program: Program
    names: Identifiers

    @cached_property
    def _nodes(self) -> Mapping[str, Node]:
        return self.program.index()

    @cached_property
    def _own(self) -> dict[str, str]:
        """The counter of each step whose retries `tries` counts."""
        return own_retries(self.program)

    @cached_property
    def counters(self) -> tuple[Counter, ...]:
        """The counters that have names."""
        hidden = set(self._own.values())
        return tuple(one for one in self.program.counters if one.name not in hidden)

    @cached_property
    def _scopes(self) -> dict[str, tuple[Counter, ...]]:
        return scope_members(self.counters)

    def rows(self) -> Iterator[str]:
        """Yield the rows, in which `$` stands for itself: the start, the steps, and what several rows lead to."""
        initial = [f"{self.names.counters[one.name]}={one.initial}" for one in self.counters]
        yield self._row("start", [*([" ".join(initial)] if initial else []), *self._to(self.program.entry)])
        for node in self.program.nodes:
            if type(node.task) not in IDLE:
                yield from self._of_step(node)
        for name in self._referred:  # the list grows: a row can refer to others
            node = self._nodes[name]
            yield self._row(self.names.nodes[name], [*self._said(node), *self._choose(node, node.edges)])

    @cached_property
    def _referred(self) -> list[str]:
        return []

    def _of_step(self, node: Node) -> Iterator[str]:
        name, words = self.names.nodes[node.id], alphabet(node.task)
        found = [self._choose(node, [edge for edge in node.edges if may_follow(edge, word)]) for word in words]
        if all(each == found[0] for each in found):
            yield self._row(f"{name}:*", found[0])
            return
        for word, done in zip(words, found, strict=True):
            yield self._row(f"{name}:{word}", done)

    def _row(self, pattern: str, done: Sequence[str]) -> str:
        row = f"{pattern}) {'; '.join(done)} ;;"
        is_short = len(row) <= _WIDEST
        return row.replace(f"; {_BRANCH}", "; " if is_short else "\n  ").replace(_BRANCH, "")

    # --- The transitions of a node ------------------------------------------------------------------------------------

    def _choose(self, node: Node, edges: Sequence[Edge]) -> list[str]:
        """Return the words that take the first edge whose guard holds. The last one needs no test (I2)."""
        choices = list(self._choices(node, edges))
        (asked, done), *others = choices
        if not others:
            return done
        if len(others) == 1 and not done:
            return [f"{asked} || {_grouped(others[0][1])}"]
        parts = [f"{_BRANCH}elif {asked}; then {'; '.join(done) or ':'}" for asked, done in choices[:-1]]
        first = parts[0].removeprefix(f"{_BRANCH}el")
        return [first, *parts[1:], f"{_BRANCH}else {'; '.join(choices[-1][1])}", f"{_BRANCH}fi"]

    def _choices(self, node: Node, edges: Sequence[Edge]) -> Iterator[_Choice]:
        """Yield the edges up to one that always holds. Neighbors that do the same are one choice."""
        for done, group in groupby(self._each(node, edges), key=lambda choice: choice[1]):
            tests = [asked for asked, _ in group]
            if not tests[-1]:
                yield "", done
                return
            yield " || ".join(f"{{ {asked}; }}" if tests[1:] and "&&" in asked else asked for asked in tests), done

    def _each(self, node: Node, edges: Sequence[Edge]) -> Iterator[_Choice]:
        for edge in edges:
            limit = retries_of(edge, self._own.get(node.id, ""))
            if limit is not None:
                yield f"retry {limit}", []
                continue
            asked = " && ".join(map(self._test, counter_tests(edge))) if edge is not edges[-1] else ""
            yield asked, [*self._effects(edge), *self._to(edge.target)]
            if not asked:
                return

    def _test(self, test: CounterTest) -> str:
        return f"[ ${self.names.counters[test.register]} {_OPERATORS[test.operator]} {test.value} ]"

    def _to(self, name: str, passed: tuple[str, ...] = ()) -> list[str]:
        """Return the words that go to a node. What decides nothing is passed at once."""
        node = self._nodes[name]
        if isinstance(node.task, End) and not node.edges:
            word = {"complete": "COMPLETE", "stop": "STOP"}[node.task.result]
            message = self.message(node.task.message)
            return [f"{word} {message}" if message else word]
        if type(node.task) not in IDLE:
            tries = (
                [] if node.id in self._own or not node.retries else [f"rdc_tries=${self.names.counters[node.retries]}"]
            )
            return [f"go {self.names.nodes[name]}", *tries]
        if len(node.edges) == 1 and name not in passed:
            (edge,) = node.edges
            return [*self._said(node), *self._effects(edge), *self._to(edge.target, (*passed, name))]
        if name not in self._referred:
            self._referred.append(name)
        return [f"flow {self.names.nodes[name]}"]

    def _said(self, node: Node) -> list[str]:
        message = self.message(node.task.message) if isinstance(node.task, End) else ""
        return [f"say {message}"] if message else []

    def message(self, text: Text) -> str:
        """Return a message as a shell word, with the values of its counters."""
        found = ""
        for part in text.parts:
            if isinstance(part, str):
                found += quoted(visible(f"x{part}x")[1:-1])
            else:
                before, after = (quoted(visible(side)) if side else "" for side in (part.before, part.after))
                found += f"{before}${self.names.counters[part.register]}{after}"
        return found

    # --- Effects ------------------------------------------------------------------------------------------------------

    def _effects(self, edge: Edge) -> list[str]:
        """Return the assignments of an edge. Constants share a word."""
        found: list[str] = []
        for is_constant, group in groupby(self._assignments(edge.effects), key=lambda word: not set("$ ") & set(word)):
            words = list(group)
            found += [" ".join(words)] if is_constant else words
        return found

    def _assignments(self, effects: Iterable[Effect]) -> Iterator[str]:
        hidden = set(self._own.values())
        for effect in counter_effects(effects):
            if isinstance(effect, Reset):
                yield from (
                    f"{self.names.counters[one.name]}={one.initial}" for one in self._scopes.get(effect.scope, ())
                )
            elif effect.register not in hidden:
                yield self._assignment(effect)

    def _assignment(self, effect: Set | Add | AtLeast) -> str:
        names = self.names.counters
        name = names[effect.register]
        match effect:
            case Set(_, value):
                return f"{name}={value}"
            case Add(_, amount):
                return f"{name}=$(({name} + {names[amount] if isinstance(amount, str) else amount}))"
            case AtLeast(_, value):
                return f"[ ${name} -ge {value} ] || {name}={value}"
            case _:
                assert_never(effect)


def _grouped(done: Sequence[str]) -> str:
    return done[0] if len(done) == 1 else f"{{ {'; '.join(done)}; }}"


# --- Retries ----------------------------------------------------------------------------------------------------------


def retries_of(edge: Edge, counter: str) -> int | None:
    """Return how many retries an edge allows that only retries its step and counts, or None for another edge."""
    if not counter or edge.effects != (Add(counter, 1),):
        return None
    tests = register_tests(edge)
    if len(tests) != 1:
        return None
    test = tests[0]
    if test.kind == "counter" and test.register == counter and test.operator == "<":
        return test.value
    return None


def own_retries(program: Program) -> dict[str, str]:
    """Return the counters that only count one step's retries in one visit, by step.

    Such a counter is 0 at every other step, so one counter that each transition clears can stand for all of them (T-4).
    """
    wanted = [(node, node.retries) for node in program.nodes if node.retries]
    if not wanted:
        return {}
    named, retries, nodes = _named_elsewhere(program), kept_retries(program), program.index()
    initial = {counter.name: counter.initial for counter in program.counters}
    members = scope_members(program.counters)
    return {
        node.id: counter
        for node, counter in wanted
        if counter not in retries
        and initial[counter] == 0
        and named.get(counter, set()) <= {node.id}
        and all(_keeps_to_it(node, counter, edge, members, nodes) for edge in node.edges)
    }


def _keeps_to_it(
    node: Node, counter: str, edge: Edge, members: Mapping[str, Sequence[Counter]], nodes: Mapping[str, Node]
) -> bool:
    """Return whether an edge retries its step and counts that, or leaves the step, where the count is 0 again."""
    if retries_of(edge, counter) is not None:
        return edge.target == node.id
    if any(test.kind == "counter" and test.register == counter for test in edge.guard):
        return False
    is_zero = False
    for effect in counter_effects(edge.effects):
        if isinstance(effect, Reset):
            is_zero = is_zero or any(one.name == counter for one in members.get(effect.scope, ()))
        elif effect.register == counter:
            if effect != Set(counter, 0):
                return False
            is_zero = True
    target = nodes[edge.target]
    return is_zero or target.is_end or (target is not node and not target.is_passed)


def _named_elsewhere(program: Program) -> dict[str, set[str]]:
    """Return the nodes that use each counter. If a string or variable shows it, all nodes use it ("")."""
    texts = (text for node in program.nodes for text in texts_of(node))
    found = {reference.register: {""} for text in texts for reference in text.references}
    for node in program.nodes:
        if node.retries:
            found.setdefault(node.retries, set()).add(node.id)
        for item in node.variables:
            found.setdefault(item.register, set()).add("")
        for edge in node.edges:
            for test in edge.guard:
                if test.kind == "counter":
                    found.setdefault(test.register, set()).add(node.id)
            for effect in counter_effects(edge.effects):
                if effect.kind != "reset" and effect != Set(effect.register, 0):
                    found.setdefault(effect.register, set()).add(node.id)
                if effect.kind == "add" and isinstance(effect.amount, str):
                    found.setdefault(effect.amount, set()).add("")
    return found
