"""Texts in which the value of an input stands, in native steps: as expressions over the variable that has the value.

GitHub puts the value of an expression into a text once, and looks at it for nothing else. So a value is filled in as
I6 has it, as long as the text is a variable of its step and no part of a script.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from msgspec.structs import replace

from backends.github.options import GithubOptions
from backends.github.scalar import LITERAL_OPEN, OPEN, Expression
from compiler.ir.edges import Keep, output_names
from compiler.ir.program import Input, Node, Program
from compiler.ir.tasks import Ask, End, map_task_texts, task_texts
from compiler.ir.texts import Part, Reference, Text, joined
from compiler.regex import Regex

_OPENS, _ELSE, _CLOSES = "\x01", "\x03", "\x02"
_MARK = Regex(f"{_OPENS}([A-Za-z_][A-Za-z0-9_]*)(?:{_ELSE}([^{_CLOSES}]*))?{_CLOSES}")


def values_of(program: Program) -> tuple[str, ...]:
    """The names of the outputs that commands of a program may give."""
    return tuple(sorted({name for node in program.nodes for name in output_names(node.edges)}))


def are_fillable(program: Program, options: GithubOptions) -> bool:
    """Whether the texts that nodes show are such that expressions can fill them in.

    An input that stands there always has a value, of one line, since messages become lines of the log; and it is not
    from an event, since anybody may open an issue. Numbers of instances are filled in by the step itself, which would
    look at the values too.
    """
    slots = {slot.name for slot in program.slots}
    lines = {declared.name for declared in program.inputs if _is_line(declared, options)}
    lines |= set(values_of(program))
    shown = (node.task for node in program.nodes if isinstance(node.task, Ask | End))
    return all(_is_simple(item, slots, lines) for task in shown for item in task_texts(task))


def _is_simple(shown: Text, slots: Collection[str], lines: Collection[str]) -> bool:
    references = list(shown.references)
    used = [item for item in references if item.register in slots]
    if not used:
        return True
    if len(used) < len(references) or any(_OPENS in part for part in shown.parts if isinstance(part, str)):
        return False
    return all(item.register in lines and _is_plain(item) for item in used)


def _is_plain(reference: Reference) -> bool:
    missing = reference.missing
    is_word = missing.isascii() and missing.isprintable() and " " not in missing and OPEN not in missing
    return is_word and not (reference.before or reference.after)


def _is_line(declared: Input, options: GithubOptions) -> bool:
    has_value = declared.required or declared.default is not None
    return declared.type != "text" and has_value and not options.is_of_event(declared.name)


def without_slots(program: Program) -> Program:
    """A native program whose texts have marks where the value of an input stands; its steps know all inputs anyway."""
    names, values = {slot.name for slot in program.slots}, values_of(program)
    nodes = (_without(node, names, values) for node in program.nodes)
    return replace(program, nodes=tuple(nodes)) if names else program


def _without(node: Node, slots: Collection[str], values: Collection[str]) -> Node:
    def part(item: Part) -> Part:
        if isinstance(item, str) or item.register not in slots:
            return item
        missing = f"{_ELSE}{item.missing}" if item.register in values else ""
        return f"{_OPENS}{item.register}{missing}{_CLOSES}"

    def written(item: Part) -> Part:
        return item.written if isinstance(item, Reference) and item.register in slots else item

    shown = part if isinstance(node.task, Ask | End) else written
    return replace(
        node,
        title=joined([written(item) for item in node.title.parts]),
        task=map_task_texts(node.task, lambda item: joined([shown(one) for one in item.parts])),
        variables=tuple(item for item in node.variables if item.register not in slots),
        edges=tuple(
            replace(edge, effects=tuple(effect for effect in edge.effects if not isinstance(effect, Keep)))
            for edge in node.edges
        ),
    )


def is_marked(shown: str) -> bool:
    """Whether the value of an input or output stands in a text."""
    return _MARK.search(shown) is not None


def as_written(shown: str) -> str:
    """A text with the names of inputs and outputs instead of its marks, as authors of runbooks write them (E1)."""
    return _MARK.sub(lambda match: f"{{{{{match[1]}}}}}", shown)


def is_given(shown: str) -> bool:
    """Whether an output of a command stands in a text: it may be missing, and have several lines."""
    return any(match[2] is not None for match in _MARK.finditer(shown))


def has_several(shown: str) -> bool:
    """Whether so many values stand in a text that one variable may be too small for it: each may have 64 KiB."""
    return len(_MARK.findall(shown)) > 1


def apart(shown: str, names: dict[str, str]) -> tuple[str, list[str]]:
    """A text as a format of `printf`, and the variables of its values; `names` has them by their marks."""
    words = [names.setdefault(match[0], f"VALUE_{len(names) + 1}") for match in _MARK.finditer(shown)]
    return _MARK.sub("%s", shown.replace("\\", "\\\\").replace("%", "%%")), words


def filled(shown: str) -> str:
    """A text with expressions instead of its marks.

    An output is missing until a command has given it; an empty one is not missing.
    """
    if not is_marked(shown):
        return shown
    found, place = "", 0
    for match in _MARK.finditer(shown):
        found += shown[place : match.start()].replace(OPEN, LITERAL_OPEN) + _expression(match)
        place = match.end()
    return Expression(found + shown[place:].replace(OPEN, LITERAL_OPEN))


def _expression(match: re.Match[str]) -> str:
    name, missing = match[1], match[2]
    if missing is None:
        return f"${{{{ env.{name} }}}}"
    quoted = missing.replace("'", "''")
    return f"${{{{ env.{name} || !env.rdc_has_{name} && '{quoted}' || '' }}}}"
