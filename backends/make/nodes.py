"""The steps of a program in a Makefile: a block for the command or prompt of each, one for what follows.

What else the driver has to know of them stands together in RDC_NODES, a line for each step and what belongs to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from backends.make.blocks import Words, define
from backends.make.identifiers import Identifiers, file_name
from backends.make.inputs import input_rows
from backends.make.keeping import Kept, kept_always, without
from backends.make.shared import Shared, shared
from backends.make.texts import comment, visible, visible_lines
from backends.make.transitions import Transitions, own_retries
from backends.marks import NO_MARKS, Marks
from backends.remarks import named, remarks
from backends.shell.calls import call_of
from backends.steps import told_steps
from compiler.ir.edges import output_names
from compiler.ir.program import Artifact, Node, Program, texts_of
from compiler.ir.tasks import (
    Agent,
    Ask,
    Branch,
    End,
    Gate,
    Parallel,
    Shell,
    Stage,
    Tool,
    agents_of,
    alphabet,
    no_answer,
)
from compiler.ir.texts import Reference, Text, joined
from compiler.ir.variables import INSTANCES

WIDTH = 120
PARAGRAPH = "\n\n"


def is_node(node: Node) -> bool:
    """Whether a node does something."""
    return not isinstance(node.task, Branch | End)


@dataclass(frozen=True)
class Nodes:
    """Writes the steps. `is_simple`: they are commands and verdicts alone; `has_rules`: make knows the path.

    What an end says stands in the steps that lead there.
    """

    program: Program
    prefix: str
    is_simple: bool
    has_rules: bool

    @cached_property
    def names(self) -> Identifiers:
        """The names of what stands in the program."""
        return Identifiers(self.program)

    @cached_property
    def words(self) -> Words:
        """The words of the shell within blocks."""
        return Words(self.prefix)

    @cached_property
    def own(self) -> dict[str, str]:
        """The counter of each step that counts its own retries alone."""
        return own_retries(self._bare)

    @cached_property
    def told(self) -> Mapping[str, tuple[str, ...]]:
        """The steps around each step whose name does not show them."""
        return told_steps(self.program)

    @cached_property
    def kept(self) -> Kept:
        """What the driver keeps after each outcome of a command by itself."""
        return kept_always(self.program)

    @cached_property
    def _bare(self) -> Program:
        """The program without what the driver does by itself."""
        return without(self.program, self.kept)

    @cached_property
    def shared(self) -> Shared:
        """What steps have in common, where commands take or give outputs."""
        said = [self._values(node) for node in self.shown if isinstance(node.task, Shell)]
        return shared(said, map(self.marks, self.shown)) if any(said) else Shared()

    @cached_property
    def transitions(self) -> Transitions:
        """Where the run goes."""
        return Transitions(self._bare, self.names, self.words, self.own)

    @cached_property
    def shown(self) -> list[Node]:
        """The nodes that have blocks; an end is said where a step leads to it, unless a run begins or goes on there."""
        begins = {self.program.entry, *(jump.target for jump in self.program.jumps)}
        return [node for node in self.program.nodes if is_node(node) or node.edges or node.id in begins]

    # --- The blocks of a step -----------------------------------------------------------------------------------------

    def heading(self, node: Node) -> Iterator[str]:
        """The comment above a step: what it is called, where it was written, and what stands above its command."""
        place = comment(f"{node.origin.path}:{node.origin.span.line}")
        name, called = named(node.id, str(node.title))
        title = comment(visible(f"{_numbered(name)} {called}"))
        title = title if is_node(node) else f"{title or node.id}: what follows from it"
        yield f"# {title:{max(WIDTH - len(place) - 3, 1)}} {place}"
        yield from (f"# {comment(visible(line))}".rstrip() for line in remarks(node))

    def blocks(self, node: Node) -> Iterator[str]:
        """The lines below that."""
        name, marks = self.names.nodes[node.id], self.marks(node)
        for word, text in self._texts(node, marks):
            yield from define(self.prefix, word.format(name), text)
        if call := call_of(node, self.names.files, self.names.tokens):
            yield from define(self.prefix, f"call_{name}", call)
        if not self.has_rules:
            yield from define(
                self.prefix, f"after_{name}", self.transitions.text(self.transitions.nodes[node.id], marks)
            )

    def _texts(self, node: Node, marks: Marks) -> Iterator[tuple[str, str]]:
        match node.task:
            case Shell(command=command):
                yield "do_{}", marks.text(command)
            case Ask(prompt=prompt, block=shown, options=options):
                text = marks.text(prompt if shown is None else _beneath(prompt, shown))
                yield "ask_{}", visible_lines(text) if self.is_simple else text
                yield from ((f"option{number}_{{}}", marks.text(text)) for number, text in enumerate(options, 1))
            case Gate(reason=reason):
                yield "ask_{}", marks.text(reason)
            case Agent(prompt=prompt):
                yield "ask_{}", marks.text(prompt)
            case Parallel(entries):
                yield from ((f"entry{index}_{{}}", marks.text(entry.prompt)) for index, entry in enumerate(entries))
            case Tool() | Stage() | End() | Branch():
                pass  # the helper fills in the arguments of a tool
            case _:
                assert_never(node.task)

    def marks(self, node: Node) -> Marks:
        """The marks for references in the texts of a node, and in what the ends say that follow."""
        found = self._said(node)
        return Marks(found) if any(text.references for text in found) else NO_MARKS

    def _said(self, node: Node) -> list[Text]:
        nodes = self.transitions.nodes
        ends = (nodes[edge.target] for edge in node.edges)
        messages = (end.task.message for end in ends if isinstance(end.task, End) and not end.edges)
        texts = () if isinstance(node.task, Tool) else texts_of(node)
        return [*texts, node.title, *messages]

    # --- RDC_NODES ----------------------------------------------------------------------------------------------------

    def table(self) -> str:
        """The text of RDC_NODES: the step with which a run begins is the first."""
        listed = sorted(self.shown, key=lambda node: node.id != self.program.entry)
        common = [*self.shared.rows, *self._mark_rows(self.shared.marks)]
        return "\n".join([*(f"all {row}" for row in common), *(line for node in listed for line in self._row(node))])

    def values(self) -> str:
        """The text of RDC_VALUES: counters, outputs and inputs, and where a run begins and ends."""
        return "\n".join([*self._registers(), *self._whole()])

    def _registers(self) -> Iterator[str]:
        hidden = set(self.own.values())
        for register in self.program.registers:
            if register.name not in hidden:
                yield f"counter {self.names.registers[register.name]} {register.initial}"
        for scope, members in self.transitions.scopes.items():
            if members:
                listed = " ".join(f"{self.names.registers[one.name]}:{one.initial}" for one in members)
                yield f"scope {self.names.scopes[scope]} {listed}"
        given = {declared.name for declared in self.program.inputs}
        for slot in self.program.slots:
            initial = "" if slot.initial is None or slot.name in given else f" {self.words.quoted(slot.initial)}"
            yield f"slot {self.names.registers[slot.name]}{initial}"
        yield from input_rows(self.program, self.names, self.words)
        for word, token in self.names.tokens.items():
            yield f"word {token} {self.words.quoted(word)}"

    def _row(self, node: Node) -> Iterator[str]:
        name, marks = self.names.nodes[node.id], self.marks(node)
        title = visible(marks.text(node.title)) if self.is_simple else marks.text(node.title)
        known_as = "" if name == node.id else f" {self.words.quoted(visible(node.id))}"
        yield f"node {name} {_kind(node)} {self.words.quoted(title)}{known_as}"
        if node.retries and node.id not in self.own:
            yield f"  attempts {self.names.registers[node.retries]}"
        yield from (f"  {row}" for row in self._differs(node, marks))

    def _differs(self, node: Node, marks: Marks) -> Iterator[str]:
        """What a step says besides what it has in common with others; all of it, if it lacks some of that."""
        rows = self._values(node) if isinstance(node.task, Shell) else None
        common = self.shared if self.shared.fits(rows, Marks(self._said(node))) else Shared()
        if common != self.shared:
            yield "only"
        said = [*self._variables(node), *self._constants(node)]
        said += self._mark_rows({mark: found for mark, found in marks.references.items() if mark not in common.marks})
        said += self._details(node)
        yield from (row for row in said if rows is None or row not in common.rows)

    def _variables(self, node: Node) -> Iterator[str]:
        for variable in node.variables:
            if is_node(node):
                yield f"variable {variable.name} {self.names.registers[variable.register]}"

    def _constants(self, node: Node) -> Iterator[str]:
        for constant in node.constants:
            if is_node(node):
                yield f"constant {constant.name} {self.words.quoted(constant.value)}"

    def _mark_rows(self, marks: Mapping[str, Reference]) -> Iterator[str]:
        for mark, reference in marks.items():
            register = self.names.registers[reference.register]
            around = (reference.before, reference.after, reference.missing)
            said = "".join(f" {self.words.quoted(text)}" for text in around) if any(around) else ""
            yield f"mark {self.words.quoted(mark)} {register}{said}"

    def _values(self, node: Node) -> list[str]:
        """What a command says of inputs and outputs, those aside that tell the number of an instance."""
        rows = zip(node.variables, self._variables(node), strict=True)
        return [*(row for variable, row in rows if variable.name not in INSTANCES), *self._gives(node)]

    def _gives(self, node: Node) -> Iterator[str]:
        registers = self.names.registers
        if node.id in self.kept:
            pairs = ((keep.name, registers[keep.slot]) for keep in self.kept[node.id])
            yield f"keeps {' '.join(name if name == slot else f'{name}={slot}' for name, slot in pairs)}"
        elif isinstance(node.task, Shell) and output_names(node.edges):
            yield f"gives {' '.join(output_names(node.edges))}"

    def _details(self, node: Node) -> Iterator[str]:
        """What belongs to steps of some kinds."""
        if isinstance(node.task, Agent | Parallel | Tool) or (isinstance(node.task, Ask) and node.task.options):
            yield f"may_say {' '.join(self.names.tokens.get(word, word) for word in alphabet(node.task))}"
        if isinstance(node.task, Agent | Parallel | Tool):
            yield f"no_answer {no_answer(node.task)}"
        if isinstance(node.task, Parallel):
            yield f"entries {' '.join(f'_{index}' for index, _ in enumerate(node.task.entries))}"
        if isinstance(node.task, Agent):
            yield "entries -"
        if self.program.contexts and (agents := agents_of(node.task)):
            yield f"below {' '.join(self.names.contexts.get(agent.context, '-') for agent in agents)}"
        if node.id in self.told:
            yield " ".join(("within", *(self.words.quoted(visible(step)) for step in self.told[node.id])))
        yield from self._gives(node)
        if isinstance(node.task, Shell) and node.settings.timeout:
            yield f"timeout {node.settings.timeout}"
        if node.settings.delay and node.retries:
            yield f"delay {node.settings.delay} {node.settings.backoff}"

    def _whole(self) -> Iterator[str]:
        if self.program.limit is not None:
            yield f"limit {self.program.limit}"
        if self.program.secrets:
            yield f"secrets {' '.join(self.program.secrets)}"
        if self.program.folder:
            yield f"folder {self.names.registers[self.program.folder]}"
        if self.program.artifact is not None:
            yield from self._artifact(self.program.artifact)
        for context in self.program.contexts:
            after = f" {self.names.contexts[context.after]}" if context.after else ""
            yield f"context {self.names.contexts[context.name]}{after}"
            yield from (f"  {self._part(part)}" for part in context.text.parts)

    def _part(self, part: str | Reference) -> str:
        """A part of a context: a text, or what a slot holds under a heading, or with other texts around it."""
        quoted = self.words.quoted
        if isinstance(part, str):
            return f"part {quoted(part)}"
        register, heading = self.names.registers[part.register], part.before.removesuffix(PARAGRAPH)
        if part == Reference(part.register, part.written, before=heading + PARAGRAPH, after=PARAGRAPH):
            return f"under {quoted(heading)} {register}"
        return f"part {quoted(part.before)} {register} {quoted(part.after)} {quoted(part.missing)}"

    def _artifact(self, artifact: Artifact) -> Iterator[str]:
        """What a run leaves as a file, and the parts of its type (I28)."""
        quoted, registers = self.words.quoted, self.names.registers
        yield f"artifact {registers[artifact.slot]} {quoted(file_name(self.program))}"
        for part in artifact.type.parts:
            if isinstance(part, str):
                yield f"kind_text {quoted(part)}"
            else:
                texts = " ".join(map(quoted, (part.missing, part.before, part.after)))
                yield f"kind_of {registers[part.register]} {texts}"


def needs_texts(program: Program) -> bool:
    """Whether some text refers to a register."""
    return any(not text.is_plain for node in program.nodes for text in texts_of(node))


def instances_alone(program: Program) -> bool:
    """Whether commands are told the numbers of instances and nothing else."""
    return all(item.name in INSTANCES for node in program.nodes for item in node.variables)


def _kind(node: Node) -> str:
    match node.task:
        case Shell(interpreter):
            return interpreter
        case Ask(question):
            return question
        case Gate():
            return "gate"
        case Agent() | Parallel():
            return "agents"
        case Tool():
            return "tool"
        case Stage():
            return "stage"
        case Branch() | End():
            return "choice"
        case _:
            assert_never(node.task)


def _numbered(name: str) -> str:
    return f"{name}." if name.replace(".", "").isdigit() else name


def _beneath(prompt: Text, shown: Text) -> Text:
    """A prompt with its code block beneath it."""
    return joined((*prompt.parts, "\n\n", *shown.parts)) if prompt else shown
