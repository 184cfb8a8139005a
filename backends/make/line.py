"""Programs without branches: each command continues with the next one, or stops the run if it fails."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from compiler.analyses.exploration import kept_retries
from compiler.ir.edges import Add, Edge, Effect, Reset, Set, counter_effects, may_follow, register_tests
from compiler.ir.program import Node, Program, scope_members, texts_of
from compiler.ir.tasks import Branch, End, Shell, Verdict


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
    """Return the counters that only count one step's retries in one visit (M9), by step.

    Such a counter is 0 at every other step, so one counter that each transition clears can stand for all of them (T-4).
    """
    wanted = [node for node in program.nodes if node.retries]
    if not wanted:
        return {}
    named, kept, nodes = _named_elsewhere(program), kept_retries(program), program.index()
    initial = {register.name: register.initial for register in program.registers}
    members = {scope: {one.name for one in found} for scope, found in scope_members(program.registers).items()}
    return {
        node.id: node.retries
        for node in wanted
        if node.retries not in kept
        and initial[node.retries] == 0
        and named.get(node.retries, set()) <= {node.id}
        and all(_keeps_to_it(node, edge, members, nodes) for edge in node.edges)
    }


def _keeps_to_it(node: Node, edge: Edge, members: Mapping[str, set[str]], nodes: Mapping[str, Node]) -> bool:
    """Return whether an edge retries its step and counts that, or leaves the step, where the count is 0 again."""
    counter = node.retries or ""
    if retries_of(edge, counter) is not None:
        return edge.target == node.id
    if any(test.kind == "counter" and test.register == counter for test in edge.guard):
        return False
    last = None
    for effect in counter_effects(edge.effects):
        if effect.kind == "reset" and counter in members.get(effect.scope, ()):
            last = 0
        elif effect.kind != "reset" and effect.register == counter:
            if effect != Set(counter, 0):
                return False
            last = 0
    target = nodes[edge.target]
    return last == 0 or target.is_end or (target is not node and not target.is_passed)


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


PASS, FAIL = Verdict.PASS.value, Verdict.FAIL.value


class Step(Struct, frozen=True):
    """A command: how often it may be retried, and the message if it stops the run.

    `stop` is None if the run continues after a failure.
    """

    node: Node
    interpreter: str
    command: str
    retries: int
    stop: str | None


class Line(Struct, frozen=True):
    """The steps in order, and the message when the run completes."""

    steps: tuple[Step, ...]
    message: str


class _BendError(Exception):
    """A step that does not fit into a sequence, with the reason."""

    def __init__(self, node: Node, clause: str) -> None:
        super().__init__(clause)
        self.node, self.clause = node, clause


def line_of(program: Program) -> Line | dict[str, str]:
    """Return the steps of an optimized program, or for each step that does not fit the end of a sentence about it."""
    path, bends = _Path(program), dict[str, str]()
    for node in program.nodes:
        try:
            if not isinstance(node.task, Branch | End):
                path.step(node)
        except _BendError as bend:
            bends.setdefault(bend.node.id, bend.clause)
    try:
        return bends or path.line()
    except _BendError as bend:
        return {bend.node.id: bend.clause}


class _Path(Struct, frozen=True, dict=True):
    """The path from a program's first step to its last one."""

    program: Program

    @cached_property
    def _nodes(self) -> Mapping[str, Node]:
        return self.program.index()

    @cached_property
    def _own(self) -> Mapping[str, str]:
        return own_retries(self.program)

    @cached_property
    def _nested(self) -> frozenset[str]:
        return frozenset(group.id for group in self.program.groups if group.kind != "step")

    def line(self) -> Line:
        """Return the steps; raises `_BendError`."""
        steps: dict[str, Step] = {}
        last = node = self._resolved(self.program.entry)
        while not isinstance(node.task, End):
            if node.id in steps:
                raise _BendError(last, f"which leads back to step {node.id}")
            steps[node.id], following = self.step(node)
            last, node = node, following
        if not steps:
            raise _BendError(node, "which is the only step and does nothing")
        return Line(tuple(steps.values()), str(node.task.message))

    def step(self, node: Node) -> tuple[Step, Node]:
        """Return a step, and the next node if it passes; raises `_BendError`."""
        task = node.task
        if not isinstance(task, Shell):
            raise _BendError(node, "which is not a command")
        self._check_alone(node)
        if not task.command.is_plain:
            raise _BendError(node, "whose command contains an instance number")
        passes, fails = (tuple(edge for edge in node.edges if may_follow(edge, word)) for word in (PASS, FAIL))
        limit = retries_of(fails[0], self._own.get(node.id, "")) if len(fails) > 1 else None
        retries, rest = (0, fails) if limit is None else (limit, fails[1:])
        following, failing = self._target(node, passes, "PASS"), self._target(node, rest, "FAIL")
        if isinstance(following.task, End) and following.task.result != "complete":
            raise _BendError(node, "which stops the run if it passes")
        return Step(node, task.interpreter, str(task.command), retries, _stop(node, following, failing)), following

    def _check_alone(self, node: Node) -> None:
        """Refuse nested documents and instances, which need a run's state."""
        if not self._nested.isdisjoint(self.program.around(node.group)):
            raise _BendError(node, "which is in a nested document")
        if node.variables:
            raise _BendError(node, "which is a dynamic step")

    def _target(self, node: Node, edges: tuple[Edge, ...], outcome: str) -> Node:
        """Return the next node after an outcome, which must have only one transition."""
        if len(edges) != 1 or any(self._counts(node, effect) for effect in edges[0].effects):
            raise _BendError(node, f"whose transition for {outcome} depends on earlier steps or attempts")
        return self._resolved(edges[0].target)

    def _counts(self, node: Node, effect: Effect) -> bool:
        """Return whether an effect changes more than the retries of a single step."""
        own = set(self._own.values())
        if isinstance(effect, Reset):
            members = scope_members(self.program.registers).get(effect.scope, ())
            return any(member.name not in own for member in members)
        return effect != Set(self._own.get(node.id, ""), 0)

    def _resolved(self, name: str) -> Node:
        """Return a node by its name, skipping nodes that decide nothing."""
        node = self._nodes[name]
        while isinstance(node.task, Branch) and len(node.edges) == 1 and not node.edges[0].effects:
            node = self._nodes[node.edges[0].target]
        if node.is_passed:
            raise _BendError(node, "where the run decides without an outcome")
        return node


def _stop(node: Node, following: Node, failing: Node) -> str | None:
    """Return the message of a failing step that stops the run, or None if the run continues as after a pass."""
    if failing is following:
        return None
    if not isinstance(failing.task, End):
        raise _BendError(node, f"which leads to step {failing.id} if it fails")
    if failing.task.result == "stop":
        return str(failing.task.message)
    if not isinstance(following.task, End) or failing.task.message != following.task.message:
        raise _BendError(node, "which completes the run if it fails")
    return None
