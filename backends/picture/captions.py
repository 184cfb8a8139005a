"""The captions of a picture: what each box shows, in short lines."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from textwrap import wrap
from typing import assert_never

from backends.common.specification import Specification, Table, shortened, shown
from backends.picture.conditions import past_of_marks, retry_limit
from backends.picture.naming import LONGEST_SHOWN, Naming, is_named, one_line, printable
from compiler.ir.edges import Clear, Keep
from compiler.ir.program import Input, Node, Program, Settings
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Stage, Tool
from compiler.ir.texts import Text
from compiler.text.durations import spoken
from runtime_shim.targets.naming import split_name

WIDTH = 24  # in characters: the width of a box's text

WIDEST = 34  # the width for stages, which show paths

LINES = LONGEST_SHOWN // (2 * WIDTH)
"""The most lines of a caption. `…` replaces the rest."""

MOST_INPUTS = 12  # the most inputs in a picture's notes

Lines = tuple[str, ...]


def caption(node: Node, names: Naming) -> Lines:
    """Return the text in a node's box."""
    if node.group in names.stepspec.steps and isinstance(node.task, Stage | Gate):
        lines_of = step_lines if names.is_folded and isinstance(node.task, Stage) else stage_lines
        return tuple(line for text in lines_of(node, names.stepspec) for line in wrapped(text, WIDEST))
    return _heading(node, names) + tuple(_settings(node.settings)) + tuple(kept_texts(node, names))


def _heading(node: Node, names: Naming) -> Lines:
    name = names.short(node.id, node.group)
    match node.task:  # in order of frequency, because each test takes time
        case Shell():
            return _titled(node, name)
        case End(result, message):
            return (result.upper(), *wrapped(shown(message)))
        case Ask(prompt=prompt):
            heading = _titled(node, name) if node.title else wrapped(name) + wrapped(shown(prompt).split("\n\n", 1)[0])
            return heading + _checklist(node.task)
        case Branch():
            return wrapped(_question(node, names))
        case Gate(gate):
            return (_titled(node, name) if node.title else ()) + wrapped(f"a person approves {gate}")
        case Agent() | Tool() | Parallel() | Stage():
            return _titled(node, name) + wrapped(_who(node.task))
        case _:
            assert_never(node.task)


def _checklist(task: Ask) -> Lines:
    number = len(task.items)
    return (f"☐ {number} item{'s' * (number > 1)}",) if number else ()


def _titled(node: Node, name: str) -> Lines:
    title = shown(node.title)
    return wrapped(" ".join(split_name(name, title)) if "/" in name else f"{name} {title}")


def _question(node: Node, names: Naming) -> str:
    """Return a branch's question. A branch that decides a step is drawn in the step's frame, which has the title."""
    step = names.short(node.group or node.id, node.group)
    past = {word for edge in node.edges for word in past_of_marks(edge, names)}
    if past:
        return f"{step}: any {past.pop()}?"
    if any(retry_limit(edge, names) for edge in node.edges):
        return f"{step}: again?"
    tests = (test for edge in node.edges for test in edge.guard if test.kind == "counter")
    if limit := next((test for test in tests if names.counter(test.register).role == "visits"), None):
        limited = names.short(names.counter(limit.register).of, node.group)
        return f"{limited}: at most {limit.value} visit{'s' * (limit.value > 1)}"
    return f"{names.short(node.id, node.group)} {shown(node.title)}"


def _who(task: Agent | Parallel | Tool | Stage) -> str:
    match task:
        case Agent(agent):
            return f"agent {agent}"
        case Parallel(entries, check):
            together = "all must agree" if check == "all" else "one is enough"
            return f"agents {', '.join(entry.agent or 'agent' for entry in entries)}: {together}"
        case Tool(connection, tool):
            return f"tool {connection}.{tool}"
        case Stage(stage, subject=subject):
            return f"{stage} {subject}".rstrip()
        case _:
            assert_never(task)


def _settings(settings: Settings) -> Iterator[str]:
    if settings.timeout is not None:
        yield from wrapped(f"at most {spoken(settings.timeout)}")
    if settings.delay:
        again = f", ×{settings.backoff} each time" if settings.backoff > 1 else ""
        yield from wrapped(f"waits {spoken(settings.delay)} before it tries again{again}")
    if settings.expire:
        yield from wrapped(f"expires after {spoken(settings.expire)}")


def kept_texts(node: Node, names: Naming) -> Iterator[str]:
    """Yield the slots that a node reads, writes and clears. Conditions on slots are on the arrows."""
    if not names.slots:
        return
    effects = [effect for edge in node.edges for effect in edge.effects if is_named(getattr(effect, "slot", ""))]
    written = names.flow.writes[node.id]
    yield from _slots("reads", filter(is_named, names.flow.reads[node.id]))
    yield from _slots("writes", (_kept(item) for item in effects if isinstance(item, Keep) and item.slot in written))
    yield from _slots("clears", (effect.slot for effect in effects if isinstance(effect, Clear)))


def _kept(keep: Keep) -> str:
    if keep.extract is not None:
        return f"{keep.slot} (field {keep.extract})"
    return keep.slot if keep.name in ("", keep.slot) else f"{keep.slot} (value {keep.name})"


def _slots(verb: str, slots: Iterable[str]) -> Lines:
    names = ", ".join(map(one_line, islice(dict.fromkeys(slots), LONGEST_SHOWN)))
    return wrapped(f"{verb} {names}") if names else ()


