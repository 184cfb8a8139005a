"""An oracle: the program that the engine runs, node by node, from the graph, with all that calls leave out.

The product prints calls, and the runtime's builder executes them. Both together have to come to this.
"""

import json
from collections.abc import Container
from typing import Any, assert_never

from backends.common.marks import Marks, marked
from backends.python.transitions import jumps, told_steps
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
    output_names,
    words_of,
)
from compiler.ir.program import Context, Group, Input, Node, Program, scope_members
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
    alphabet,
)
from compiler.ir.texts import Reference

Table = dict[str, Any]

_CALLING = (Shell, Agent, Tool, Parallel)


def table(program: Program) -> Table:
    """Return the table of a program, with keys in reading order."""
    resets = {e.scope for node in program.nodes for edge in node.edges for e in edge.effects if e.kind == "reset"}
    members = scope_members(program.counters)
    entered = {node.group for node in program.nodes if type(node.task) not in IDLE}
    groups = {
        group.id: group for group in program.groups if group.id in entered and group.kind == "step" and group.prompt
    }
    slots = frozenset(slot.name for slot in program.slots)
    is_stepspec = program.stepspec is not None
    counters: Table = {counter.name: counter.initial for counter in program.counters}
    return {
        "name": program.name,
        "title": program.title,
        "source": program.sources[0].path,
        "entry": program.entry,
        **({"limit": program.limit} if program.limit is not None else {}),
        **({"inputs": [_input(declared) for declared in program.inputs]} if program.inputs else {}),
        "registers": counters | {slot.name: slot.initial for slot in program.slots},
        **given(
            secrets=list(program.secrets),
            artifact=_artifact(program, slots),
            contexts={context.name: _context(context, slots) for context in program.contexts},
            folder=program.folder,
            stepspec=stepspec_table(program, slots),
            steps={name: list(steps) for name, steps in told_steps(program).items()},
            jumps=jumps(program, resets),
            scopes={scope: [register.name for register in members.get(scope, ())] for scope in sorted(resets)},
            groups={name: _group(group, slots) for name, group in groups.items()},
        ),
        "nodes": {node.id: _node(node, groups, slots, is_stepspec=is_stepspec) for node in program.nodes},
    }


def _artifact(program: Program, slots: Container[str]) -> Table:
    """Return the file that a run leaves (I28)."""
    if program.artifact is None:
        return {}
    marks = Marks((program.artifact.type,))
    found = {"slot": program.artifact.slot, "type": marks.text(program.artifact.type)}
    return found | placeholders(marks, slots)


def _context(context: Context, slots: Container[str]) -> Table:
    """Return the text above prompts, with marks for its references (I31)."""
    parts = [part if isinstance(part, str) else around(part, slots) for part in context.text.parts]
    return given(after=context.after) | {"parts": parts}


def _input(declared: Input) -> Table:
    found: Table = {"name": declared.name, "type": declared.type, "required": declared.required}
    found |= given(description=declared.description, pattern=declared.pattern, options=list(declared.options))
    return found if declared.default is None else found | {"default": declared.default}


def _group(group: Group, slots: Container[str]) -> Table:
    marks = Marks((group.title, group.prompt))
    return {"title": marks.text(group.title), "prompt": marks.text(group.prompt)} | placeholders(marks, slots)


def _node(node: Node, groups: Container[str], slots: frozenset[str], *, is_stepspec: bool) -> Table:
    """Return a step. `groups` are those that show something when a run enters them. I7: what has which variables."""
    original = node.task
    node, marks = marked(node)
    task, settings = node.task, node.settings
    acts, calls = type(task) not in IDLE, isinstance(task, _CALLING)
    pairs = {variable.name: variable.register for variable in node.variables}
    step = {"title": str(node.title)} | task_table(task, original) | placeholders(marks, slots)
    step |= given(
        at=f"{node.origin.path}:{node.origin.span.line}" if acts else "",
        group=node.group if acts and node.group in groups else "",
        timeout=settings.timeout,
        expire=settings.expire,
        delay=settings.delay,
        backoff=settings.backoff if settings.delay else 0,
        step=node.group if is_stepspec and isinstance(task, Gate) else "",
        attempt=node.retries,
        env={constant.name: constant.value for constant in node.constants} if calls else {},
        variables={name: register for name, register in pairs.items() if acts and register not in slots},
        texts={name: register for name, register in pairs.items() if calls and register in slots},
        outputs=sorted(output_names(node.edges)) if slots and isinstance(task, Shell) else [],
    )
    # An edge that needs two outcomes is never taken.
    step["edges"] = [_edge(edge) for edge in node.edges if len(edge.guard) < 2 or len(words_of([edge])) < 2]
    return step


def _edge(edge: Edge) -> Table:
    found: Table = {"go": edge.target, "says": edge.label}
    tests: list[list[Any]] = []
    for test in edge.guard:
        match test:
            case OutcomeTest(word):
                found["on"] = word
            case CounterTest(register, operator, value):
                tests.append([register, operator, value])
            case SlotTest(slot, operator, text):
                tests.append([slot, operator, text])
            case _:
                assert_never(test)
    return found | given(**{"if": tests, "do": [effect_table(effect) for effect in edge.effects]})


