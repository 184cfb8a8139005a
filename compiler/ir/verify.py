"""The verifier: the rules of programs, checked after each pass (docs/reference/program-rules.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import assert_never

from compiler.ir.contracts import contract_problems
from compiler.ir.edges import (
    Add,
    AtLeast,
    Clear,
    CounterTest,
    Effect,
    Following,
    Keep,
    OutcomeTest,
    Reset,
    Set,
    SlotTest,
    Test,
    is_plain_for,
    words_of,
)
from compiler.ir.graph import loop_regions, to_graph
from compiler.ir.program import Node, Program, scope_members, texts_of
from compiler.ir.reports import report_problems
from compiler.ir.tasks import Agent, Branch, End, Parallel, Shell, Stage, Tool, agents_of, alphabet
from compiler.ir.texts import Text, joined
from compiler.ir.variables import is_identifier, is_reserved, is_unsettable
from compiler.ir.wellformed import input_problems, task_problems


class InvalidProgramError(Exception):
    """A program that breaks a rule. It is a bug in rdc, or in another tool that wrote the program."""


def verify(program: Program) -> None:
    """Check a program.

    Raises:
        InvalidProgramError: The program breaks rules; the message lists them all.
    """
    found = problems(program)
    if found:
        raise InvalidProgramError("\n".join(f"{node}: {text}" if node else text for node, text in found))


def problems(program: Program) -> list[tuple[str, str]]:
    """Return every rule that a program breaks, with the id of the node, or "" for the program."""
    rules = (
        *(_names, _variables, _groups, _references, _texts, _registers, _jumps, _inputs, _artifact, _contexts),
        *(report_problems, contract_problems, _tasks, _commands, _words, _totality, _idle_cycles),
    )
    return [problem for rule in rules for problem in rule(program)]


Problems = Iterator[tuple[str, str]]


def _names(program: Program) -> Problems:
    for kind, names in (
        ("node", [node.id for node in program.nodes]),
        ("group", [group.id for group in program.groups]),
        ("register", [*(register.name for register in program.registers), *(slot.name for slot in program.slots)]),
        ("input", [declared.name for declared in program.inputs]),
        ("secret", [*program.secrets]),
        ("jump", [jump.id for jump in program.jumps]),
        ("context", [context.name for context in program.contexts]),
    ):
        if len(names) != len(set(names)):
            yield "", f"two {kind}s have the same name"
        if not all(names):
            yield "", f"a {kind} has an empty name"


def _variables(program: Program) -> Problems:
    """Check that names are valid in shells, and that variables, outputs and secrets aren't reserved (I7 to I9, I26)."""
    for declared in program.inputs:
        if not is_identifier(declared.name):
            yield "", f"the input {declared.name} is not a valid variable name"
    for secret in program.secrets:
        if not is_identifier(secret) or is_reserved(secret):
            yield "", f"the secret {secret} is not a valid variable name"
    for node in program.nodes:
        constants = [item.name for item in node.constants]
        variables = [*(item.name for item in node.variables), *constants]
        for name in dict.fromkeys((*variables, *_output_names(node))):
            is_taken = is_unsettable(name) if name in constants else is_reserved(name)
            if problem := _name_problem(name, program.secrets, is_taken):
                yield node.id, problem
        if len(variables) != len(set(variables)):
            yield node.id, "two variables have the same name"


def _name_problem(name: str, secrets: Collection[str], is_taken: bool) -> str:
    """Return why a variable or output can't have a name, or ""."""
    if not is_identifier(name):
        return f"{name} is not a valid name for a variable or output"
    if is_taken:
        return f"the name {name} is reserved by the shell, another tool or rdc"
    return f"{name} is a secret, so a variable or output cannot have this name" if name in secrets else ""


def _output_names(node: Node) -> Iterator[str]:
    effects = (effect for edge in node.edges for effect in edge.effects)
    return (effect.name for effect in effects if isinstance(effect, Keep) and effect.of == "output" and effect.name)


def _texts(program: Program) -> Problems:
    """Check that texts have no empty strings, adjacent strings or NUL, so that equal texts compare equal (I6)."""
    for node in program.nodes:
        if any(map(_is_divided, texts_of(node))):
            yield node.id, "a text has an empty string, or two adjacent strings"
        if any("\0" in part for text in texts_of(node) for part in text.parts if isinstance(part, str)):
            yield node.id, "a text contains a NUL character, which no target supports"
    for group in program.groups:
        if _is_divided(group.title) or _is_divided(group.prompt):
            yield "", f"the group {group.id}: a text has an empty string, or two adjacent strings"


