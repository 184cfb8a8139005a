"""The steps of a program as rules name them, with the outcomes that they can have (P-2, P-7, P-8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from compiler.ir.edges import StepOutcome
from compiler.ir.graph import reached_from
from compiler.ir.program import Node, Program, check_of, without_jumps
from compiler.ir.rules import Event
from compiler.ir.tasks import (
    IDLE,
    PASS_OR_FAIL,
    Agent,
    Ask,
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
from compiler.rules.watch import possible_moves

Tables = Mapping[str, Mapping[str, object]]
"""The values of the tables of targets, by target."""

EVERY = ""
"""The key of labels and secrets that every step has."""

_STEPS = "steps"
_KINDS = {Shell: "command", Ask: "question", Agent: "agent", Parallel: "agent", Tool: "tool", Gate: "gate"}


class RuleStep(Struct, frozen=True):
    """A step that a rule can name: its starts are nodes, several for a composed step.

    `outcomes` are its events by outcome in lower case, and `shown` are the outcomes as documents write them. `work` is
    the node of the agent whose work the step checks: it starts the step, and the step fails with it.
    """

    id: str
    starts: tuple[str, ...]
    outcomes: Mapping[str, Event]
    shown: tuple[str, ...]
    is_composed: bool = False
    is_answered: bool = False
    work: str = ""

    def events(self, word: str) -> Iterator[Event]:
        """Yield the events by which the step gets an outcome."""
        event = self.outcomes[word]
        yield event
        if self.work and event.word == Verdict.FAIL:
            yield Event(self.work, event.word)


class RuleSteps:
    """The steps of a program, with their labels and secrets by step id."""

    def __init__(self, program: Program, labels: Names, secrets: Names) -> None:
        self.program = program
        self.nodes = {node.id: node for node in program.nodes if type(node.task) not in IDLE}
        self._names = {"label": labels, "secret": secrets}
        self._single = {name: _single(node) for name, node in self.nodes.items()}
        self.by_id = {**self._single, **dict(self._composed())}
        self._works = {step: node.id for node in self.nodes.values() if (step := check_of(node)) in self.nodes}
        for step, work in self._works.items():
            self.by_id[step] = replace(self.by_id[step], starts=(work,), work=work)

    @cached_property
    def reached(self) -> Mapping[str, object]:
        """The nodes that a run can reach without an operator."""
        program = without_jumps(self.program)
        moves = possible_moves(program)
        return reached_from([program.entry], lambda name: (edge.target for _, edge in moves[name]))

    @cached_property
    def selected(self) -> Mapping[tuple[str, str], Mapping[str, RuleStep]]:
        """The steps by id for each kind of mention and name: title, kind of task, label or secret."""
        found: dict[tuple[str, str], dict[str, RuleStep]] = {}
        for title, name in self._titles():
            if name in self.by_id:
                found.setdefault(("step", title), {})[name] = self.by_id[name]
        for name, node in self.nodes.items():
            found.setdefault(("any", _kind(node.task)), {})[name] = self._single[name]
        for kind, names in self._names.items():
            # A question or gate calls no command that could get a secret.
            every = [name for name, step in self._single.items() if kind == "label" or not step.is_answered]
            for step, having in sorted(names.items(), key=lambda item: item[0] == EVERY):
                ids = every if step == EVERY else [step] if step in self.by_id else []
                for name in having:
                    found.setdefault((kind, name), {}).update((each, self.by_id[each]) for each in ids)
        return found

    def entry_of(self, name: str) -> str:
        """Return the parallel step that an unknown name such as `review_1` is an entry of, or ""."""
        step = name.rpartition("_")[0]
        is_parallel = step in self.nodes and isinstance(self.nodes[step].task, Parallel)
        return step if is_parallel and name[len(step) + 1 :].isdigit() else ""

    def _titles(self) -> Iterator[tuple[str, str]]:
        """Yield each title with the id of its step; of a step and its own gates, stages and work, only the step."""
        titles = [(group.id, group.title) for group in self.program.groups]
        titles += [(node.id, node.title) for node in self.nodes.values()]
        known = {(" ".join(str(title).split()), name): None for name, title in titles}
        for title, name in known:
            node = self.nodes.get(name)
            is_part = node and isinstance(node.task, Gate | Stage) and node.group != name
            if name not in self._works.values() and not (node and is_part and (title, node.group) in known):
                yield title, name

    def _composed(self) -> Iterator[tuple[str, RuleStep]]:
        """Yield the composed steps. A gate decides before its step starts, so it isn't inside (P-7)."""
        inside: dict[str, list[str]] = {}
        for node in self.nodes.values():
            for group in () if isinstance(node.task, Gate) else self.program.around(node.group):
                inside.setdefault(group, []).append(node.id)
        for group, names in inside.items():
            outcomes = {word: Event(group, word) for word in PASS_OR_FAIL}
            if group in self.nodes:  # the step of a specification passes with its last stage
                outcomes[PASS_OR_FAIL[0]] = Event(self._last_stage(group), PASS_OR_FAIL[0])
            yield group, RuleStep(group, tuple(names), outcomes, tuple(map(str.upper, PASS_OR_FAIL)), is_composed=True)

    def _last_stage(self, step: str) -> str:
        passed = StepOutcome(step, Verdict.PASS)
        found = (name for name, node in self.nodes.items() if any(passed in edge.settles for edge in node.edges))
        return next(found, step)


