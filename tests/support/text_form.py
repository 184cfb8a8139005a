"""The stable text form of a program, for people and tests: one line per item, in document order."""

import json
from collections.abc import Iterator
from typing import assert_never

from msgspec import to_builtins
from msgspec.structs import fields

from compiler.ir.edges import (
    Add,
    AtLeast,
    Clear,
    CounterTest,
    Edge,
    Effect,
    Keep,
    OutcomeTest,
    Reset,
    Set,
    SlotTest,
    Test,
)
from compiler.ir.program import USUAL_KIND, Input, Jump, Node, Program, Settings
from compiler.ir.serialize import shown_json
from compiler.ir.tasks import Agent, Reading, Task, Value
from compiler.ir.texts import Reference, Text


def to_text_form(program: Program) -> str:
    """Return the text form of a program, with a final newline."""
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Program) -> Iterator[str]:
    yield from _about(program)
    for counter in program.counters:
        scope = f" in {counter.scope}" if counter.scope else ""
        yield f"register {_quoted(counter.name)} = {counter.initial}{scope}"
    for slot in program.slots:
        yield f"slot {_quoted(slot.name)}" + (f" = {_quoted(slot.initial)}" if slot.initial is not None else "")
    for context in program.contexts:
        after = f" after {_quoted(context.after)}" if context.after else ""
        yield f"context {_quoted(context.name)}{after} {_text(context.text)}"
    for group in program.groups:
        parent = f" in {group.parent}" if group.parent else ""
        yield f"group {group.id} {group.kind} {_text(group.title)}{parent}"
    yield from (_jump(jump) for jump in program.jumps)
    yield from (f"rule {_quoted(to_builtins(rule))}" for rule in program.rules)
    for node in program.nodes:
        yield ""
        yield from _node(node)


def _about(program: Program) -> Iterator[str]:
    yield f"program {program.name} {_quoted(program.title)}"
    if program.kind != USUAL_KIND:
        yield f"kind {program.kind}"
    for source in program.sources:
        yield f"source {source.path} sha256 {source.sha256}"
    yield from (_input(declared) for declared in program.inputs)
    yield f"entry {program.entry}"
    if program.limit is not None:
        yield f"limit {program.limit}"
    if program.secrets:
        yield f"secrets {', '.join(program.secrets)}"
    if program.artifact is not None:
        yield f"artifact {_quoted(program.artifact.slot)} type {_text(program.artifact.type)}"
    if program.stepspec is not None:
        yield f"contract {program.stepspec.workflow} config {program.stepspec.config}"
        yield from (f"step {step.id} {_text(step.spec)}" for step in program.stepspec.steps)
    if program.folder:
        yield f"folder {_quoted(program.folder)}"


def _input(declared: Input) -> str:
    default = f" = {_quoted(declared.default)}" if declared.default is not None else ""
    options = f" of {_quoted(declared.options)}" if declared.options else ""
    pattern = f" like {_quoted(declared.pattern)}" if declared.pattern is not None else ""
    optional = "" if declared.required else " optional"
    about = f"  # {_quoted(declared.description)}" if declared.description else ""
    return f"input {declared.name} {declared.type}{options}{pattern}{default}{optional}{about}"


def _jump(jump: Jump) -> str:
    transitions = [(f" into {item.group}", item.effects) for item in jump.entering] + [("", jump.effects)]
    changes = "".join(f"{into} do {', '.join(map(_effect, effects))}" for into, effects in transitions if effects)
    return f"jump {jump.id} -> {jump.target}{changes}"


def _node(node: Node) -> Iterator[str]:
    place = f"{node.origin.path}:{node.origin.span.line}"
    yield f"node {node.id} {node.task.kind} {_text(node.title)}  # {place}"
    yield from (f"  {line}" for line in _fields(node.task))
    for variable in node.variables:
        yield f"  variable {variable.name} = {_quoted(variable.register)}"
    for constant in node.constants:
        yield f"  constant {constant.name} = {_quoted(constant.value)}"
    if node.retries:
        yield f"  attempt {_quoted(node.retries)} + 1"
    for field in fields(Settings):
        value = getattr(node.settings, field.name)
        if value != field.default:
            yield f"  {field.name} {value}"
    for edge in node.edges:
        yield f"  {_edge(edge)}"


def _fields(part: Task | Reading) -> Iterator[str]:
    """Yield a line for each field with a value."""
    for name in (field.name for field in fields(part)):
        value = getattr(part, name)
        if isinstance(value, Text) and value:
            yield f"{name} {_text(value)}"
        elif isinstance(value, tuple):
            yield from _items(name, value)
        elif isinstance(value, Value):
            yield f"{name} {_quoted(to_builtins(value))}"
        elif isinstance(value, Reading):
            yield from _fields(value)
        elif name != "kind" and not isinstance(value, Text) and value not in ("", None, False):
            yield f"{name} {_quoted(value)}"


def _items(name: str, items: tuple[object, ...]) -> Iterator[str]:
    for item in items:
        if isinstance(item, Agent):
            yield f"entry {_quoted(item.agent)}"
            yield from (f"  {line}" for line in _fields(item) if not line.startswith("agent "))
    plain = [_text(item) if isinstance(item, Text) else _quoted(item) for item in items if not isinstance(item, Agent)]
    if plain:
        yield f"{name} {', '.join(plain)}"


def _edge(edge: Edge) -> str:
    guard = " and ".join(_test(test) for test in edge.guard) or "always"
    effects = f" do {', '.join(_effect(effect) for effect in edge.effects)}" if edge.effects else ""
    settles = f" settles {', '.join(f'{item.step} {item.word}' for item in edge.settles)}" if edge.settles else ""
    label = f"  # {edge.label}" if edge.label else ""
    return f"{guard} -> {edge.target}{effects}{settles}{label}"


def _test(test: Test) -> str:
    match test:
        case OutcomeTest(word):
            return word if word.isidentifier() else _quoted(word)
        case CounterTest(register, operator, value):
            return f"{_quoted(register)} {operator} {value}"
        case SlotTest(slot, operator, text):
            return f"{_quoted(slot)} {operator} {_quoted(text)}"
        case _:
            assert_never(test)


def _effect(effect: Effect) -> str:
    match effect:
        case Set(register, value):
            return f"{_quoted(register)} = {value}"
        case Add(register, amount):
            return f"{_quoted(register)} += {_quoted(amount) if isinstance(amount, str) else amount}"
        case AtLeast(register, value):
            return f"{_quoted(register)} at least {value}"
        case Reset(scope):
            return f"reset {scope}"
        case Keep(slot, of, name, extract, options):
            what = f"output {_quoted(name)}" if of == "output" else "answer"
            field = f" field {_quoted(extract)}" if extract is not None else ""
            expected = f" of {', '.join(map(_quoted, options))}" if options else ""
            return f"keep {what}{field}{expected} in {_quoted(slot)}"
        case Clear(slot):
            return f"clear {_quoted(slot)}"
        case _:
            assert_never(effect)


def _text(text: Text) -> str:
    """Return a text in quotes. References divide it into parts."""
    parts = [_reference(part) if isinstance(part, Reference) else _quoted(part) for part in text.parts]
    return " ".join(parts) or _quoted("")


def _reference(reference: Reference) -> str:
    fields = (("before", reference.before), ("after", reference.after), ("missing", reference.missing))
    settings = "".join(f" {name} {_quoted(value)}" for name, value in fields if value)
    return f"<{_quoted(reference.register)}{settings}>"


def _quoted(value: object) -> str:
    return shown_json(json.dumps(value, ensure_ascii=False))