def _is_divided(text: Text) -> bool:
    return text != joined(text.parts)


def _groups(program: Program) -> Problems:
    """Check that every group is inside an earlier one, so that frames nest."""
    declared = {""}
    for group in program.groups:
        if group.parent not in declared:
            yield "", f"the group {group.id} is in {group.parent}, which is not declared before it"
        declared.add(group.id)
    for node in program.nodes:
        if node.group not in declared:
            yield node.id, f"the group {node.group} is not declared"


def _references(program: Program) -> Problems:
    nodes = {node.id for node in program.nodes}
    if not program.sources:
        yield "", "the program has no source"
    if program.entry not in nodes:
        yield "", f"the entry {program.entry} is not a node"
    for node in program.nodes:
        for edge in node.edges:
            if edge.target not in nodes:
                yield node.id, f"an edge leads to the unknown node {edge.target}"


# --- Registers -------------------------------------------------------------------------------------------------------


def _registers(program: Program) -> Problems:
    """Check that registers are declared with the kind that nodes use: counter, scope or slot (I4, I5)."""
    declared = _declared(program)
    for node in program.nodes:
        for kind, name in sorted(set(_used(node))):
            if name not in declared[kind]:
                yield node.id, f"the {kind} {name} is not declared"
    for group in program.groups:
        for reference in (*group.title.references, *group.prompt.references):
            if reference.register not in declared["register"]:
                yield "", f"the group {group.id}: the register {reference.register} is not declared"


def _declared(program: Program) -> dict[str, set[str]]:
    """Return the declared names of each kind of register."""
    counters = {register.name for register in program.registers}
    slots = {slot.name for slot in program.slots}
    scopes = set(scope_members(program.registers))
    return {"counter": counters, "scope": scopes, "slot": slots, "register": counters | slots}


def _jumps(program: Program) -> Problems:
    """Check that the names in operator's jumps are declared, and that jumps store no text (I27)."""
    nodes, groups = {node.id for node in program.nodes}, {group.id for group in program.groups}
    declared = _declared(program)
    for jump in program.jumps:
        places = {jump.id, *(item.group for item in jump.entering)}
        if jump.target not in nodes or not places <= nodes | groups:
            yield "", f"the jump to {jump.id} names an unknown node or group"
        for effect in jump.all_effects:
            if isinstance(effect, Keep):
                yield "", f"the jump to {jump.id} stores a text, but a jump has none"
            for kind, name in _touched(effect):
                if name not in declared[kind]:
                    yield "", f"the jump to {jump.id}: the {kind} {name} is not declared"


def _used(node: Node) -> Iterator[tuple[str, str]]:
    """Yield the registers that a node uses, each with its kind."""
    yield from (("register", reference.register) for text in texts_of(node) for reference in text.references)
    yield from (("register", variable.register) for variable in node.variables)
    if isinstance(node.task, Shell):
        yield from (("counter", reference.register) for reference in node.task.command.references)
    if node.retries:
        yield "counter", node.retries
    for edge in node.edges:
        for test in edge.guard:
            yield from _read(test)
        for effect in edge.effects:
            yield from _touched(effect)


def _read(test: Test) -> Iterator[tuple[str, str]]:
    match test:
        case CounterTest(register):
            yield "counter", register
        case SlotTest(slot):
            yield "slot", slot
        case OutcomeTest():
            return
        case _:
            assert_never(test)


def _touched(effect: Effect) -> Iterator[tuple[str, str]]:
    match effect:
        case Add(register, amount):
            yield "counter", register
            if isinstance(amount, str):
                yield "counter", amount
        case Set(register) | AtLeast(register):
            yield "counter", register
        case Reset(scope):
            yield "scope", scope
        case Keep(slot) | Clear(slot):
            yield "slot", slot
        case _:
            assert_never(effect)


def _inputs(program: Program) -> Problems:
    """Check that each input has a slot with its name, and a valid default (I8)."""
    slots = {slot.name for slot in program.slots}
    for declared in program.inputs:
        if declared.name not in slots:
            yield "", f"the input {declared.name} has no slot with the same name"
        yield from (("", f"the input {declared.name}: {problem}") for _, problem in input_problems(declared))
    if program.limit is not None and program.limit < 1:
        yield "", "the limit is below 1"


