"""The program as calls: one for each step, in the document's words. `runtime_shim/engine/program.py` executes them."""

import ast
import json
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from backends.common.marks import Marks
from backends.common.remarks import comment
from backends.python.defaults import Common, Step, group_places
from backends.python.settings import (
    WIDEST,
    Values,
    around,
    broken,
    common_settings,
    given,
    literal,
    placeholders,
    prose,
    task_settings,
    word_of,
)
from backends.python.transitions import Transitions, jumps, told_steps
from compiler.ir.program import Context, Input, Program, scope_members
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import IDLE, End
from runtime_shim.engine.program import Builder, functions
from runtime_shim.stepspec.step_builder import StepBuilder
from runtime_shim.values.defaults import Shared

INDENT = "    "
WORDS = ("about", "group", "step", "end", "branch", "go", "retry", "complete", "stop")
"""Calls in a runbook besides the kinds of tasks, in the order of parameters."""

_FIRST = ("prompt", "bash", "sh")
"""Settings before the group of a step."""


class Calls(Struct):
    """The lines of the function, and the names that it calls.

    `shown` are the settings of `about` that all steps see: `inputs`, `outputs` and `placeholders`.
    """

    lines: list[str]
    used: set[str]
    shown: list[str] = []
    is_specification: bool = False
    """Whether the words are those of specifications."""

    @property
    def parameters(self) -> list[str]:
        """The function's parameters: words of every runbook first, then the kinds of its tasks."""
        return [*(word for word in WORDS if word in self.used), *sorted(self.used - set(WORDS))]

    def built(self) -> dict[str, Any]:
        """Return the program that the engine runs, as the builder makes it of these calls. Nothing else is executed."""
        builder = StepBuilder() if self.is_specification else Builder()
        known = dict(zip(self.parameters, functions(builder, self.parameters), strict=True))
        (function,) = ast.parse("\n".join(["def document():", *self.lines])).body
        assert isinstance(function, ast.FunctionDef)  # noqa: S101 (for mypy)
        for statement in function.body:
            assert isinstance(statement, ast.Expr)  # noqa: S101
            _value(statement.value, known)
        table: dict[str, Any] = builder.table
        Shared.complete(table)
        return table


def _value(written: ast.expr | None, known: Mapping[str, Any]) -> Any:  # noqa: ANN401 (any setting)
    match written:
        case ast.Call(ast.Name(word), arguments, keywords):
            named = {item.arg or "": _value(item.value, known) for item in keywords}
            return known[word](*(_value(each, known) for each in arguments), **named)
        case ast.List(items):
            return [_value(item, known) for item in items]
        case ast.Dict(keys, values):
            return {_value(key, known): _value(item, known) for key, item in zip(keys, values, strict=True)}
        case ast.expr():
            return ast.literal_eval(written)
        case _:
            raise TypeError(written)


def calls(program: Program, *, is_named: bool = False) -> Calls:
    """Return the calls of a program. `is_named` adds the name of its project."""
    return _Writer(program).write(is_named=is_named)


