"""Which programs the steps of a workflow can do by themselves: commands, questions for yes or no, and inputs.

All others are walked by a runtime. An input is a variable of all steps, so each command has to have all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from backends.github.filling import is_fillable
from backends.github.options import GithubOptions
from compiler.ir.edges import Clear, Edge, Keep, SlotTest
from compiler.ir.features import Feature, features_of
from compiler.ir.program import Node, Program, texts_of
from compiler.ir.tasks import Ask, Shell
from compiler.ir.texts import Reference

_CARRIED = frozenset(
    {
        Feature.COMMANDS,
        Feature.QUESTIONS,
        Feature.INPUTS,
        Feature.TEXTS,
        Feature.TIMEOUTS,
        Feature.DELAYS,
        Feature.CONSTANTS,
        Feature.SECRETS,
    }
)

_TAKEN = re.compile(
    r"(?i)(GITHUB|RUNNER|ACTIONS|INPUT)_.*|RDC_.*|NODE_OPTIONS|CI|BASH.*|SECONDS|S?RANDOM|LINENO|EPOCH.*|DIRSTACK"
    r"|FUNCNAME|GROUPS|HIST.*|OPT(ARG|ERR|IND)|PIPESTATUS|REPLY|COMPREPLY|POSIXLY_CORRECT|TIMEFORMAT|TMOUT"
)
"""Variables by which GitHub or bash does something: a step has them as it wants, whatever it is given."""


def is_native(program: Program, options: GithubOptions) -> bool:
    """Whether the steps of a workflow can do all of a program by themselves."""
    if not features_of(program) <= _CARRIED:
        return False
    if program.slots and not _are_inputs_variables(program, options):
        return False
    slots = {slot.name for slot in program.slots}
    return all(_is_native(node, slots) and is_fillable(node, program, options) for node in program.nodes)


def _are_inputs_variables(program: Program, options: GithubOptions) -> bool:
    """Whether the slots are inputs that nothing changes, and each command has all of them under their names."""
    names = {declared.name for declared in program.inputs}
    if {slot.name for slot in program.slots if slot.initial is None} != names or len(program.slots) != len(names):
        return False
    if any(_TAKEN.fullmatch(name) for name in names) or len({name.lower() for name in names}) < len(names):
        return False
    if any(map(_has_lines, _choices(program))):
        return False
    if any(not isinstance(value, str) for value in options.bind.values()):  # what a command says comes later
        return False
    edges = [edge for node in program.nodes for edge in node.edges]
    return not any(map(_uses_slots, edges)) and all(
        _slots_of(node, names) == {name: name for name in names}
        for node in program.nodes
        if isinstance(node.task, Shell)
    )


def _choices(program: Program) -> Iterator[str]:
    for declared in program.inputs:
        yield from (*declared.options, declared.pattern or "", declared.default or "")


def _has_lines(text: str) -> bool:
    """Whether a text cannot be a line of a list, or a variable."""
    return any(character in text for character in "\n\r\0") or any("\ud800" <= item <= "\udfff" for item in text)


def _uses_slots(edge: Edge) -> bool:
    return any(isinstance(test, SlotTest) for test in edge.guard) or any(
        isinstance(effect, Keep | Clear) for effect in edge.effects
    )


def _slots_of(node: Node, slots: set[str]) -> dict[str, str]:
    return {item.name: item.register for item in node.variables if item.register in slots}


def _is_native(node: Node, slots: set[str]) -> bool:
    """Whether a step can do a unit: of the counters in its texts it knows its variables, and these as they are."""
    if any(_TAKEN.fullmatch(constant.name) or "\0" in constant.value for constant in node.constants):
        return False
    if isinstance(node.task, Ask) and (node.settings.delay or node.constants):
        return False
    known = {variable.register for variable in node.variables} - slots
    return all(_is_known(reference, known, slots) for text in texts_of(node) for reference in text.references)


def _is_known(reference: Reference, known: set[str], slots: set[str]) -> bool:
    if reference.register in slots:
        return True
    return reference.register in known and not (reference.before or reference.after)
