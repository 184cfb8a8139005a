"""Texts in which the value of an input stands, in native steps: as expressions over the variable that has the value.

GitHub puts the value of an expression into a text once, and looks at it for nothing else. So a value is filled in as
I6 has it, as long as the text is a variable of its step and no part of a script.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from backends.github.options import GithubOptions
from backends.github.scalar import LITERAL_OPEN, OPEN, Expression
from compiler.ir.program import Input, Node, Program
from compiler.ir.tasks import Ask, End, map_task_texts, task_texts
from compiler.ir.texts import Part, Reference, Text, joined

_OPENS, _CLOSES = "\x01", "\x02"
_MARK = re.compile(f"{_OPENS}([A-Za-z_][A-Za-z0-9_]*){_CLOSES}")


def is_fillable(node: Node, program: Program, options: GithubOptions) -> bool:
    """Whether the texts that a unit shows are such that expressions can fill them in.

    Such a value is always there and has one line, since messages become lines of the log; and it is not from an event,
    since anybody may open an issue. Numbers of instances are filled in by the step itself, which would look at the
    values too.
    """
    inputs = {declared.name: declared for declared in program.inputs}
    texts = task_texts(node.task) if isinstance(node.task, Ask | End) else ()
    return all(_is_simple(item, inputs, options) for item in texts)


def _is_simple(shown: Text, inputs: dict[str, Input], options: GithubOptions) -> bool:
    references = list(shown.references)
    used = [item for item in references if item.register in inputs]
    if not used:
        return True
    if len(used) < len(references) or any(_OPENS in part for part in shown.parts if isinstance(part, str)):
        return False
    return all(not (item.before or item.after) and _is_line(inputs[item.register], options) for item in used)


def _is_line(declared: Input, options: GithubOptions) -> bool:
    has_value = declared.required or declared.default is not None
    return declared.type != "text" and has_value and not options.is_of_event(declared.name)


def without_slots(program: Program) -> Program:
    """A native program whose texts have marks where the value of an input stands; its steps know all inputs anyway."""
    names = {slot.name for slot in program.slots}
    return replace(program, nodes=tuple(_without(node, names) for node in program.nodes)) if names else program


def _without(node: Node, slots: Collection[str]) -> Node:
    def part(item: Part) -> Part:
        is_slot = isinstance(item, Reference) and item.register in slots
        return f"{_OPENS}{item.register}{_CLOSES}" if is_slot and isinstance(item, Reference) else item

    def written(item: Part) -> Part:
        return item.written if isinstance(item, Reference) and item.register in slots else item

    shown = part if isinstance(node.task, Ask | End) else written
    return replace(
        node,
        title=joined([written(item) for item in node.title.parts]),
        task=map_task_texts(node.task, lambda item: joined([shown(one) for one in item.parts])),
        variables=tuple(item for item in node.variables if item.register not in slots),
    )


def is_marked(shown: str) -> bool:
    """Whether the value of an input stands in a text."""
    return _MARK.search(shown) is not None


def filled(shown: str) -> str:
    """A text with expressions in place of its marks."""
    if not is_marked(shown):
        return shown
    parts = enumerate(_MARK.split(shown))
    return Expression(
        "".join(f"${{{{ env.{part} }}}}" if at % 2 else part.replace(OPEN, LITERAL_OPEN) for at, part in parts)
    )
