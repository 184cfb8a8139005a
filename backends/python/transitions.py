"""The transitions of a step as settings of its call.

They don't name a counter that `retry` implies, or an end that only one transition leads to.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, count, groupby, pairwise, takewhile
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from backends.python.defaults import Common, Step
from backends.python.settings import Values, broken, effect_list, effect_lists, given, literal, tests_of
from compiler.ir.edges import Add, Clear, CounterTest, Edge, Effect, Keep, Reset, Set, register_tests, words_of
from compiler.ir.program import Entering, Jump, Node, Program, plain_targets, scope_members
from compiler.ir.tasks import IDLE, PASS_OR_FAIL, Agent, End, Parallel, Tool
from compiler.text.regex import Regex

_OUTCOMES = {"pass/fail": {"pass": "on_pass", "fail": "on_fail"}, "yes/no": {"pass": "on_yes", "fail": "on_no"}}


class Transitions(Struct, dict=True):
    """Writes the transitions of a program. `used` are the words so far, `done` the ends that a transition has."""

    program: Program
    steps: Mapping[str, Step]
    common: Common
    used: set[str]
    done: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    """The names of the steps and ends so far."""

    @cached_property
    def _unshared(self) -> set[str]:
        targets = (edge.target for step in self.steps.values() for edge in step.edges)
        users = Counter([self.program.entry, *targets])
        ends = ((name, step) for name, step in self.steps.items() if isinstance(step.node.task, End))
        return {name for name, step in ends if not (step.edges or step.node.title or users[name] > 1)}

    @cached_property
    def retried(self) -> set[str]:
        """The steps whose retries `retry` can express: an edge back to it, and a reset on each other edge."""
        initial = {counter.name: counter.initial for counter in self.program.counters}
        found = {name for name, step in self.steps.items() if step.node.retries and _retries(name, step, initial)}
        if self.program.rules:  # `retry` has no place for outcomes of steps around
            found -= {
                name
                for name in found
                for edge in self.steps[name].edges
                if _times(self.steps[name], edge) and edge.settles
            }
        return found

    def clears(self, step: Step) -> list[str]:
        """Return the variables that all transitions of a step clear first."""
        name = step.node.id
        if not self.program.slots or name in self.retried or isinstance(step.node.task, End) or not step.edges:
            return []
        found: list[str] = []
        for effects in zip(*(edge.effects for edge in step.edges), strict=False):
            first = effects[0]
            if not isinstance(first, Clear) or any(one != first for one in effects):
                break
            found.append(first.slot)
        return found

    def settings(self, step: Step, question: str, clears: int) -> list[str]:
        """Return a step's transitions as settings, without the first `clears` effects."""
        known = _OUTCOMES.get(question, _OUTCOMES["pass/fail"])
        runs = groupby(step.edges, _outcome)
        transitions = [(word, self._transition(step, list(run), clears)) for word, run in runs]
        words = [word for word, _ in transitions]
        others = [index for index, word in enumerate(words) if word not in (None, *PASS_OR_FAIL)]
        if len(set(words)) < len(words) or any(after - before > 1 for before, after in pairwise(others)):
            listed = [f"[{literal(word)}, {transition}]" for word, transition in transitions]
            return [f"on={broken('[', listed, ']', 8)}"]
        settings: list[str] = []
        for index, (word, transition) in enumerate(transitions):
            if word is None:
                settings.append(f"{'then' if type(step.node.task) in IDLE else 'otherwise'}={transition}")
            elif index not in others:
                settings.append(f"{known[word]}={transition}")
            elif index == others[0]:
                inner = [f"{literal(words[other])}: {transitions[other][1]}" for other in others]
                settings.append(f"on={broken('{', inner, '}', 8)}")
        return settings

    def _transition(self, step: Step, edges: Sequence[Edge], clears: int) -> str:
        """Return the transitions of one outcome. A run takes the first one whose conditions hold."""
        if len(edges) == 1:
            return self._one(step, edges[0], clears)
        if step.node.id in self.retried and (times := _times(step, edges[0])):
            self.used.add("retry")
            says = edges[0].label
            own = "" if says == f"RETRY {times}" else f"{literal(says)}, "
            return f"retry({times}, {own}then={self._transition(step, edges[1:], clears)})"
        return broken("[", [self._one(step, edge, clears) for edge in edges], "]", 8)

    def _one(self, step: Step, edge: Edge, clears: int) -> str:
        target, says = edge.target, edge.label
        shown = f"{literal(target)}, {literal(says)}" if says else literal(target)
        do = edge.effects
        if step.node.id in self.retried:
            if times := _times(step, edge):
                self.used.add("retry")
                return f"retry({times}, {literal(says)})"
            do = do[:-1]
        do = do[clears:]
        if target in self._unshared and (found := self._end(step.node.id, edge, do)):
            return found
        self.used.add("go")
        kept = list(takewhile(lambda effect: isinstance(effect, Keep) and effect.of == "answer", reversed(do)))[::-1]
        do = do[: len(do) - len(kept)]
        guards = {"when": tests_of(edge), "do": effect_lists(do), "keeps": [_kept(one) for one in kept]}
        guards["settles"] = self._settled(edge)
        return f"go({', '.join([shown, *(f'{key}={literal(value)}' for key, value in guards.items() if value)])})"

    def _settled(self, edge: Edge) -> list[list[str]]:
        """Return the outcomes of the steps around, which only rules need (P-15)."""
        return [[one.step, one.word] for one in edge.settles] if self.program.rules else []

    def _end(self, name: str, edge: Edge, do: Sequence[Effect]) -> str:
        target, says = edge.target, edge.label
        task = self.steps[target].node.task
        assert isinstance(task, End)  # noqa: S101 (for mypy)
        word, message = task.result, str(task.message)
        own = f"{name}/{word.upper()}"
        names = chain([own], (f"{own}~{number}" for number in count(2)))
        is_named = target != next(each for each in names if each not in self.taken)
        if is_named and (says or target in self.taken):
            return ""
        self.taken.add(target)
        self.done.add(target)
        self.used.add(word)
        shown = [literal(message)] if message else []
        if is_named:
            shown.append(f"to={literal(target)}")
        elif says != word.upper():
            shown.append(f"says={literal(says)}")
        more: Values = {"when": tests_of(edge), "do": effect_lists(do), "settles": self._settled(edge)}
        more |= self.common.placeholders(self.steps[target].places, "", {"message": message})
        shown += [f"{key}={literal(value)}" for key, value in more.items() if value]
        return f"{word}({', '.join(shown)})"


