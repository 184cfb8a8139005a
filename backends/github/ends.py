"""The ends of a runbook as steps: each says its message, and fails the job where STOP is reached by no failure (M8).

An end that has nothing to say or do has no step: a job completes if nothing in it fails, and stops where a node fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backends.github.filling import is_given, is_marked
from backends.github.nodes import choice
from backends.github.reach import Reach
from backends.github.reasons import transitions_to
from backends.github.scalar import Expression
from backends.github.step import Step
from backends.scheduling.condition import FALSE, TRUE, Condition, Literal, expression, some
from compiler.ir.program import Node
from compiler.ir.tasks import End

MOST_HALTS = 50
"""Of the ends that nothing but a failure leads to, how many have steps of their own; more share some."""

_SHARED = 200
"""How many ends share a step: GitHub takes expressions of 21,000 characters."""

_LEVELS = {"COMPLETE": "notice", "STOP": "error"}
_ON_ONE_LINE = """MESSAGE=$(printf %s "$MESSAGE" | tr -s '[:space:]' ' ')"""
_HEADING = r"""sed -e 's/[][\\`*_<>|#&~!]/\\&/g' -e 's/^/### /' <<< "%s" >> "$GITHUB_STEP_SUMMARY" """.strip()


@dataclass(frozen=True)
class Reached:
    """An end with its word, when a job reaches it, and the failures of nodes that it is reached by."""

    node: Node
    word: str
    condition: Condition
    halts: Sequence[Literal]


@dataclass(frozen=True)
class Ends:
    """Writes the ends that a job may reach.

    `told` says whether each is to stand on the page of the run, `certain` whether each COMPLETE has a step, so that a
    run that is at no known place is not taken for one, nor one for a failure.
    """

    reach: Reach
    told: bool
    certain: bool

    def steps(self) -> Iterator[Step]:
        """The steps in the order of the document."""
        shared: list[tuple[Reached, str]] = []
        found = [(end, message) for end in self._reached() if self._is_said(end, message := self._message(end.node))]
        halting = [end for end, _ in found if end.condition == FALSE]
        for end, message in found:
            if len(halting) > MOST_HALTS and end.condition == FALSE:
                shared.append((end, message))
            else:
                yield self._step(end, message)
        for place in range(0, len(shared), _SHARED):
            yield self._shared(shared[place : place + _SHARED])

    def _is_said(self, end: Reached, message: str) -> bool:
        is_reached = end.condition != FALSE
        return bool(message) or self.told or (is_reached and (end.word == "STOP" or self.certain))

    def _shared(self, ends: Sequence[tuple[Reached, str]]) -> Step:
        """Many ends that nothing but a failure leads to, of which one has been reached, or none."""
        names, compare = self.reach.ids.nodes, self.reach.compare
        chosen = [(expression(some(*end.halts), compare), f"'{names[end.node.id]}'") for end, _ in ends]
        lines = ['[ -n "$END" ] || exit 0', "message=${!END}", """echo "::error title=STOP::${message//'%'/%25}\""""]
        if self.told:
            lines.append(_HEADING % "STOP $message")
        return Step(
            name="STOP",
            comments=("One of the ends that the failure of a step leads to.",),
            condition="failure()",
            env={"END": choice([*chosen, ("", "''")]), **{names[end.node.id]: message for end, message in ends}},
            run="\n".join(lines) + "\n",
        )

    def _reached(self) -> Iterator[Reached]:
        plan, names = self.reach.plan, self.reach.ids.nodes
        here = {names[place.name] for place in self.reach.places}
        home = {node.id: place for place in self.reach.places for node in place.nodes}
        for node in plan.program.nodes:
            if not isinstance(node.task, End):
                continue
            condition: Condition = FALSE
            place = home.get(node.id)
            if place:
                left = Literal(names[place.name], "outputs.next", "==", names[node.id])
                condition = left if place.kind == "loop" else plan.flow.reached[place.name]
            halts = [literal for literal in plan.flow.halts.get(node.id, ()) if literal.step in here]
            if halts or condition != FALSE:
                yield Reached(node, node.task.result.upper(), condition, halts)

    def _step(self, end: Reached, message: str) -> Step:
        lines = list(self._said(end, message))
        condition = self._condition(end)
        return Step(
            name=end.word,
            id=self.reach.ids.nodes[end.node.id],
            comments=tuple(transitions_to(self.reach.plan.program, end.node)) if condition else (),
            condition=condition,
            env={"MESSAGE": message} if message else {},
            run="\n".join(lines) + "\n" if len(lines) > 1 else lines[0],
        )

    def _said(self, end: Reached, message: str) -> Iterator[str]:
        if is_given(message):
            yield _ON_ONE_LINE
        if message:
            is_open = "%" in message or isinstance(message, Expression) or is_marked(message)
            shown = "${MESSAGE//'%'/%25}" if is_open else "$MESSAGE"
            yield f'echo "::{_LEVELS[end.word]} title={end.word}::{shown}"'
        elif end.word == "COMPLETE":
            yield 'echo "rdc: COMPLETE"'
        if self.told:
            yield _HEADING % (f"{end.word} $MESSAGE" if message else end.word)
        if end.word == "STOP" and end.condition != FALSE:
            yield "exit 1"

    def _condition(self, end: Reached) -> str:
        compare = self.reach.compare
        always = end.condition == TRUE
        reached = "" if always else expression(end.condition, compare)
        if not end.halts:
            return reached
        failed = f"failure() && {_operand(expression(some(*end.halts), compare))}"
        if end.condition == FALSE:
            return failed
        return f"success(){f' && {_operand(reached)}' if reached else ''} || {failed}"

    def _message(self, node: Node) -> str:
        """The message on one line. That of an end in a loop, which knows the numbers of instances, is its output."""
        assert isinstance(node.task, End)  # noqa: S101 (tells mypy)
        plan, names = self.reach.plan, self.reach.ids.nodes
        loops = [place for place in self.reach.places if place.kind == "loop" and node in place.nodes]
        if loops and node.task.message:
            return Expression(f"${{{{ steps.{names[loops[0].name]}.outputs.message }}}}")
        return " ".join(str(node.task.message.known(plan.numbers(node))).split())


def _operand(text: str) -> str:
    return f"({text})" if "||" in text else text
