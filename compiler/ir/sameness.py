"""Decide whether two programs differ only in one name.

The names of both must be in a one-to-one relation, apart from places in documents. Texts of the author must be equal.
The rest may show the other name: labels of transitions, messages that rdc writes, names of reports and gates.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from compiler.ir.edges import Origin
from compiler.ir.program import Program, SourceFile
from compiler.ir.tasks import Shell
from compiler.text.regex import Regex
from compiler.text.source import Span

STEPS = frozenset(
    {
        *("Program.entry", "Node.id", "Node.group", "Group.id", "Group.parent", "Edge.target", "Written.step"),
        *("StepOutcome.step", "Counter.of", "Counter.scope", "Reset.scope", "Jump.id", "Jump.target", "Entering.group"),
        *("Event.step", "Rule.scope", "Rule.persons", "Stage.step", "SpecifiedStep.id"),
        *("Reply.step", "ScenarioAnswer.step", "Goto.step"),
    }
)
"""The fields with the id of a step."""

VALUES = frozenset(
    {
        *("Slot.name", "Input.name", "Counter.name", "Variable.register", "Reference.register", "CounterTest.register"),
        *("Set.register", "Add.register", "Add.amount", "AtLeast.register", "Keep.slot", "Clear.slot", "SlotTest.slot"),
        *("Node.retries", "Artifact.slot", "Program.folder", "Scenario.inputs"),
    }
)
"""The fields with the name of a register. Those of steps have the step's name in theirs."""

VARIABLES = frozenset({"Variable.name", "Keep.name", "Value.name", "Reply.values"})
"""The fields with a name that commands and people see."""

SHOWN = frozenset(
    {
        *("Written.action", "Agent.report", "Parallel.report", "Gate.gate", "Gate.reason", "End.message"),
        *("Agent.context", "Context.name", "Context.after", "Rule.sentence", "Rule.needs", "Node.title", "Group.title"),
        *("Reference.written", "Reference.missing", "Reference.before", "Reference.after", "Input.description"),
        *("SpecifiedStep.spec", "Scenario.outputs", "tables"),
    }
)
"""The fields that may show a name in a text, and the keys of mappings."""

COMMAND, PROMPT = "Shell.command", "Agent.prompt"


class Rename(Struct, frozen=True):
    """A new name for a step, or for an input or output."""

    old: str
    new: str
    is_step: bool


def difference(before: object, after: object, rename: Rename) -> str:
    """Return the first difference between two values beyond a rename, such as `Edge.target`, or ""."""
    return next(_Comparison(rename).parts(before, after, "tables"), "")


def other_mentions(program: Program, rename: Rename) -> str:
    """Return why a variable of commands can't be renamed, or "".

    Commands see inputs and outputs as environment variables. Only `$NAME` and `NAME=` outside single quotes are
    certainly the variable.
    """
    if rename.is_step or not any(one.name == rename.old for node in program.nodes for one in node.variables):
        return ""
    for node in program.nodes:
        if not isinstance(node.task, Shell):
            continue
        command = str(node.task.command)
        if re.search(rf"(?<![\w-]){re.escape(rename.new)}\b", command):
            return f"the command of step {node.id} already has the word `{rename.new}`; choose another name"
        literal = "\n".join(found["literal"] or "" for found in _QUOTED.finditer(command))
        if re.search(rf"(?<![\w-]){re.escape(rename.old)}\b", renamed_in_command(command, rename) + literal):
            return f"the command of step {node.id} has the word `{rename.old}` in another form than `${rename.old}`"
    return ""


_READ = Regex(r"(?<!\\)\$\{?[#!]?([A-Za-z_]\w*)")
_QUOTED = Regex(
    r"(?s)\\.|(?<!\S)#[^\n]*|\"(?>(?:\\.|[^\"\\])*)\"|(?P<literal>'[^']*'|<<-?[ \t]*(['\"\\])(\w+).*?\n\t*\3\b)"
)
_WRITTEN = Regex(r"(?<![\w${.-])([A-Za-z_]\w*)(?==(?!=)|<<(?!<))")


def variables(command: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns whose first group is a variable that a command reads, or an output that it writes."""
    return (_READ, _WRITTEN) if "RDC_OUTPUT" in command else (_READ,)


def renamed_in_command(command: str, rename: Rename) -> str:
    """Return a command with the new name of a variable where it reads it, and where it writes an output."""
    found = (match for pattern in variables(command) for match in pattern.finditer(command))
    for place in sorted((match.span(1) for match in found if match[1] == rename.old), reverse=True):
        command = command[: place[0]] + rename.new + command[place[1] :]
    return command


class _Comparison:
    """The comparison of two values, with the names that were found in both."""

    def __init__(self, rename: Rename) -> None:
        self._rename = rename
        self._token = re.compile(rf"(?<![\w-]){re.escape(rename.old)}(?=_\d+\b|(?![\w-]))")
        self._known: defaultdict[str, dict[str, str]] = defaultdict(dict)

    def parts(self, one: object, other: object, at: str) -> Iterator[str]:
        """Yield the places of the parts that differ."""
        if type(one) is not type(other):
            yield at
        elif isinstance(one, Span | Origin | SourceFile):
            return
        elif isinstance(one, str) and isinstance(other, str):
            if not self._is_fine(one, other, at):
                yield at
        elif isinstance(one, Struct):
            for name in one.__struct_fields__:
                place = at if type(one).__name__ == "Text" else f"{type(one).__name__}.{name}"
                yield from self.parts(getattr(one, name), getattr(other, name), place)
        elif isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from self._all([*one, *one.values()], [*other, *other.values()], at)
        elif isinstance(one, Sequence) and isinstance(other, Sequence):
            yield from self._all(one, other, at)
        elif one != other:
            yield at

    def _all(self, one: Sequence[object], other: Sequence[object], at: str) -> Iterator[str]:
        if len(one) != len(other):
            yield at
            return
        for first, second in zip(one, other, strict=True):
            yield from self.parts(first, second, at)

    def _is_fine(self, one: str, other: str, at: str) -> bool:
        if at in STEPS:
            return (one == other or (self._rename.is_step and self._is_renamed(one, other))) and self._fits(
                "steps", one, other
            )
        if at in VALUES:
            return (one == other or self._is_renamed(one, other)) and self._fits("values", one, other)
        if at in VARIABLES:
            return one == other or (not self._rename.is_step and self._is_renamed(one, other))
        if at in SHOWN:
            return one == other or self._is_renamed(one, other)
        if at == COMMAND and not self._rename.is_step:
            return other in (one, renamed_in_command(one, self._rename))
        if at == PROMPT and self._rename.is_step:  # the heading that rdc writes above the prompts of a workflow
            return other in (one, one.replace(f"\nStep: {self._rename.old}\n", f"\nStep: {self._rename.new}\n", 1))
        return one == other

    def _is_renamed(self, one: str, other: str) -> bool:
        """Return whether a text is another one with the new name in one or more places of the old one."""
        either = f"(?:{re.escape(self._rename.old)}|{re.escape(self._rename.new)})"
        return re.fullmatch(either.join(map(re.escape, self._token.split(one))), other) is not None

    def _fits(self, group: str, one: str, other: str) -> bool:
        """Return whether the relation between the names of both stays one to one."""
        there, back = self._known[group], self._known[f"{group} back"]
        return there.setdefault(one, other) == other and back.setdefault(other, one) == one
