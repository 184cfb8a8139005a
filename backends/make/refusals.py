"""What of a program a Makefile cannot carry, although it carries each feature: names and texts (RD530, RD531)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backends.make.inputs import is_reserved
from backends.make.units import values_of
from compiler.diagnostic import Diagnostic
from compiler.ir.edges import Keep, SlotTest
from compiler.ir.program import Node, Program, texts_of
from compiler.ir.tasks import alphabet
from compiler.ir.texts import Reference

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def refusals(program: Program) -> Iterator[Diagnostic]:
    """Everything that a Makefile of the program could not carry."""
    yield from _inputs(program)
    yield from _names(program)
    yield from _texts(program)


def _inputs(program: Program) -> Iterator[Diagnostic]:
    path = program.sources[0].path
    for declared in program.inputs:
        if is_reserved(declared.name):
            problem = f"the input {_shown(declared.name)} has a name that make, its shell or rdc gives a meaning"
            remedy = "give the input another name, of letters, digits, `_` and `-`, such as `topic`"
            yield Diagnostic("RD530", path, None, problem, remedy)


def _names(program: Program) -> Iterator[Diagnostic]:
    """Names of values and of variables stand in the script, and in the environment of commands."""
    for node in program.nodes:
        for kind, names in (("value", values_of(node)), ("variable", [item.name for item in node.variables])):
            for name in names:
                if not _VARIABLE.fullmatch(name):
                    problem = f"unit {node.id} has a {kind} with the name {_shown(name)}, which no shell takes"
                    yield _at(node, problem, "give it a name of letters, digits and `_` that begins with no digit")


def _texts(program: Program) -> Iterator[Diagnostic]:
    remedy = "take the NUL character out of the text"
    for node in program.nodes:
        parts = (part for item in texts_of(node) for part in item.parts)
        strings = [text for part in parts for text in ((part,) if isinstance(part, str) else _pieces(part))]
        strings += [test.text for edge in node.edges for test in edge.guard if isinstance(test, SlotTest)]
        strings += [effect.extract or "" for edge in node.edges for effect in edge.effects if isinstance(effect, Keep)]
        strings += alphabet(node.task)
        if any("\0" in text for text in strings):
            yield _at(node, f"unit {node.id} has a text with a NUL character, which no Makefile can carry", remedy)
    path = program.sources[0].path
    for slot in program.slots:
        if "\0" in (slot.initial or ""):
            problem = f"the slot {_shown(slot.name)} begins with a NUL character in it, which no Makefile can carry"
            yield Diagnostic("RD531", path, None, problem, remedy)


def _pieces(reference: Reference) -> tuple[str, ...]:
    return (reference.before, reference.after, reference.missing)


def _at(node: Node, problem: str, remedy: str) -> Diagnostic:
    return Diagnostic("RD531", node.origin.path, node.origin.span, problem, remedy)


def _shown(name: str) -> str:
    return f"`{name}`" if name.isprintable() else repr(name)