class _Writer:
    def __init__(self, program: Program) -> None:
        self.program, self.used = program, {"about"}
        self._slots = frozenset(slot.name for slot in program.slots)
        self._steps = {node.id: Step.of(node, self._slots) for node in program.nodes}
        entered = {node.group for node in program.nodes if type(node.task) not in IDLE}
        shown = [group for group in program.groups if group.id in entered and group.kind == "step" and group.prompt]
        self._groups = {group.id: group_places(group, self._slots) for group in shown}
        groups = [places for _, _, places in self._groups.values()]
        self._common = Common.of(program, list(self._steps.values()), groups)
        self._transitions = Transitions(program, self._steps, self._common, self.used)

    def write(self, *, is_named: bool) -> Calls:
        lines: list[str] = []
        headings, groups = _headings(self.program), set(self._groups)
        for name, step in self._steps.items():
            if name in self._transitions.done:
                continue
            body = self._node(step)
            lines.append("")
            if name in headings:
                lines.append(f"{INDENT}# {comment(headings[name])}")
            group = step.node.group
            if group in groups and type(step.node.task) not in IDLE:
                groups.remove(group)
                lines += self._group(group)
            lines += body
        return Calls([*self._about(is_named=is_named), *lines], self.used, self._common.shown())

    def _about(self, *, is_named: bool) -> list[str]:
        program, slots, common = self.program, self._slots, self._common
        facts = {"name": program.name, "source": program.sources[0].path}
        facts |= {"project": program.project} if is_named and program.project else {}
        facts |= {"entry": program.entry} if program.entry != program.nodes[0].id else {}
        resets = {e.scope for node in program.nodes for edge in node.edges for e in edge.effects if e.kind == "reset"}
        members = scope_members(program.counters)
        initial = {counter.name: counter.initial for counter in program.counters if counter.name not in slots}
        counted = {self._steps[name].node.retries for name in self._transitions.retried}
        strings = {slot.name: slot.initial for slot in program.slots if slot.name not in common.names}
        held = given(
            limit=program.limit,
            secrets=list(program.secrets),
            counters={name: value for name, value in initial.items() if name not in counted},
            scopes={scope: [register.name for register in members.get(scope, ())] for scope in sorted(resets)},
            texts=strings if any(value is not None for value in strings.values()) else list(strings),
            placeholders=common.places,
            inputs=[_input(declared) for declared in program.inputs],
            outputs=common.values,
            jumps=jumps(program, resets),
            artifact=_artifact(program, slots),
            contexts={context.name: _context(context, slots) for context in program.contexts},
            steps={name: list(steps) for name, steps in told_steps(program).items()},
            folder=program.folder,
            stepspec=stepspec_of(program, slots),
            logs=program.logs,
            notify=program.notify,
            rules={rule.name: machine(rule, program) for rule in program.rules},
        )
        named = [f"{key}={literal(value)}" for key, value in facts.items()]
        return self._call("about", [literal(program.title)], [*named, *settings_of(held)])

    def _group(self, name: str) -> list[str]:
        title, prompt, places = self._groups[name]
        shown = {"title": title, "prompt": prompt}
        more = self._common.placeholders(places, title, shown)
        return self._call("group", [literal(name)], settings_of(shown | more))

    def _node(self, step: Step) -> list[str]:
        """Return the call for a step, a branch, or an end that is not written in a transition."""
        node, task, transitions = step.node, step.node.task, self._transitions
        transitions.taken.add(node.id)
        common = common_settings(node, self._slots, is_stepspec=self.program.stepspec is not None)
        if node.id in transitions.retried:
            del common["attempt"]
        if isinstance(task, End):
            return self._end(step, task, common)
        head = [literal(node.id), *([literal(str(node.title))] if node.title else [])]
        if type(task) not in IDLE:
            path, line = node.origin.path, node.origin.span.line
            head.append(f"at={line if path == self.program.sources[0].path else literal(f'{path}:{line}')}")
        found = task_settings(task, step.original.task)
        settings = {key: found[key] for key in _FIRST if key in found}
        if node.group in self._groups and type(task) not in IDLE:
            settings["group"] = node.group
        settings |= found | common | self._common.settings(step, found)
        if clears := transitions.clears(step):
            settings["clears"] = clears
        shown = transitions.settings(step, settings.get("question", ""), len(clears))
        implied = "yes/no" if any(one.startswith(("on_yes=", "on_no=")) for one in shown) else "pass/fail"
        if settings.get("question") == implied:
            del settings["question"]
        return self._call(word_of(task), head, [*settings_of(settings), *shown])

    def _end(self, step: Step, task: End, common: Values) -> list[str]:
        title, message = str(step.node.title), str(task.message)
        head = [literal(step.node.id), literal(task.result), *([literal(message)] if message else [])]
        titled = [f"title={literal(title)}"] if title else []
        more = common | self._common.settings(step, {"message": message})
        return self._call("end", head, [*titled, *settings_of(more), *self._transitions.settings(step, "", 0)])

    def _call(self, word: str, head: list[str], settings: list[str]) -> list[str]:
        self.used.add(word)
        return call_lines(word, head, settings)


