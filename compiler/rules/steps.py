"""The steps of a program as rules name them, with the outcomes that they can have (P-2, P-7, P-8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from compiler.analyses.exploration import explore
from compiler.ir.edges import StepOutcome
from compiler.ir.graph import led_to
from compiler.ir.program import Node, Program, check_of, without_jumps
from compiler.ir.rules import Event
from compiler.ir.tasks import (
    IDLE,
    PASS_OR_FAIL,
    Agent,
    Ask,
    Branch,
    End,
    Gate,
    Parallel,
    Shell,
    Stage,
    Task,
    Tool,
    Verdict,
    agents_of,
    alphabet,
)
from compiler.rules.model import Names

_YES_OR_NO = {"yes": "pass", "no": "fail"}
Tables = Mapping[str, Mapping[str, object]]
"""The values of the tables of targets, by target."""

EVERY = ""
"""The key of labels and secrets that every step has."""


class RuleStep(Struct, frozen=True):
    """A step that a rule can name: its starts are nodes, several for a composed step.

    `words` maps each outcome in lower case to the word of the program, and `shown` are the outcomes as documents write
    them. `last` is the stage that decides whether a step of a specification passes: another stage has the step's id.
    `work` is the node of the agent whose work the step checks: it starts the step, and the step fails with it (E15).
    """

    id: str
    starts: tuple[str, ...]
    words: Mapping[str, str]
    shown: tuple[str, ...]
    is_composed: bool = False
    is_answered: bool = False
    last: str = ""
    work: str = ""

    def gets(self, word: str) -> Iterator[Event]:
        """Yield the events by which the step gets an outcome, as a document writes it."""
        plain = self.words[word.casefold()]
        yield Event(self.last if self.last and plain == Verdict.PASS else self.id, plain)
        if self.work and plain == Verdict.FAIL:
            yield Event(self.work, plain)


class RuleSteps:
    """The steps of a program, with their labels and secrets by step id."""

    def __init__(self, program: Program, labels: Names, secrets: Names) -> None:
        self.program = program
        self.labels = labels
        self.secrets = secrets
        self.nodes = {node.id: node for node in program.nodes if type(node.task) not in IDLE}
        self.by_id = {**{name: self._node(node) for name, node in self.nodes.items()}, **dict(self._groups())}
        self._works = {step: node.id for node in self.nodes.values() if (step := check_of(node)) in self.nodes}
        for step, work in self._works.items():
            self.by_id[step] = replace(self.by_id[step], starts=(work,), work=work)

    @cached_property
    def reached(self) -> Mapping[str, object]:
        """The nodes that a run can reach without an operator."""
        program = without_jumps(self.program)
        found = explore(program)
        return led_to(replace(program, nodes=tuple(map(found.left, program.nodes))), [program.entry])

    def is_reached(self, step: RuleStep) -> bool:
        """Return whether a run can reach a step."""
        return any(name in self.reached for name in step.starts)

    def titled(self, title: str, scope: str) -> list[RuleStep]:
        """Return the steps with a title; of a step and its own gates, stages and work, only the step."""
        found = self._titles.get(title, {})
        inner = {name for name, group in found.items() if group != name and group in found and self._is_part(name)}
        inner.update(work for step, work in self._works.items() if step in found)
        return [self.by_id[name] for name in found if name not in inner and name in self.by_id and within(name, scope)]

    def of_kind(self, kind: str, scope: str) -> list[RuleStep]:
        """Return the steps with a kind of task: command, question, agent, tool or gate."""
        return [step for step in self._kinds.get(kind, ()) if within(step.id, scope)]

    def having(self, name: str, names: Names, scope: str) -> list[RuleStep]:
        """Return the steps that have a label or a secret."""
        ids = [step for step, having in names.items() if name in having and step]
        if name in names.get(EVERY, ()):
            ids += [node.id for node in self.nodes.values() if names is self.labels or _runs(node.task)]
        return [self.by_id[step] for step in dict.fromkeys(ids) if step in self.by_id and within(step, scope)]

    def entry_of(self, name: str) -> str:
        """Return the parallel step that an unknown name such as `review_1` is an entry of, or ""."""
        step = name.rpartition("_")[0]
        is_parallel = step in self.nodes and isinstance(self.nodes[step].task, Parallel)
        return step if is_parallel and name[len(step) + 1 :].isdigit() else ""

    @cached_property
    def _titles(self) -> dict[str, dict[str, str]]:
        """For each title its steps, and the groups around them."""
        parts = [(group.id, group.parent, group.title) for group in self.program.groups]
        parts += [(node.id, node.group, node.title) for node in self.nodes.values()]
        found: dict[str, dict[str, str]] = {}
        for name, group, title in parts:
            found.setdefault(" ".join(str(title).split()), {})[name] = group
        return found

    @cached_property
    def _kinds(self) -> dict[str, list[RuleStep]]:
        found: dict[str, list[RuleStep]] = {}
        for node in self.nodes.values():
            found.setdefault(_kind(node.task), []).append(self._node(node))
        return found

    def _is_part(self, name: str) -> bool:
        return name in self.nodes and isinstance(self.nodes[name].task, Gate | Stage)

    def _node(self, node: Node) -> RuleStep:
        task, every = node.task, alphabet(node.task)
        words = {word.casefold(): word for word in reversed(every)}
        if isinstance(task, Ask) or self.program.kind == "runbook":
            words = _with_yes_and_no(words)
        shown = ("YES", "NO") if isinstance(task, Ask) and task.question == "yes_no" else tuple(map(_shown, every))
        return RuleStep(node.id, (node.id,), words, shown, is_answered=isinstance(task, Ask | Gate))

    def _groups(self) -> Iterator[tuple[str, RuleStep]]:
        """Yield the composed steps. A gate decides before its step starts, so it isn't inside (P-7)."""
        inside: dict[str, list[str]] = {}
        for node in self.nodes.values():
            for group in () if isinstance(node.task, Gate) else self.program.around(node.group):
                inside.setdefault(group, []).append(node.id)
        words = _with_yes_and_no({word: word for word in PASS_OR_FAIL})
        shown = tuple(map(_shown, PASS_OR_FAIL))
        for group, names in inside.items():
            last = self._last_stage(group) if group in self.nodes else ""
            yield group, RuleStep(group, tuple(names), words, shown, is_composed=True, last=last)

    def _last_stage(self, step: str) -> str:
        """Return the stage whose PASS is that of its step."""
        passed = StepOutcome(step, Verdict.PASS)
        found = (name for name, node in self.nodes.items() if any(passed in edge.settles for edge in node.edges))
        return next(found, step)