def _outcome(edge: Edge) -> str | None:
    return next(iter(words_of([edge])), None)


def _retries(name: str, step: Step, initial: Mapping[str, int]) -> bool:
    counter = f"{name} retries"
    if step.node.retries != counter or initial[counter] != 0:
        return False
    times = [_times(step, edge) for edge in step.edges]
    resets = [edge.effects[-1:] == (Set(counter, 0),) for edge in step.edges]
    return any(times) and all(bool(many) or reset for many, reset in zip(times, resets, strict=True))


def _times(step: Step, edge: Edge) -> int:
    name = step.node.id
    counter = f"{name} retries"
    if edge.target != name or edge.effects != (Add(counter, 1),):
        return 0
    match register_tests(edge):
        case [CounterTest(register, "<", times)] if register == counter:
            return times
        case _:
            return 0


def _kept(effect: Effect) -> str | list[str]:
    """Return the variable that keeps an answer, with the field if only that is kept, and the expected answers."""
    slot, _, what = effect_list(effect)
    found: str | list[str] = slot if what == ["answer"] else [slot, *what[1:]]
    return found


_END = Regex(r"[./]")
_OF_NUMBER = Regex(r"\.(?=[0-9])")
_CALLED = (Agent, Parallel, Tool)


def jumps(program: Program, resets: Collection[str]) -> dict[str, Any]:
    """Return the effects of jumps into groups (`enter`), outer groups first, and the groups' members (`within`).

    `to` has the jumps that do something else, `scopes` those that no edge resets. A group that is not in `within`
    contains the steps whose names start with its name.
    """
    if not program.jumps and not program.groups:
        return {}  # the runtime finds each step itself
    written = {jump.id: _effective(jump) for jump in program.jumps}
    enter = _entered(program, written.values())
    inside, named = _members(program, enter)
    told = _Told(program, enter, {group: names for group, names in inside.items() if names != named[group]})
    doubtful = {
        *written,
        *(group.id for group in program.groups),
        *(name for names in inside.values() for name in names),
    }
    plain = plain_targets(program)
    found = [written.get(name) or Jump(name, plain[name]) for name in (plain | written) if name in doubtful]
    effects = [effect for jump in found for effect in jump.all_effects]
    scopes = {effect.scope for effect in effects if isinstance(effect, Reset)} - set(resets)
    members = scope_members(program.counters)
    return given(
        to={jump.id: _jump(jump) for jump in found if jump != told.jump(jump.id)},
        enter={group: effect_lists(effects) for group, effects in enter.items()},
        within=told.within,
        scopes={scope: [register.name for register in members.get(scope, ())] for scope in sorted(scopes)},
    )


