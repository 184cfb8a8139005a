"""The ends of a runbook as steps: one for STOP and one for COMPLETE, which show the end's message (M8).

STOP fails the job unless a failed step led to it. An end without a message or an action needs no step: a job completes
if nothing in it fails, and stops at a node that fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from backends.github.filling import apart, has_several, is_given, is_marked
from backends.github.nodes import choice
from backends.github.reasons import transitions_to
from backends.github.scalar import Expression
from backends.github.step import Step, compare
from backends.scheduling.condition import FALSE, TRUE, Condition, Literal, expression, some
from backends.scheduling.plan import Plan
from compiler.ir.program import Node
from compiler.ir.tasks import End

_SHARED = 60
"""How many ends share a step. GitHub limits expressions to 21,000 characters."""

_LEVELS = {"COMPLETE": "notice", "STOP": "error"}
_ON_ONE_LINE = """MESSAGE=$(printf %s "$MESSAGE" | tr -s '[:space:]' ' ')"""
_CHOSEN = "MESSAGE=${!END}"
_HEADING = r"""sed -e 's/[][\\`*_<>|#&~!]/\\&/g' -e 's/^/### /' <<< "%s" >> "$GITHUB_STEP_SUMMARY" """.strip()


class Reached(Struct, frozen=True):
    """An end with its word, the condition under which a job reaches it, and the node failures that lead to it."""

    node: Node
    word: str
    condition: Condition
    halts: Sequence[Literal]


class Ends(Struct, frozen=True):
    """Writes the ends that a job may reach.

    With `told`, the run summary shows each end. With `certain`, each COMPLETE has a step, so that a run in an unknown
    place is not taken for a complete one.
    """

    plan: Plan
    told: bool
    certain: bool

    def steps(self) -> Iterator[Step]:
        """Yield the steps in document order."""
        found = [(end, message) for end in self._reached() if self._is_said(end, message := self._message(end.node))]
        for word in dict.fromkeys(end.word for end, _ in found):
            ends = [(end, message) for end, message in found if end.word == word]
            for place in range(0, len(ends), _SHARED):
                step = self._step(ends[place : place + _SHARED])
                yield step if place else replace(step, id=word)

    def _is_said(self, end: Reached, message: str) -> bool:
        is_reached = end.condition != FALSE
        return bool(message) or self.told or (is_reached and (end.word == "STOP" or self.certain))

    def _reached(self) -> Iterator[Reached]:
        plan, names = self.plan, self.plan.ids.nodes
        here = {names[place.name] for place in self.plan.places}
        home = {node.id: place for place in self.plan.places for node in place.nodes}
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

    def _step(self, ends: Sequence[tuple[Reached, str]]) -> Step:
        """Return the step for ends with the same word. At most one of them is reached."""
        condition, names = self._condition([end for end, _ in ends]), self.plan.ids.nodes
        ids, program = [names[end.node.id] for end, _ in ends], self.plan.program
        env, put = self._messages(ids, ends)
        lines = [*put, *self._said(ends)]
        return Step(
            name=ends[0][0].word,
            id=next((each for each in ids if each != ends[0][0].word), ids[0]),
            comments=tuple(line for end, _ in ends for line in transitions_to(program, end.node)) if condition else (),
            condition=condition,
            env=env,
            run="\n".join(lines) + "\n" if len(lines) > 1 else lines[0],
        )

    def _messages(self, ids: Sequence[str], ends: Sequence[tuple[Reached, str]]) -> tuple[dict[str, str], list[str]]:
        """Return the variables of the messages, and the lines that put the reached end's message into `MESSAGE`.

        If a message has several values, each part is a separate variable. No process receives the whole message.
        """
        parts: dict[str, str] = {}
        words = {
            name: apart(message, parts) for name, (_, message) in zip(ids, ends, strict=True) if has_several(message)
        }
        env = {
            **{name: message for name, (_, message) in zip(ids, ends, strict=True) if name not in words},
            **{name: part for part, name in parts.items()},
        }
        if len(ends) > 1:
            lines = [f'[ "$END" != {name} ] || MESSAGE={word}' for name, word in words.items()]
            return {"END": choice(list(self._chosen([end for end, _ in ends]))), **env}, [_CHOSEN, *lines]
        if words:
            return env, [f"MESSAGE={words[ids[0]]}"]
        return ({"MESSAGE": ends[0][1]} if ends[0][1] else {}), []

    def _said(self, ends: Sequence[tuple[Reached, str]]) -> Iterator[str]:
        messages, word = [message for _, message in ends], ends[0][0].word
        if any(map(is_given, messages)):
            yield _ON_ONE_LINE
        if any(messages):
            is_open = any("%" in one or isinstance(one, Expression) or is_marked(one) for one in messages)
            shown = "${MESSAGE//'%'/%25}" if is_open else "$MESSAGE"
            has = "" if all(messages) else '[ -z "$MESSAGE" ] || '
            yield f'{has}echo "::{_LEVELS[word]} title={word}::{shown}"'
        elif word == "COMPLETE":
            yield 'echo "rdc: COMPLETE"'
        if self.told:
            shown = f"{word} $MESSAGE" if all(messages) else f"{word}${{MESSAGE:+ $MESSAGE}}"
            yield _HEADING % (shown if any(messages) else word)
        if word == "STOP" and any(end.condition != FALSE for end, _ in ends):
            yield "exit 1"

    def _chosen(self, ends: Sequence[Reached]) -> Iterator[tuple[str, str]]:
        """Yield the condition of each end. Failures come first, because no other condition tests for a halted run."""
        names = self.plan.ids.nodes
        for end in ends:
            if end.halts:
                yield expression(some(*end.halts), compare), f"'{names[end.node.id]}'"
        for end in ends:
            if end.condition != FALSE:
                yield expression(end.condition, compare), f"'{names[end.node.id]}'"

    def _condition(self, ends: Sequence[Reached]) -> str:
        condition, halts = some(*(end.condition for end in ends)), [one for end in ends for one in end.halts]
        reached = "" if condition == TRUE else expression(condition, compare)
        if not halts:
            return reached
        failed = f"failure() && {_operand(expression(some(*halts), compare))}"
        if condition == FALSE:
            return failed
        return f"success(){f' && {_operand(reached)}' if reached else ''} || {failed}"

    def _message(self, node: Node) -> str:
        """Return the message on one line.

        An end in a loop takes it from the loop's output, which has the instance numbers.
        """
        assert isinstance(node.task, End)  # noqa: S101 (tells mypy)
        plan, names = self.plan, self.plan.ids.nodes
        loops = [place for place in self.plan.places if place.kind == "loop" and node in place.nodes]
        if loops and node.task.message:
            return Expression(f"${{{{ steps.{names[loops[0].name]}.outputs.message }}}}")
        return " ".join(str(node.task.message.known(plan.numbers(node))).split())


def _operand(text: str) -> str:
    return f"({text})" if "||" in text else text