def _artifact(program: Program) -> Problems:
    """Check the artifact: its slot and its type (I28)."""
    if program.artifact is None:
        return
    declared, kind = _declared(program), program.artifact.type
    if program.artifact.slot not in declared["slot"]:
        yield "", f"the artifact: the slot {program.artifact.slot} is not declared"
    for reference in kind.references:
        if reference.register not in declared["register"]:
            yield "", f"the artifact: the register {reference.register} is not declared"
    if _is_divided(kind) or any("\0" in part for part in kind.parts if isinstance(part, str)):
        yield "", "the artifact: its type has an empty string, two adjacent strings, or a NUL character"


def _contexts(program: Program) -> Problems:
    """Check that contexts come after the context above them, and that prompts name declared contexts (I31)."""
    registers, declared = _declared(program)["register"], {""}
    for context in program.contexts:
        about = f"the context {context.name}"
        if context.after not in declared:
            yield "", f"{about} comes after {context.after}, which is not declared before it"
        declared.add(context.name)
        if _is_divided(context.text) or any("\0" in part for part in context.text.parts if isinstance(part, str)):
            yield "", f"{about} has an empty string, two adjacent strings, or a NUL character"
        for reference in context.text.references:
            if reference.register not in registers:
                yield "", f"{about}: the register {reference.register} is not declared"
    for node in program.nodes:
        for agent in agents_of(node.task):
            if agent.context not in declared:
                yield node.id, f"the context {agent.context} is not declared"


# --- Tasks and outcomes ----------------------------------------------------------------------------------------------


def _tasks(program: Program) -> Problems:
    for node in program.nodes:
        yield from ((node.id, problem) for problem in task_problems(node.task))
        settings = node.settings
        if settings.delay < 0 or settings.backoff < 1 or (settings.timeout is not None and settings.timeout < 1):
            yield node.id, "a timeout or backoff is below 1, or a delay is below 0"
        if settings.timeout is not None and not isinstance(node.task, Shell | Agent | Tool | Parallel | Stage):
            yield node.id, f"a node of the kind {node.task.kind} cannot have a timeout, because it runs no process"


def _commands(program: Program) -> Problems:
    """Check that commands refer only to counters (I7), and that only commands have outputs (I19)."""
    for node in program.nodes:
        command = node.task.command if isinstance(node.task, Shell) else Text()
        if any(item.before or item.after for item in command.references):
            yield node.id, "a reference in a command has `before` or `after`"
        for effect in (effect for edge in node.edges for effect in edge.effects if isinstance(effect, Keep)):
            yield from ((node.id, problem) for problem in _keep_problems(node, effect))


def _keep_problems(node: Node, effect: Keep) -> Iterator[str]:
    if isinstance(node.task, Branch | End):
        yield "a node without a task cannot store anything"
    if (effect.of == "output") != bool(effect.name):
        yield "`keep` needs a `name` for an output, and none for an answer"
    if effect.of == "output" and not isinstance(node.task, Shell):
        yield "only commands have outputs"
    if effect.of == "output" and (effect.extract is not None or effect.options):
        yield "an output cannot have `extract` or `options`"


def _words(program: Program) -> Problems:
    """Check that guards test only outcomes that the task can have (I17)."""
    for node in program.nodes:
        known = alphabet(node.task)
        for word in words_of(node.edges):
            if word not in known:
                yield node.id, f"the task has no outcome {word}" if known else "a node without a task has no outcome"


def _totality(program: Program) -> Problems:
    """Check that for every outcome some edge has no other condition than this outcome (I2)."""
    for node in program.nodes:
        if isinstance(node.task, End):
            if len(node.edges) > 1 or any(edge.guard for edge in node.edges):
                yield node.id, "an end can have only one edge, without a guard"
            continue
        following = Following(node.edges)
        for word in alphabet(node.task) or (None,):
            if not any(is_plain_for(edge, word) for _, edge in following.after(word)):
                yield node.id, "there may be no edge to take" + (f" for the outcome {word}" if word else "")


def _idle_cycles(program: Program) -> Problems:
    """Check that nodes without a task don't form a cycle, so that passing through them ends (I2)."""
    idle = {node.id for node in program.nodes if isinstance(node.task, Branch | End)}
    leading = {name: targets for name, targets in to_graph(program).items() if name in idle}
    if loop_regions({name: dict.fromkeys(idle & targets.keys()) for name, targets in leading.items()}):
        yield "", "some nodes without a task form a cycle"