def machine(rule: Rule, program: Program) -> Values:
    """Return a rule as settings: events are steps that start, or pairs of a step and its outcome."""
    inside = [
        node.id for node in program.nodes if type(node.task) not in IDLE and rule.scope in program.around(node.group)
    ]
    found = given(
        sentence=rule.sentence,
        needs=rule.needs,
        why=rule.why,
        guards=_events(rule.guards),
        opens=_events(rule.opens),
        closes=_events(rule.closes),
        is_open=bool(rule.initial),
        persons=list(rule.persons),
        scope=rule.scope,
        inside=inside if rule.scope else [],
    )
    limit = {} if rule.most is None else {"most": rule.most}
    return found | limit | ({} if rule.override else {"override": False})


def _events(events: Iterable[Event]) -> list[str | list[str]]:
    return [[event.step, event.word] if event.word else event.step for event in events]


def call_lines(word: str, head: list[str], settings: list[str]) -> list[str]:
    """Return a call on one line if it fits, or with one line for each setting."""
    whole = f"{INDENT}{word}({', '.join([*head, *settings])})"
    if len(whole) <= WIDEST and "\n" not in whole:
        return [whole]
    inner = [f"{INDENT}{INDENT}{setting}," for setting in settings]
    return [f"{INDENT}{word}({', '.join(head)},", *inner, f"{INDENT})"]


def settings_of(values: Values) -> list[str]:
    """Return the settings of a call as strings."""
    return [f"{key}={_setting(key, value)}" for key, value in values.items()]


def _setting(key: str, value: object) -> str:
    if isinstance(value, str):
        return prose(value)
    if key != "entries" or not isinstance(value, list):
        return literal(value, 8, len(key), widest=WIDEST)
    return broken("[", [_entry(entry) for entry in value], "]", 8)


def _entry(entry: Values) -> str:
    """Return an entry of a parallel step. Its prompt is as readable as that of a step."""
    values = {
        key: prose(item, 16, is_framed=False) if key == "prompt" else literal(item, 16) for key, item in entry.items()
    }
    return broken("{", [f"{literal(key)}: {value}" for key, value in values.items()], "}", 12)


def _headings(program: Program) -> dict[str, str]:
    first = {node.group: node.id for node in reversed(program.nodes)}
    return {first[group.id]: f"{group.id} {group.title}".strip() for group in program.groups if group.id in first}


def _artifact(program: Program, slots: frozenset[str]) -> Values:
    """Return the file that a run leaves (I28)."""
    if program.artifact is None:
        return {}
    marks = Marks((program.artifact.type,))
    return {"slot": program.artifact.slot, "type": marks.text(program.artifact.type)} | placeholders(marks, slots)


def _context(context: Context, slots: frozenset[str]) -> Values:
    """Return the text above prompts, with marks for its references (I31)."""
    found: Values = {"after": context.after} if context.after else {}
    return found | {"parts": [part if isinstance(part, str) else around(part, slots) for part in context.text.parts]}


def _input(declared: Input) -> Values:
    found: Values = {"name": declared.name, "type": declared.type, "required": declared.required}
    found |= given(description=declared.description, default=declared.default, pattern=declared.pattern)
    if declared.default is not None:
        found["default"] = declared.default
    return found | given(options=list(declared.options))


def stepspec_of(program: Program, slots: frozenset[str]) -> Values:
    """Return the workflow, the configuration, and each step's specification with marks for its references."""
    stepspec = program.stepspec
    if stepspec is None:
        return {}
    marks = Marks(step.spec for step in stepspec.steps)
    found: Values = {"workflow": json.loads(stepspec.workflow)} | given(config=json.loads(stepspec.config))
    found["steps"] = {step.id: json.loads(marks.text(step.spec)) for step in stepspec.steps}
    return found | placeholders(marks, slots)
