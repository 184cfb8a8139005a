"""Native steps: fills input values into strings, as expressions over the variables that have the values.

GitHub expands an expression once and does not expand the result. This is what I6 requires, as long as the string is a
variable of the step and not part of a script.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import zip_longest

from msgspec.structs import replace

from backends.github.options.model import GithubOptions
from backends.github.yaml.model import Step
from backends.github.yaml.scalar import LITERAL_OPEN, OPEN, Expression, evaluated
from compiler.ir.edges import Keep, output_names
from compiler.ir.program import Input, Node, Program
from compiler.ir.tasks import Ask, End, Shell, map_task_texts, task_texts
from compiler.ir.texts import Part, Reference, Text, joined
from compiler.text.regex import Regex

_END = "\0"  # on both sides of a mark; no text or variable of a native program has it
_MARK = Regex(f"{_END}([A-Za-z_][A-Za-z0-9_]*)(?::([^{_END}]*))?{_END}")


def values_of(program: Program) -> tuple[str, ...]:
    """Return the names of the outputs that the program's commands may set."""
    return tuple(sorted({name for node in program.nodes for name in output_names(node.edges)}))


def unfillable(program: Program, options: GithubOptions) -> Iterator[tuple[Node, str]]:
    """Yield strings of questions and ends that expressions cannot fill in: the node, and which value it shows.

    An input in such a string must always have a value, on one line, because messages become log lines. It must not come
    from an event, because anyone may open an issue. The step itself fills in instance numbers, and would expand the
    values too.
    """
    slots = {slot.name for slot in program.slots}
    lines = {declared.name for declared in program.inputs if _is_line(declared, options)} | {*values_of(program)}
    for node in program.nodes:
        for text in task_texts(node.task) if isinstance(node.task, Ask | End) else ():
            used = [item for item in text.references if item.register in slots]
            if used and any(item.register not in slots for item in text.references):
                yield node, f"{used[0].register} with a number"
            elif unfit := next((one for one in used if one.register not in lines or not _is_plain(one)), None):
                yield node, f"{unfit.register}, which may be missing, have several lines, or come from an event"


def _is_plain(reference: Reference) -> bool:
    missing = reference.missing
    is_word = missing.isascii() and missing.isprintable() and " " not in missing and OPEN not in missing
    return is_word and not (reference.before or reference.after)


def _is_line(declared: Input, options: GithubOptions) -> bool:
    return declared.type != "text" and is_set(declared) and not options.is_of_event(declared.name)


def is_set(declared: Input) -> bool:
    """Return whether an input has a value in each run."""
    return declared.required or declared.default is not None


def without_slots(program: Program) -> Program:
    """Return a native program whose strings have marks instead of input values. Its steps know all inputs anyway."""
    if not program.slots:
        return program
    slots = {slot.name for slot in program.slots}
    given = {declared.name for declared in program.inputs if is_set(declared)} - {*values_of(program)}
    return replace(program, nodes=tuple(_without(node, slots, given) for node in program.nodes))


def _without(node: Node, slots: Collection[str], given: Collection[str]) -> Node:
    def part(item: Part, *, marks: bool) -> Part:
        if isinstance(item, str) or item.register not in slots:
            return item
        missing = "" if item.register in given else f":{item.missing}"
        return f"{_END}{item.register}{missing}{_END}" if marks and _is_plain(item) else item.written

    def written(text: Text) -> Text:
        return joined([part(item, marks=False) for item in text.parts])

    def marked(text: Text) -> Text:
        return joined([part(item, marks=True) for item in text.parts])

    task = map_task_texts(node.task, marked if isinstance(node.task, Ask | End) else written)
    if isinstance(node.task, Shell) and isinstance(task, Shell):
        task = replace(task, prompt=marked(node.task.prompt))
    return replace(
        node,
        title=marked(node.title),
        task=task,
        variables=tuple(item for item in node.variables if item.register not in slots),
        edges=tuple(
            replace(edge, effects=tuple(effect for effect in edge.effects if not isinstance(effect, Keep)))
            for edge in node.edges
        ),
    )


def _in_quotes(text: str) -> str:
    return re.sub(r'[\\"$`]', r"\\\g<0>", text).replace(OPEN, '$""{{')  # GitHub expands expressions in scripts