def notes(program: Program) -> Lines:
    """Return the notes below a picture's title: inputs, secrets, limit and artifact."""
    found = [_input(declared) for declared in program.inputs[:MOST_INPUTS]]
    if len(program.inputs) > MOST_INPUTS:
        found.append(f"and {len(program.inputs) - MOST_INPUTS} more inputs")
    if program.secrets:
        found.append(one_line(f"needs the secrets {', '.join(program.secrets)}"))
    if program.limit is not None:
        found.append(f"runs at most {program.limit} steps")
    if program.artifact is not None:
        found.append(one_line(f"result: {program.artifact.slot}, as {program.artifact.type}"))
    return tuple(found)


def _input(declared: Input) -> str:
    """Return a line such as `input env: choice of dev, prod, default dev`."""
    options = f" of {', '.join(declared.options)}" if declared.options else ""
    if declared.default is not None:
        return one_line(f"input {declared.name}: {declared.type}{options}, default {declared.default or '(empty)'}")
    return one_line(f"input {declared.name}: {declared.type}{options}{'' if declared.required else ', optional'}")


def wrapped(text: str, width: int = WIDTH) -> Lines:
    """Return a string in lines, without invisible characters. A long one is truncated."""
    if not text:
        return ()
    shown = printable(text)
    if len(shown) <= width:  # true for most strings
        return (shown,) if shown else ()
    return tuple(wrap(shown, width, max_lines=LINES, placeholder="…"))


LONGEST_COMMAND = 40  # in characters

MOST_PATHS = 4  # the most paths in a box; the tooltip has all of them


def stage_lines(node: Node, stepspec: Specification) -> Iterator[str]:
    """Yield the lines in the box of a stage, or of a contract's gate."""
    step, task = stepspec.steps[node.group], node.task
    if isinstance(task, Gate):
        yield f"a person approves {step.title}"
        yield shown(task.reason).removeprefix("human_gate: ")
    if not isinstance(task, Stage):
        return
    match task.stage:
        case "execute":
            yield step.title
            yield stepspec.executor(LONGEST_COMMAND)
        case "tool":
            yield f"tool {task.subject}"
            yield stepspec.matters(step, task)
        case "validation":
            yield f"check: {', '.join(task.checks)}"
            yield from _paths(task.paths)
        case "outputs":
            yield "check the outputs"
            yield from _paths(task.paths)
            yield from (f"evidence {level}" for level in (task.subject,) if level)
        case "inputs":
            yield "check the inputs"
            yield from _paths(task.paths)
            yield from _rules("input", stepspec.config)
        case "guardrails":
            yield "check the result"
            yield from _rules("output", stepspec.config)
        case "context":
            yield "get the context"
            yield f"from {shortened(stepspec.config.get('context', 'a command'), LONGEST_COMMAND)}"


def step_lines(node: Node, stepspec: Specification) -> Iterator[str]:
    """Return the lines in the box of a whole step: who works, the tools, and the files."""
    step = stepspec.steps[node.group]
    yield step.title
    yield stepspec.executor(LONGEST_COMMAND)
    tasks = list(step.tasks)
    yield from (f"tool {task.subject}, {stepspec.matters(step, task)}" for task in tasks if task.stage == "tool")
    for stage, verb in (("inputs", "reads"), ("outputs", "writes")):
        paths = [shown(path) for task in tasks if task.stage == stage for path in task.paths]
        if paths:
            yield f"{verb} {', '.join(paths[:MOST_PATHS])}{'' if len(paths) <= MOST_PATHS else ', …'}"


def stage_tooltip(node: Node, stepspec: Specification) -> Iterator[str]:
    """Yield the lines of a stage's tooltip: everything that the stage is given."""
    step, task = stepspec.steps.get(node.group), node.task
    if step is not None and isinstance(task, Gate):
        yield f"gate {task.gate}: {shown(task.reason)}"
    if step is None or not isinstance(task, Stage):
        return
    guardrails = stepspec.config.get("guardrails", {})
    match task.stage:
        case "execute":
            yield shown(step.group.prompt)
            yield from (f"{name}: {step.spec[name]}" for name in ("phase", "human_gate") if step.spec.get(name))
            yield from (f"executor: {command}" for command in [stepspec.config.get("executor")] if command)
            yield f"an attempt takes at most {spoken(step.limit)}"
        case "tool":
            yield from _indented(step.tool(task).get("args", {}))
        case "guardrails":
            yield from _indented(guardrails.get("output", {}))
        case "inputs":
            yield from map(shown, task.paths)
            yield from _indented(guardrails.get("input", {}))
        case "validation":
            yield from (f"validation: {policy}" for policy in [step.spec.get("validation")] if policy)
            yield from map(shown, task.paths)
        case "outputs":
            yield from map(shown, task.paths)
        case "context":
            yield from (f"context: {command}" for command in [stepspec.config.get("context")] if command)


def _paths(paths: tuple[Text, ...]) -> Iterator[str]:
    yield from (shown(path) for path in paths[:MOST_PATHS])
    if len(paths) > MOST_PATHS:
        yield f"and {len(paths) - MOST_PATHS} more"


def _rules(stage: str, config: Table) -> Iterator[str]:
    rules = config.get("guardrails", {}).get(stage, {})
    numbers = ((len(rules.get(key, ())), noun) for key, noun in (("blocklist", "word"), ("patterns", "pattern")))
    counts = [f"{number} {noun}{'s' if number > 1 else ''}" for number, noun in numbers if number]
    if counts:
        yield f"forbidden: {', '.join(counts)}"


def _indented(value: object) -> Iterator[str]:
    if value:
        yield from json.dumps(value, indent=2, ensure_ascii=False).split("\n")
