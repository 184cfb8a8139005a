"""A contract for generated files: its steps, with their gates, stages and specifications (I32)."""

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from backends.common.marks import Marks
from compiler.ir.edges import Add, CounterTest
from compiler.ir.program import Group, Node, Program
from compiler.ir.tasks import Gate, Stage
from compiler.ir.texts import Text
from compiler.text.durations import spoken
from runtime_shim.stepspec.step_builder import checks_of

Table = Mapping[str, Any]

STEP_SECONDS = 1800  # the time limit of an attempt, unless the configuration sets one (B7)


class Step(Struct, frozen=True):
    """A step: its group, its gates' and stages' nodes in order, and its specification with marks in its strings.

    An attempt takes at most `limit` seconds. A failed attempt is repeated up to `retries` times, after `delay` seconds
    each.
    """

    group: Group
    gates: tuple[Node, ...]
    stages: tuple[Node, ...]
    spec: Table
    limit: int
    retries: int
    delay: int

    @property
    def id(self) -> str:
        """The step's id."""
        return self.group.id

    @property
    def title(self) -> str:
        """The step's name for people."""
        title = shown(self.group.title)
        return self.id if title in ("", self.id) else f"{self.id} {title}"

    @property
    def seconds(self) -> int:
        """The time for all attempts, including the pauses between them."""
        return self.limit * (self.retries + 1) + self.delay * self.retries

    @property
    def tasks(self) -> Iterator[Stage]:
        """The tasks of the stages."""
        return (node.task for node in self.stages if isinstance(node.task, Stage))

    def tool(self, task: Stage) -> Table:
        """Return the specification of a tool's call."""
        tools = self.spec.get("tools", [])
        found: Table = tools[task.place] if task.place < len(tools) else {}
        return found

    def retried(self) -> str:
        """Return how often the step is retried, in words; "" for never."""
        if not self.retries:
            return ""
        often = "once" if self.retries == 1 else f"up to {self.retries} times"
        return f"retry {often}{f', after {spoken(self.delay)}' if self.delay else ''}"


class Specification(Struct, frozen=True, dict=True):
    """The contract of a program. Without a contract, it has no steps."""

    program: Program

    @cached_property
    def config(self) -> Table:
        """The configuration."""
        found: Table = json.loads(self.program.stepspec.config if self.program.stepspec else "{}")
        return found

    @cached_property
    def specs(self) -> list[Table]:
        """The specifications of the steps, with their placeholders as written."""
        stepspec = self.program.stepspec
        return [json.loads(str(step.spec)) for step in stepspec.steps] if stepspec else []

    @property
    def needed(self) -> list[str]:
        """The programs that built-in tools need."""
        known = self.config.get("tools", {})
        called = {call["name"] for spec in self.specs for call in spec.get("tools", ())}
        built_in = {name for name in called if "command" not in known.get(name, {})}
        return [] if built_in.isdisjoint({"gitStatus", "gitDiff"}) else ["git"]

    @property
    def optional(self) -> list[str]:
        """The programs that checks run if they are there. Without its program, a check is skipped."""
        checks = {check for spec in self.specs if spec.get("validation") for check in checks_of(spec["validation"])}
        return [name for name, check in (("mypy", "types"), ("ruff", "lint")) if check in checks]

    @cached_property
    def steps(self) -> Mapping[str, Step]:
        """The steps by their ids, in order."""
        return {step.id: step for step in self._steps()}

    def matters(self, step: Step, task: Stage) -> str:
        """Return the risk of a tool's call, and whether the step requires it, in words."""
        call = step.tool(task)
        risk = call.get("risk") or self.config.get("tools", {}).get(task.subject, {}).get("risk") or "low"
        return f"{risk} risk, {'required' if call.get('required') else 'optional'}"

    def executor(self, longest: int = 0) -> str:
        """Return who does the work of a step: the start of a command, or the run's executor, or a person."""
        command = shortened(self.config.get("executor", ""), longest)
        if not command:
            return "executor, or a person"
        return f"executor {command}" if longest else "executor"

    def told(self, step: Step) -> Iterator[str]:
        """Yield the stages of an attempt, and what happens if one fails."""
        for task in step.tasks:
            paths = ", ".join(map(shown, task.paths))
            match task.stage:
                case "execute":
                    yield self.executor()
                case "tool":
                    yield f"tool {task.subject} ({self.matters(step, task)})"
                case "validation":
                    yield f"validation ({', '.join(task.checks)}): {paths}"
                case "outputs":
                    yield f"outputs {paths}" if paths else "outputs"
                    yield from (f"evidence {level}" for level in (task.subject,) if level)
                case "inputs":
                    yield f"inputs {paths}" if paths else "input guardrails"
                case "guardrails":
                    yield "output guardrails"
                case "context":
                    yield "context"
        if step.retries:
            yield step.retried()

    def _steps(self) -> Iterator[Step]:
        stepspec = self.program.stepspec
        if stepspec is None:
            return
        marks = Marks(step.spec for step in stepspec.steps)
        groups = {group.id: group for group in self.program.groups}
        counters = {counter.name for counter in self.program.counters if counter.role == "retries"}
        for step in stepspec.steps:
            nodes = [node for node in self.program.nodes if node.group == step.id]
            stages = tuple(node for node in nodes if isinstance(node.task, Stage))
            yield Step(
                groups[step.id],
                tuple(node for node in nodes if isinstance(node.task, Gate)),
                stages,
                json.loads(marks.text(step.spec)),
                self.config.get("step_timeout_seconds", STEP_SECONDS),
                max((found for node in nodes for found in _limits(node, counters)), default=0),
                max((node.settings.delay for node in stages), default=0),
            )


def shortened(command: str, longest: int) -> str:
    """Return the start of a command, on one line."""
    line = " ".join(command.split())
    return line if len(line) <= longest else line[: max(longest - 1, 0)] + "…"


def shown(text: Text) -> str:
    """Return a string with references as their author wrote them (I6), or with their registers."""
    parts = text.parts
    if len(parts) == 1 and isinstance(parts[0], str):  # true for most strings
        return parts[0]
    return "".join(part if isinstance(part, str) else part.written or f"{{{part.register}}}" for part in parts)


def _limits(node: Node, counters: set[str]) -> Iterator[int]:
    for edge in node.edges:
        added = {effect.register for effect in edge.effects if isinstance(effect, Add)} & counters
        for test in edge.guard:
            if isinstance(test, CounterTest) and test.operator == "<" and test.register in added:
                yield test.value
