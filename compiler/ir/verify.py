"""The verifier: what must hold for every program, after lowering and after each pass (docs/program.md, "checked")."""

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
from compiler.ir.variables import is_identifier, is_reserved
from compiler.ir.wellformed import input_problems, task_problems


class InvalidProgramError(Exception):
    """A program that breaks an invariant: an error in rdc itself, or in a program that another tool has written."""


def verify(program: Program) -> None:
    """Checks a program; raises `InvalidProgramError` with every invariant that it breaks."""
    found = problems(program)
    if found:
        raise InvalidProgramError("\n".join(f"{node}: {text}" if node else text for node, text in found))


def problems(program: Program) -> list[tuple[str, str]]:
    """Every invariant that a program breaks, with the id of the node that breaks it, "" for the whole program."""
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
            yield "", f"two {kind}s share a name"
        if not all(names):
            yield "", f"a {kind} has an empty name"


def _variables(program: Program) -> Problems:
    """Names are such as shells know; those of variables, outputs and secrets have no other meaning (I7 to I9, I26)."""
    for declared in program.inputs:
        if not is_identifier(declared.name):
            yield "", f"the input {declared.name} has a name that no variable can have"
    for secret in program.secrets:
        if not is_identifier(secret) or is_reserved(secret):
            yield "", f"the secret {secret} has a name that no variable can have"
    for node in program.nodes:
        variables = [*(item.name for item in node.variables), *(item.name for item in node.constants)]
        for name in dict.fromkeys((*variables, *_output_names(node))):
            if problem := _name_problem(name, program.secrets):
                yield node.id, problem
        if len(variables) != len(set(variables)):
            yield node.id, "two variables share a name"


def _name_problem(name: str, secrets: Collection[str]) -> str:
    """Why a variable or output cannot have a name; "" if it can."""
    if not is_identifier(name):
        return f"{name} cannot be the name of a variable or output"
    if is_reserved(name):
        return f"a shell, the loader or rdc gives the name {name} a meaning"
    return f"{name} is a secret, and cannot be the name of a variable or output too" if name in secrets else ""


def _output_names(node: Node) -> Iterator[str]:
    effects = (effect for edge in node.edges for effect in edge.effects)
    return (effect.name for effect in effects if isinstance(effect, Keep) and effect.of == "output" and effect.name)


def _texts(program: Program) -> Problems:
    """No string of a text is empty or holds NUL, none stands beside another: equal texts look the same (I6)."""
    for node in program.nodes:
        if any(map(_is_divided, texts_of(node))):
            yield node.id, "a text has an empty string, or two beside each other"
        if any("\0" in part for text in texts_of(node) for part in text.parts if isinstance(part, str)):
            yield node.id, "a text holds a NUL character, which no target can carry"
    for group in program.groups:
        if _is_divided(group.title) or _is_divided(group.prompt):
            yield "", f"the group {group.id}: a text has an empty string, or two beside each other"


def _is_divided(text: Text) -> bool:
    return text != joined(text.parts)


def _groups(program: Program) -> Problems:
    """Every group stands in one that is declared before it, so that frames nest."""
    declared = {""}
    for group in program.groups:
        if group.parent not in declared:
            yield "", f"the group {group.id} stands in {group.parent}, which is not declared before it"
        declared.add(group.id)
    for node in program.nodes:
        if node.group not in declared:
            yield node.id, f"the group {node.group} is not declared"


def _references(program: Program) -> Problems:
    nodes = {node.id for node in program.nodes}
    if not program.sources:
        yield "", "the program has no source"
    if program.entry not in nodes:
        yield "", f"the entry {program.entry} is no node"
    for node in program.nodes:
        for edge in node.edges:
            if edge.target not in nodes:
                yield node.id, f"an edge leads to {edge.target}, which is no node"


# --- Registers -------------------------------------------------------------------------------------------------------


def _registers(program: Program) -> Problems:
    """Each register is declared, and used as what it is: a counter, a scope of counters, or a slot (I4, I5)."""
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
    """The names of each kind of register."""
    counters = {register.name for register in program.registers}
    slots = {slot.name for slot in program.slots}
    scopes = set(scope_members(program.registers))
    return {"counter": counters, "scope": scopes, "slot": slots, "register": counters | slots}


def _jumps(program: Program) -> Problems:
    """What an operator's jumps name is declared, and they keep no text (I27)."""
    nodes, groups = {node.id for node in program.nodes}, {group.id for group in program.groups}
    declared = _declared(program)
    for jump in program.jumps:
        places = {jump.id, *(item.group for item in jump.entering)}
        if jump.target not in nodes or not places <= nodes | groups:
            yield "", f"the jump to {jump.id} names a node or a group that is not declared"
        for effect in jump.all_effects:
            if isinstance(effect, Keep):
                yield "", f"the jump to {jump.id} keeps a text, and has none"
            for kind, name in _touched(effect):
                if name not in declared[kind]:
                    yield "", f"the jump to {jump.id}: the {kind} {name} is not declared"