def stepspec_table(program: Program, slots: Container[str]) -> dict[str, Any]:
    """Return the workflow, the configuration, and each step's specification with marks for its references."""
    stepspec = program.stepspec
    if stepspec is None:
        return {}
    marks = Marks(step.spec for step in stepspec.steps)
    found: dict[str, Any] = {"workflow": json.loads(stepspec.workflow)}
    if config := json.loads(stepspec.config):
        found["config"] = config
    found["steps"] = {step.id: json.loads(marks.text(step.spec)) for step in stepspec.steps}
    return found | placeholders(marks, slots)


def task_table(task: Task, original: Task) -> dict[str, Any]:
    """Return the keys of a task whose strings have marks; `words` only if they are not pass and fail.

    Args:
        task: The task with marks for its references.
        original: The task before that. The words of a select are its options as written.
    """
    words = alphabet(original)
    own_words = list(words) if words and words != PASS_OR_FAIL else []
    found: Table = {"task": task.kind}
    match task:
        case Shell(shell, command, prompt):
            return found | {"shell": shell, "command": str(command)} | given(prompt=str(prompt))
        case End(result, message):
            return found | {"result": result, "message": str(message)}
        case Ask():
            return _ask(task, list(words))
        case Agent():
            return found | _agent(task) | given(words=own_words, report=task.report)
        case Tool(connection, tool, arguments, optional=is_optional):
            called = {"connection": connection, "tool": tool, "arguments": str(arguments)}
            return found | called | given(optional=is_optional)
        case Parallel(entries, check, unanimous=unanimous):
            found |= {"entries": [_agent(entry) for entry in entries], "check": check}
            found |= {"failing": list(task.failing_words), "unanimous": list(unanimous)}
            return found | given(words=own_words, report=task.report)
        case Gate(gate, reason):
            return found | {"gate": gate} | given(reason=str(reason), words=own_words)
        case Stage(stage, step, subject, place):
            found |= {"stage": stage, "step": step} | ({"place": place} if stage == "tool" else {})
            return found | given(subject=subject, paths=list(map(str, task.paths)), checks=list(task.checks))
        case Branch():
            return found
        case _:
            assert_never(task)


def _ask(task: Ask, words: list[str]) -> dict[str, Any]:
    shown = given(prompt=str(task.prompt), language=task.language, block=str(task.block or ""))
    match task.question:
        case "pass_fail" | "yes_no":
            items = given(items=[str(item) for item in task.items])
            return {"task": "ask", "question": task.question.replace("_", "/")} | shown | items
        case "input":
            return {"task": "input"} | shown | {"words": ["pass"]}
        case "confirm":
            return {"task": "confirm"} | shown | {"words": words}
        case "select":
            options = [str(option) for option in task.options]
            return {"task": "select"} | shown | {"words": words} | given(options=options if options != words else None)
        case "value":
            assert task.value
            checks = given(options=list(task.value.options), pattern=task.value.pattern)
            return {"task": "value"} | shown | {"asks": {"name": task.value.name, "type": task.value.type, **checks}}
        case _:
            assert_never(task.question)


def _agent(task: Agent) -> dict[str, Any]:
    """Return an agent, or an entry of a parallel task."""
    reading = task.reading
    return {"agent": task.agent, "prompt": str(task.prompt)} | given(
        context=task.context,
        keywords=list(reading.keywords),
        validation=reading.validation,
        excused=list(reading.excused),
        failing=list(reading.failing),
    )


def given(**fields: object) -> dict[str, Any]:
    """Return the fields with a value."""
    return {name: value for name, value in fields.items() if value}


def effect_table(effect: Effect) -> list[Any]:
    """Return an effect as a list: its target, its kind, and its value."""
    match effect:
        case Set(register, value):
            return [register, "=", value]
        case Reset(scope):
            return ["reset", scope]
        case Add(register, amount):
            return [register, "+", amount]
        case AtLeast(register, value):
            return [register, "at least", value]
        case Keep(slot, "output", name):
            return [slot, "keep", ["output", name]]
        case Keep(slot, extract=field, options=options):
            words = [field, *options] if field is not None or options else []
            return [slot, "keep", ["answer" if field is None else "field", *words]]
        case Clear(slot):
            return [slot, "clear", []]
        case _:
            assert_never(effect)


def placeholders(marks: Marks, slots: Container[str]) -> Table:
    """Return the value of each mark in a step, group or contract."""
    found = {mark: _place(reference, slots) for mark, reference in marks.references.items()}
    return {"placeholders": found} if found else {}


def _place(reference: Reference, slots: Container[str]) -> str | list[str]:
    """Return a reference's counter, or a list that also has the strings around its value and its missing value."""
    found = around(reference, slots)
    return found if reference.register in slots or any(found[1:]) else reference.register


def around(reference: Reference, slots: Container[str]) -> list[str]:
    """Return a reference as a list: its register, the strings around its value, and the string if it has none."""
    missing = reference.missing if reference.register in slots else ""
    return [reference.register, reference.before, reference.after, missing]