def in_log(prompt: str) -> str:
    """Return a prompt as lines for the log. None of them can be a command to the runner, which starts with `::`."""
    shown = "".join(char if char.isprintable() or char in f"\n\t{_END}" else " " for char in prompt)
    return "\n".join(line.rstrip() for line in shown.strip("\n").split("\n")).replace("##[", "## [")


def is_marked(shown: str) -> bool:
    """Return whether a string contains the value of an input or output."""
    return _MARK.search(shown) is not None


def as_written(shown: str) -> str:
    """Return a string with input and output names instead of marks, as authors write them."""
    return _MARK.sub(lambda match: f"{{{{{match[1]}}}}}", shown)


def pieces(prompt: str, suffix: str = "") -> dict[str, str]:
    """Return a prompt as variables with one value each: values may have 64 KiB, and Linux allows 128 KiB in one."""
    starts = [match.start() for match in _MARK.finditer(prompt)][1:]
    found = (prompt[start:end] for start, end in zip_longest([0, *starts], starts))
    return {f"RDC_PROMPT{at if starts else ''}{suffix}": piece for at, piece in enumerate(found, 1)}


def has_several(shown: str) -> bool:
    """Return whether a string has several values. One variable may be too small for it."""
    return len(_MARK.findall(shown)) > 1


def values_in(shown: str) -> dict[str, str | None]:
    """Return the names of the values in a string, each with the word for a missing one; None if it is always set."""
    return {match[1]: match[2] for match in _MARK.finditer(shown)}


def uncertain(shown: str) -> dict[str, str]:
    """Return expressions for the values in a string that may be missing, by their names."""
    return {name: value_expression(name, text) for name, text in values_in(shown).items() if text is not None}


def as_words(shown: str, escape: Callable[[str], str] = _in_quotes) -> str:
    """Return a string with `$NAME` instead of marks, in double quotes for bash, or as another place needs it."""
    found, place = "", 0
    for match in _MARK.finditer(shown):
        following = shown[match.end() : match.end() + 1]
        is_open = following.isalnum() or following in {"_", "["}
        found += escape(shown[place : match.start()]) + (f"${{{match[1]}}}" if is_open else f"${match[1]}")
        place = match.end()
    found += escape(shown[place:])
    return f'"{found}"' if escape is _in_quotes else found


def filled(shown: str) -> str:
    """Return a string with expressions instead of marks. An output is missing until a command sets it, also to ""."""
    return filled_with(shown, {name: value_expression(name, missing) for name, missing in values_in(shown).items()})


def filled_step(step: Step) -> Step:
    """Return a step with expressions instead of marks, short ones in its name. Only steps of nodes have marks."""
    named = {name: value_expression(name, missing, is_brief=True) for name, missing in values_in(step.name).items()}
    env = {name: filled(text) for name, text in step.env.items()}
    return replace(step, name=filled_with(step.name, named), env=env)


def filled_with(shown: str, values: Mapping[str, str]) -> str:
    """Return a string with these expressions instead of marks. Other values stay names."""
    if not is_marked(shown):
        return shown
    shown = _MARK.sub(lambda match: match[0] if match[1] in values else f"{{{{{match[1]}}}}}", shown)
    literals = (part.replace(OPEN, LITERAL_OPEN) for part in _MARK.split(shown)[::3])
    named = (values[match[1]] for match in _MARK.finditer(shown))
    return Expression("".join(map("".join, zip_longest(literals, named, fillvalue=""))))


def value_expression(name: str, missing: str | None, place: str = "env", *, is_brief: bool = False) -> str:
    """Return the expression for a value, usually a variable of the job.

    `missing` is shown if a value is unset, or also if it is empty, which is brief. No place has no values.
    """
    if missing is None:
        return evaluated(f"{place}.{name}")
    unset = quoted(missing) if is_brief else f"!{place}.rdc_empty_{name} && {quoted(missing)} || ''"
    return evaluated(f"{place}.{name} || {unset}") if place else missing


def quoted(text: str) -> str:
    """Return a string in an expression."""
    return "'" + text.replace("'", "''") + "'"


def as_file(command: str) -> str:
    """Return a command as file content. Several lines end with a line break."""
    if not command.strip():
        return ":"
    return command if "\n" not in command or command.endswith("\n") else command + "\n"
