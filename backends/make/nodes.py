"""The steps of a program in a Makefile: a block for each command or question, and a block for its transitions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import assert_never

from msgspec import Struct

from backends.make.blocks import Words, define
from backends.make.identifiers import Identifiers, comment, visible, visible_lines
from backends.make.line import own_retries, shown_counters
from backends.make.transitions import NO_NUMBERS, Numbers, Transitions
from compiler.ir.program import Node, Program, texts_of
from compiler.ir.tasks import IDLE, Agent, Ask, Branch, End, Gate, Parallel, Shell, Stage, Tool
from compiler.ir.texts import Text, joined
from runtime_shim.targets.naming import split_name

WIDTH = 120
LONGEST_TITLE = 1000
"""In characters. Commands have the title in their environment, which is not for long strings."""


def is_node(node: Node) -> bool:
    """Return whether a node does something."""
    return type(node.task) not in IDLE


def heading(node: Node) -> list[str]:
    """Return the comment above a step: its name and its source line."""
    origin = node.origin
    place = comment(f"{origin.path}:{origin.span.line}")
    name, called = node.id, str(node.title)
    if "/" in name:
        name, called = split_name(name, called)
    title = comment(visible(f"{_numbered(name)} {called}"))
    title = title if is_node(node) else f"{title or node.id}: its transitions"
    return [f"# {title.ljust(max(WIDTH - len(place) - 3, 1))} {place}"]


def prompt_lines(prompt: str) -> list[str]:
    """Return the prompt above a command as lines for a terminal."""
    return [f"    {line}".rstrip() for line in visible_lines(prompt).split("\n")] if prompt.strip() else []


class Nodes(Struct, frozen=True, dict=True):
    """Writes the steps. A step includes the messages of the results that it leads to."""

    program: Program
    prefix: str

    @cached_property
    def names(self) -> Identifiers:
        """The names of nodes and counters."""
        return Identifiers(self.program)

    @cached_property
    def words(self) -> Words:
        """The shell words in blocks."""
        return Words(self.prefix)

    @cached_property
    def own(self) -> dict[str, str]:
        """The counter of each step that counts only its own retries."""
        return own_retries(self.program, self._counters_shown)

    @cached_property
    def _counters_shown(self) -> set[str]:
        return shown_counters(self.program)

    @cached_property
    def transitions(self) -> Transitions:
        """The transitions of the run."""
        return Transitions(self.program, self.names, self.words, self.own)

    @cached_property
    def shown(self) -> list[Node]:
        """The nodes that have blocks, starting with the entry. A result is part of the steps that lead to it."""
        entry = self.program.entry
        found = [node for node in self.program.nodes if is_node(node) or node.edges or node.id == entry]
        return sorted(found, key=lambda node: node.id != entry)

    # --- The blocks of a step -----------------------------------------------------------------------------------------

    def blocks(self, node: Node) -> list[str]:
        """Return the lines below the heading: the command or question, then the step's facts and transitions."""
        name, numbers = self.names.nodes[node.id], self._numbers(node)
        lines: list[str] = []
        task = node.task
        if task.kind == "shell":
            lines = define(self.prefix, f"do_{name}", numbers.text(task.command))
            if prompt := prompt_lines(numbers.text(task.prompt)):
                lines = [*define(self.prefix, f"prompt_{name}", "\n".join(prompt)), *lines]
        elif task.kind == "ask":
            shown = task.prompt if task.block is None else _below(task.prompt, task.block)
            lines = define(self.prefix, f"ask_{name}", visible_lines(numbers.text(shown)))
        about = [*self._about(node, name, numbers), self.transitions.text(node, numbers)]
        return lines + define(self.prefix, f"step_{name}", "\n".join(about))

    def _numbers(self, node: Node) -> Numbers:
        """Return the marks in a node's strings, and in the messages of the results after it."""
        if not self._counters_shown:
            return NO_NUMBERS
        targets = (self.transitions.nodes[edge.target] for edge in node.edges)
        ends = (each.task.message for each in targets if each.task.kind == "end" and not each.edges)
        return Numbers([*texts_of(node), *ends])

    def counters(self) -> str:
        """Return the text of RDC_COUNTERS."""
        hidden = set(self.own.values())
        counters = [one for one in self.program.registers if one.name not in hidden]
        rows = [f"set_to {self.names.counters[one.name]} {one.initial}" for one in counters]
        for scope, members in self.transitions.scopes.items():
            if members:
                listed = " ".join(f"{self.names.counters[one.name]}:{one.initial}" for one in members)
                rows.append(f"scope {self.names.scopes[scope]} {listed}")
        return "\n".join(rows)

    def _about(self, node: Node, name: str, numbers: Numbers) -> Iterator[str]:
        """Yield a step's shell or kind, title, id (if it differs from the name), and the counters that it uses."""
        text = node.task.message if node.task.kind == "end" and node.edges else node.title
        title = self.words.quoted(visible(numbers.text(text))[:LONGEST_TITLE])
        known_as = "" if name == node.id else f" {self.words.quoted(visible(node.id))}"
        yield f"{_kind(node)} {title}{known_as}"
        if node.retries and node.id not in self.own:
            yield f"  attempts {self.names.counters[node.retries]}"
        for variable in node.variables if is_node(node) else ():
            yield f"  variable {variable.name} {self.names.counters[variable.register]}"
        for mark, counter in numbers.marks.items() if numbers is not NO_NUMBERS else ():
            yield f"  mark '{mark}' {self.names.counters[counter]}"


def _kind(node: Node) -> str:
    match node.task:
        case Shell(interpreter):
            return interpreter
        case Ask(question):
            return question
        case End() if node.edges:
            return "result"
        case Branch() | End():
            return "choice"
        case Agent() | Gate() | Parallel() | Stage() | Tool():
            raise ValueError(f"step {node.id} needs the program")
        case _:
            assert_never(node.task)


def _numbered(name: str) -> str:
    return f"{name}." if name.replace(".", "").isdigit() else name


def _below(prompt: Text, shown: Text) -> Text:
    """Return a prompt with its code block below it."""
    return joined((*prompt.parts, "\n\n", *shown.parts)) if prompt else shown