def _used(node: Node) -> Iterator[tuple[str, str]]:
    """What a node uses, each as the kind of register and its name."""
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
    """Each input has a slot of its name, and a default that fits (I8)."""
    slots = {slot.name for slot in program.slots}
    for declared in program.inputs:
        if declared.name not in slots:
            yield "", f"the input {declared.name} has no slot of its name"
        yield from (("", f"the input {declared.name}: {problem}") for _, problem in input_problems(declared))
    if program.limit is not None and program.limit < 1:
        yield "", "the limit is below 1"


def _artifact(program: Program) -> Problems:
    """What a run leaves as a file is a slot, and its type a text as others are (I28)."""
    if program.artifact is None:
        return
    declared, kind = _declared(program), program.artifact.type
    if program.artifact.slot not in declared["slot"]:
        yield "", f"the artifact: the slot {program.artifact.slot} is not declared"
    for reference in kind.references:
        if reference.register not in declared["register"]:
            yield "", f"the artifact: the register {reference.register} is not declared"
    if _is_divided(kind) or any("\0" in part for part in kind.parts if isinstance(part, str)):
        yield "", "the artifact: its type has an empty string, two beside each other, or a NUL character"


def _contexts(program: Program) -> Problems:
    """Contexts stand below earlier ones, and prompts below declared ones; their texts are as others are (I31)."""
    registers, declared = _declared(program)["register"], {""}
    for context in program.contexts:
        about = f"the context {context.name}"
        if context.after not in declared:
            yield "", f"{about} stands below {context.after}, which is not declared before it"
        declared.add(context.name)
        if _is_divided(context.text) or any("\0" in part for part in context.text.parts if isinstance(part, str)):
            yield "", f"{about} has an empty string, two beside each other, or a NUL character"
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
            yield node.id, "a timeout and a backoff are at least 1, a delay at least 0"
        if settings.timeout is not None and not isinstance(node.task, Shell | Agent | Tool | Parallel | Stage):
            yield node.id, f"a node of the kind {node.task.kind} calls no process that a timeout could end"


def _commands(program: Program) -> Problems:
    """Commands refer to nothing but the numbers of counters (I7); values of names are kept of commands only (I19)."""
    for node in program.nodes:
        command = node.task.command if isinstance(node.task, Shell) else Text()
        if any(item.before or item.after for item in command.references):
            yield node.id, "a reference in a command has texts around it"
        for effect in (effect for edge in node.edges for effect in edge.effects if isinstance(effect, Keep)):
            yield from ((node.id, problem) for problem in _keep_problems(node, effect))


def _keep_problems(node: Node, effect: Keep) -> Iterator[str]:
    if isinstance(node.task, Branch | End):
        yield "a node without a task keeps nothing"
    if (effect.of == "output") != bool(effect.name):
        yield "an output is kept by its name, an answer has none"
    if effect.of == "output" and not isinstance(node.task, Shell):
        yield "only commands give outputs"
    if effect.of == "output" and effect.extract is not None:
        yield "nothing is extracted from an output"


def _words(program: Program) -> Problems:
    """A word that is tested is one that the task can have (I17)."""
    for node in program.nodes:
        known = alphabet(node.task)
        for word in words_of(node.edges):
            if word not in known:
                yield node.id, f"no outcome is {word}" if known else "a node without a task has no outcome to test"


def _totality(program: Program) -> Problems:
    """Whatever the outcome, some edge holds: one whose guard asks for nothing more than that outcome (I2)."""
    for node in program.nodes:
        if isinstance(node.task, End):
            if len(node.edges) > 1 or any(edge.guard for edge in node.edges):
                yield node.id, "an end has at most one transition"
            continue
        for word in alphabet(node.task) or (None,):
            if not any(is_plain_for(edge, word) for edge in node.edges):
                yield node.id, "there may be no edge to take" + (f" for the outcome {word}" if word else "")


def _idle_cycles(program: Program) -> Problems:
    """Nodes without a task never lead back to each other, so passing through them always ends (I2)."""
    idle = {node.id for node in program.nodes if isinstance(node.task, Branch | End)}
    leading = {name: targets for name, targets in to_graph(program).items() if name in idle}
    if loop_regions({name: dict.fromkeys(idle & targets.keys()) for name, targets in leading.items()}):
        yield "", "some branches lead back to each other without a task between"