def _with_yes_and_no(words: Mapping[str, str]) -> dict[str, str]:
    """Return the outcomes with YES and NO, which mean PASS and FAIL in runbooks."""
    return {**{word: plain for word, plain in _YES_OR_NO.items() if plain in words}, **words}


def within(name: str, scope: str) -> bool:
    """Return whether a step is in a nested document; "" is the main document with everything in it."""
    return not scope or name.startswith(f"{scope}/")


def _kind(task: Task) -> str:
    match task:
        case Shell():
            return "command"
        case Ask():
            return "question"
        case Agent() | Parallel() | Stage("execute"):
            return "agent"
        case Tool() | Stage("tool"):
            return "tool"
        case Gate():
            return "gate"
        case Stage() | Branch() | End():
            return ""
        case _:
            assert_never(task)


def _runs(task: Task) -> bool:
    """Return whether a task calls a command, which gets secrets."""
    return not isinstance(task, Ask | Gate)


def _shown(word: str) -> str:
    return word.upper() if word in {"pass", "fail", "yes", "no"} else word


def secrets_of(program: Program, tables: Tables) -> Names:
    """Return the secrets by step id, from the settings of steps and from the commands that they call.

    If no setting names a secret, all steps get the secrets of the program. Only targets check their tables.
    """
    found: dict[str, tuple[str, ...]] = {}

    def add(step: str, settings: object) -> None:
        named = settings.get("secrets") if isinstance(settings, Mapping) else None
        if isinstance(named, list):
            found[step] = (*found.get(step, ()), *(name for name in named if isinstance(name, str)))

    for name, table in tables.items():
        of_steps = table if name == _STEPS else table.get(_STEPS)
        for step, settings in of_steps.items() if isinstance(of_steps, Mapping) else ():
            add(EVERY if step == "*" else str(step), settings)
        for node in program.nodes if name != _STEPS else ():
            for settings in _callers(node.task, table):
                add(node.id, settings)
    return found or {EVERY: program.secrets}


_STEPS = "steps"


def _callers(task: Task, table: Mapping[str, object]) -> Iterator[object]:
    """Yield a target's settings of the commands that a task calls."""
    if isinstance(task, Stage):
        names = {"execute": ("executor", ""), "tool": ("tools", task.subject)}.get(task.stage, ("", ""))
        wanted = [names]
    elif isinstance(task, Tool):
        wanted = [("tools", task.connection)]
    else:
        wanted = [("agents", agent.agent) for agent in agents_of(task)]
        wanted += [("agent", "")] if wanted else []
    for key, name in wanted:
        settings = table.get(key)
        yield settings.get(name) if name and isinstance(settings, Mapping) else settings
