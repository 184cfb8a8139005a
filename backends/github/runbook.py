"""The workflow of a runbook with native steps: one job, whose steps depend on the outcomes of earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from backends.github.filling import apart, filled, has_several, is_given, is_marked, values_of
from backends.github.inputs import measured, taken
from backends.github.job import Job
from backends.github.nodes import Nodes, choice
from backends.github.reach import Reach
from backends.github.reasons import transitions_to
from backends.github.scalar import Expression
from backends.github.seen import may_use
from backends.github.settings import StepSecrets
from backends.github.shells import Shells
from backends.github.step import PLAIN_SHELL, Step
from backends.github.summary import summary_step
from backends.github.workflow import Written
from backends.scheduling.condition import FALSE, TRUE, Condition, Literal, expression, some
from backends.scheduling.plan import Plan
from compiler.ir.program import Node
from compiler.ir.tasks import End, Shell


class Runbook(Written, frozen=True, dict=True):
    """The workflow; `flow` is the graph as Mermaid, empty for none."""

    plan: Plan
    flow: str = ""

    @property
    def names(self) -> Mapping[str, Node]:
        """The nodes by the ids of their steps."""
        return {self.plan.ids.nodes[node.id]: node for node in self.plan.program.nodes}

    @cached_property
    def jobs(self) -> Sequence[Job]:
        """The only job."""
        steps = tuple(self._filled(step) for step in self._steps())
        return (
            Job(
                id=self.program.kind,
                name=self._title,
                steps=steps,
                environment=self.options.environment or "",
                permissions=tuple(self._permissions()),
                env={**self._own_variables(), **self._environment()},
                shell=self._shells.shell("bash") if self._acts else PLAIN_SHELL,
            ),
        )

    @cached_property
    def _secrets(self) -> StepSecrets:
        return StepSecrets(self.plan.program, self.options)

    @property
    def _shells(self) -> Shells:
        return Shells(self.options.summary)

    @property
    def _shell_says(self) -> str:
        return self._shells.says

    @property
    def _acts(self) -> bool:
        """Whether the job has more than ends."""
        return any(place.kind in {"step", "loop"} for place in self.plan.places)

    def _filled(self, step: Step) -> Step:
        """Return a step with expressions instead of input values."""
        if not self.program.slots:
            return step
        return replace(step, env={name: filled(text) for name, text in step.env.items()})

    def _steps(self) -> Iterator[Step]:
        yield from self._check_secrets(self.options.environment or "", set(self.program.secrets))
        if self.program.inputs:
            yield from measured(self.program.inputs, self._events, self.options, waits=False)
            yield taken(self.program.inputs, self._events, self.options)
        if self.options.checkout:
            yield self._checkout()
        if self._acts:
            yield from self._set_up()
        reach = Reach(self.plan)
        steps = [
            *Nodes(reach, self._shells, self._secrets, values_of(self.program)).steps(),
            *Ends(reach, told=self.options.summary, certain=not self._acts).steps(),
        ]
        yield from steps or [Step("Continue", run="true")]  # GitHub needs a step in each job
        if self.options.summary:
            yield summary_step(self.plan, self.flow)

    def _own_variables(self) -> dict[str, str]:
        """Return the variables that M4 gives each command, if a command may read them."""
        tasks = [node.task for place in self.plan.places for node in place.nodes]
        commands = [str(task.command) for task in tasks if isinstance(task, Shell)]
        if not any(may_use(command, "RDC_") for command in commands):
            return {}
        return {"RDC_RUN_ID": Expression("${{ github.run_id }}"), "RDC_ATTEMPT": Expression("1")}


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

    reach: Reach
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

    def _step(self, ends: Sequence[tuple[Reached, str]]) -> Step:
        """Return the step for ends with the same word. At most one of them is reached."""
        condition, names = self._condition([end for end, _ in ends]), self.reach.ids.nodes
        ids, program = [names[end.node.id] for end, _ in ends], self.reach.plan.program
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
        compare, names = self.reach.compare, self.reach.ids.nodes
        for end in ends:
            if end.halts:
                yield expression(some(*end.halts), compare), f"'{names[end.node.id]}'"
        for end in ends:
            if end.condition != FALSE:
                yield expression(end.condition, compare), f"'{names[end.node.id]}'"

    def _condition(self, ends: Sequence[Reached]) -> str:
        compare = self.reach.compare
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
        plan, names = self.reach.plan, self.reach.ids.nodes
        loops = [place for place in self.reach.places if place.kind == "loop" and node in place.nodes]
        if loops and node.task.message:
            return Expression(f"${{{{ steps.{names[loops[0].name]}.outputs.message }}}}")
        return " ".join(str(node.task.message.known(plan.numbers(node))).split())


def _operand(text: str) -> str:
    return f"({text})" if "||" in text else text