def _single(node: Node) -> RuleStep:
    task, words = node.task, alphabet(node.task)
    outcomes = {word.casefold(): Event(node.id, word) for word in reversed(words)}
    if isinstance(task, Ask):  # YES and NO mean PASS and FAIL
        usual = {"yes": outcomes.get("pass"), "no": outcomes.get("fail")}
        outcomes = {**{word: event for word, event in usual.items() if event}, **outcomes}
    shown = tuple(word.upper() if word in {"pass", "fail", "yes", "no"} else word for word in words)
    if isinstance(task, Ask) and task.question == "yes_no":
        shown = ("YES", "NO")
    return RuleStep(node.id, (node.id,), outcomes, shown, is_answered=isinstance(task, Ask | Gate))


def _kind(task: Task) -> str:
    if isinstance(task, Stage):
        return {"execute": "agent", "tool": "tool"}.get(task.stage, "")
    return _KINDS.get(type(task), "")


def within(name: str, scope: str) -> bool:
    """Return whether a step is in a nested document; "" is the main document with everything in it."""
    return not scope or name.startswith(f"{scope}/")


def secrets_of(program: Program, tables: Tables) -> Names:
    """Return the secrets by step id, from the settings of steps and from the commands that they call.

    If no setting names a secret, all steps get the secrets of the program. Only targets check their tables.
    """
    found: dict[str, tuple[str, ...]] = {}
    for step, settings in (pair for target, table in tables.items() for pair in _settings(program, target, table)):
        named = settings.get("secrets") if isinstance(settings, Mapping) else None
        if isinstance(named, list):
            found[step] = (*found.get(step, ()), *(name for name in named if isinstance(name, str)))
    return found or {EVERY: program.secrets}


def _settings(program: Program, target: str, table: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the settings of steps in the table of a target, and those of the commands that their tasks call."""
    of_steps = table if target == _STEPS else table.get(_STEPS)
    for step, settings in of_steps.items() if isinstance(of_steps, Mapping) else ():
        yield EVERY if step == "*" else str(step), settings
    for node in program.nodes if target != _STEPS else ():
        for key, name in _callers(node.task):
            settings = table.get(key)
            yield node.id, settings.get(name) if name and isinstance(settings, Mapping) else settings


def _callers(task: Task) -> list[tuple[str, str]]:
    """Return the options of targets for the commands that a task calls, and the names in these options or ""."""
    if isinstance(task, Stage):
        return {"execute": [("executor", "")], "tool": [("tools", task.subject)]}.get(task.stage, [])
    if isinstance(task, Tool):
        return [("tools", task.connection)]
    agents = [("agents", agent.agent) for agent in agents_of(task)]
    return [*agents, ("agent", "")] if agents else []