class _Told:
    """The jumps that `runtime_shim/operator/jumps.py` derives from a name that is not in `to`."""

    def __init__(
        self, program: Program, enter: Mapping[str, tuple[Effect, ...]], within: Mapping[str, list[str]]
    ) -> None:
        self.within = within
        self._enter = enter
        self._order = {group: place for place, group in enumerate(enter)}
        self._around: dict[str, set[str]] = {}
        for group, names in within.items():
            for name in names:
                self._around.setdefault(name, set()).add(group)
        nodes = [node.id for node in program.nodes if type(node.task) not in IDLE]
        inner = [name for name in reversed(nodes) if "." in name or "/" in name]
        self._begun = {begin: step for step in inner for begin in _beginnings(step)}
        self._named = {*nodes}

    def jump(self, name: str) -> Jump:
        """Return the runtime's jump: to the step of this name, or to the first step of the group, which starts over."""
        groups = {begin for begin in _beginnings(name) if begin in self._enter and begin not in self.within}
        groups |= self._around.get(name, set())
        around = tuple(Entering(group, self._enter[group]) for group in sorted(groups, key=self._order.__getitem__))
        if name in self._named:
            return Jump(name, name, around)
        return Jump(name, self._begun.get(name, ""), around, self._enter.get(name, ()))


def _beginnings(name: str) -> Iterator[str]:
    """Yield the part of a name before each `.` and `/`."""
    return (name[: found.start()] for found in _END.finditer(name))


def _entered(program: Program, found: Iterable[Jump]) -> dict[str, tuple[Effect, ...]]:
    effects: dict[str, tuple[Effect, ...]] = {}
    for jump in found:
        for item in jump.entering:
            effects.setdefault(item.group, item.effects)
    depth = {group: len(list(program.around(group))) for group in effects}
    return {group: effects[group] for group in sorted(effects, key=depth.__getitem__)}


def _effective(jump: Jump) -> Jump:
    return replace(jump, entering=tuple(item for item in jump.entering if item.effects))


def _jump(jump: Jump) -> dict[str, Any]:
    entering = [[item.group, effect_lists(item.effects)] for item in jump.entering]
    return {"go": jump.target} | given(entering=entering, do=effect_lists(jump.effects))


def _members(program: Program, groups: Collection[str]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    inside: dict[str, list[str]] = {group: [] for group in groups}
    named: dict[str, list[str]] = {group: [] for group in groups}
    for node in program.nodes if groups else ():
        for group in inside.keys() & program.around(node.group):
            inside[group].append(node.id)
        for group in named.keys() & _beginnings(node.id):
            named[group].append(node.id)
    return inside, named


def told_steps(program: Program) -> dict[str, tuple[str, ...]]:
    """Return the steps around each step if its name doesn't imply them; none in a program that calls nothing."""
    if not any(type(node.task) in _CALLED for node in program.nodes):
        return {}
    known = {node.id for node in program.nodes} | {group.id for group in program.groups}
    doing = (node for node in program.nodes if type(node.task) not in IDLE)
    found = {node.id: (known.intersection(_by_name(node.id)), _steps(program, node, known)) for node in doing}
    return {name: tuple(sorted(steps)) for name, (said, steps) in found.items() if said != steps}


def _steps(program: Program, node: Node, known: set[str]) -> set[str]:
    return {*known.intersection(_before_slashes(node.id)), *program.around(node.group)} - {node.id}


def _by_name(name: str) -> Iterator[str]:
    """Yield the steps around a node that `runtime_shim/values/settings.py` and the Make driver derive from its name."""
    for start in (*_before_slashes(name), name):
        yield from (start,) if start != name else ()
        yield from (start[:-1],) if re.fullmatch("(?s:.+)[a-z]", start) else ()
    yield from (name[: found.start()] for found in _OF_NUMBER.finditer(name))


def _before_slashes(name: str) -> list[str]:
    return [name[:place] for place, sign in enumerate(name) if sign == "/"]
