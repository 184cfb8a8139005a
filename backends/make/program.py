"""A program that is more than commands and verdicts as a Makefile: its texts, and a driver with what it needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from backends.make.inputs import CONTROLS, about, input_blocks, inputs_of
from backends.make.names import Names, names_of
from backends.make.slots import FileSlots
from backends.make.templating import render
from backends.make.texts import block, filled_block, visible
from backends.make.units import Units
from backends.shell.calls import QUESTION, call_of, helper, json_lines, wanted
from backends.shell.dialects import POSIX
from backends.shell.registers import Registers
from backends.shell.ways import INDENT, Ways
from compiler.ir.edges import Edge, Keep, value_names
from compiler.ir.features import Feature, features_of
from compiler.ir.program import Node, Program, scope_members, texts_of
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Tool
from compiler.ir.texts import Text, joined
from compiler.ir.variables import INSTANCES


def is_runbook(program: Program) -> bool:
    """Whether commands, verdicts, counters and the numbers of instances are all that a program has."""
    references = (reference for node in program.nodes for item in texts_of(node) for reference in item.references)
    return (
        features_of(program) <= {Feature.COMMANDS, Feature.QUESTIONS}
        and all(item.name in INSTANCES for node in program.nodes for item in node.variables)
        and not any(reference.before or reference.after for reference in references)
    )


def is_unit(node: Node) -> bool:
    """Whether a node does something."""
    return not isinstance(node.task, Branch | End)


@dataclass(frozen=True)
class Whole:
    """What the Makefile of a program consists of."""

    program: Program
    state: str
    identity: str

    @cached_property
    def names(self) -> Names:
        """The identifiers."""
        return names_of(self.program)

    @cached_property
    def needs_helper(self) -> bool:
        """Whether the Makefile needs python3: for what sh cannot say exactly."""
        patterns = any(declared.pattern is not None for declared in self.program.inputs)
        return self._calls or self._has_extracts or patterns

    @cached_property
    def _calls(self) -> bool:
        return self._has_timeouts or self._has(Agent, Tool, Parallel)

    @cached_property
    def _has_timeouts(self) -> bool:
        return any(isinstance(node.task, Shell) and node.settings.timeout for node in self.program.nodes)

    @cached_property
    def _has_extracts(self) -> bool:
        return any(isinstance(effect, Keep) and effect.extract is not None for effect in self._effects())

    def _effects(self) -> Iterator[object]:
        return (effect for node in self.program.nodes for edge in node.edges for effect in edge.effects)

    # --- Texts --------------------------------------------------------------------------------------------------------

    def texts(self, node: Node) -> Iterator[str]:
        """The blocks of a node."""
        name = self.names.nodes[node.id]
        yield from block(f"name_{name}", visible(node.id))
        if is_unit(node):
            yield from self._block(f"title_{name}", node.title)
        for prefix, item in self._parts(node, name):
            yield from self._block(prefix, item)
        if call := call_of(node, self.names.registers, self.names.tokens):
            yield from block(f"call_{name}", call)

    def _parts(self, node: Node, name: str) -> Iterator[tuple[str, Text]]:
        match node.task:
            case Shell(command=command):
                yield f"command_{name}", command
            case Ask(prompt=prompt, block=shown, options=options):
                yield f"prompt_{name}", prompt if shown is None else _beneath(prompt, shown)
                yield from ((f"option_{name}_{index}", option) for index, option in enumerate(options, 1))
            case Gate(reason=reason):
                yield f"prompt_{name}", reason
            case Agent(prompt=prompt):
                yield f"prompt_{name}", prompt
            case Parallel(entries):
                yield from ((f"prompt_{name}_{index}", entry.prompt) for index, entry in enumerate(entries))
            case End(message=message):
                yield f"message_{name}", message
            case Tool() | Branch():
                pass  # the helper fills in the arguments of a tool
            case _:
                assert_never(node.task)

    def _block(self, name: str, item: Text) -> Iterator[str]:
        return filled_block(name, item, self.names.registers)

    def lists(self) -> Iterator[str]:
        """The blocks that belong to no node. The driver has been written before, which remembers what it refers to."""
        asks = "\n".join(visible(node.id) for node in self.program.nodes if isinstance(node.task, Ask | Gate))
        yield from block("asks", asks)
        for word, token in self.names.tokens.items():
            yield from block(f"word_{token}", word)
        for variable, initial in self._initial_texts.items():
            yield from block(f"initial_{variable}", initial)
        yield from input_blocks(self.program)
        yield from self._slots.blocks()
        if self.program.inputs:
            yield from block("inputs", "\n".join(declared.name for declared in self.program.inputs))
        if self.program.inputs or asks:
            yield from block("json_lines", json_lines())
        if self.needs_helper:
            yield from block("wanted", wanted(self.program))
            yield from block("call_question", QUESTION)
            yield from block("helper", helper(self._calls))

    @cached_property
    def _initial_texts(self) -> dict[str, str]:
        """The texts that slots begin with, by variable; those of inputs are given."""
        given = {declared.name for declared in self.program.inputs}
        slots = ((slot.name, slot.initial) for slot in self.program.slots if slot.name not in given)
        return {self.names.slots[name]: initial for name, initial in slots if initial is not None}

    def help(self) -> Iterator[tuple[str, str]]:
        """What make can be given besides, and what the program needs, for `make help`."""
        if self.needs_helper:
            yield "(needs python3)", "3.9 or newer, on PATH: to call and read what sh cannot exactly"
        for declared in self.program.inputs:
            yield f"make {declared.name}=VALUE", visible(about(declared))
        if self.program.inputs:
            yield "make INPUTS=FILE", "take inputs from lines NAME=VALUE, or NAME<<WORD, lines, WORD"
        if self._has(Agent, Parallel):
            yield "make … AGENT=COMMAND", "the command of the agents; else RDC_AGENTS (a file), RDC_AGENT"
        if self._has(Tool):
            yield "make … TOOLS=FILE", "the commands of the tools: lines CONNECTION=COMMAND"
        if self._has(Gate):
            yield "make … HUMAN=1", "pass the first gate"

    def _used(self) -> Iterator[str]:
        """What of that which make may be given the driver has a use for."""
        asks = ("ANSWERS", "RESULT", "UNIT") if self._has(Ask, Gate) else ()
        kinds = {"AGENT": self._has(Agent, Parallel), "HUMAN": self._has(Gate), "TOOLS": self._has(Tool)}
        yield from ("ASSUME", "RERUN", *asks, *(name for name, is_used in kinds.items() if is_used))
        if self.program.inputs:
            yield "INPUTS"

    def _has(self, *kinds: type) -> bool:
        return any(isinstance(node.task, kinds) for node in self.program.nodes)

    @property
    def given(self) -> list[tuple[str, str]]:
        """What make may be given on its command line, each with the variable that hands it to the driver."""
        inputs = [(item.name, item.variable) for item in inputs_of(self.program, self.names)]
        return [*((name, name) for name in CONTROLS), *inputs]

    # --- The driver ---------------------------------------------------------------------------------------------------

    @cached_property
    def _slots(self) -> FileSlots:
        return FileSlots(self.names.slots)

    @cached_property
    def driver(self) -> str:
        """The shell script that takes one step after the other."""
        names, program = self.names, self.program
        units = Units(program, names, self._has_timeouts)
        counted = ["rdc_done"] if program.limit is not None else []
        idle = [node for node in program.nodes if node.edges and not is_unit(node)]
        return render(
            "program.sh.jinja",
            **self._has_parts(),
            state=f"'{self.state}'",
            identity=self.identity,
            controls=list(CONTROLS),
            used=list(self._used()),
            inputs=inputs_of(program, names),
            slots=list(names.slots.values()),
            texts_at_begin=list(self._initial_texts),
            limit=program.limit,
            delays=list(units.delays()),
            tasks=list(units.tasks()),
            ways=list(self._ways()),
            uncounted=[names.nodes[node.id] for node in program.nodes if isinstance(node.task, Branch | End | Gate)],
            names=list(names.nodes.values()),
            silent=[names.nodes[node.id] for node in idle],
            variables=[*names.registers.values(), *counted],
            initials={
                **{names.counters[register.name]: register.initial for register in program.registers},
                **dict.fromkeys(counted, 0),
            },
            entry=names.nodes[program.entry],
        )

    def _has_parts(self) -> dict[str, bool]:
        """Which parts of the driver the program needs."""
        questions = {node.task.question for node in self.program.nodes if isinstance(node.task, Ask)}
        return {
            "helper": self.needs_helper,
            "timeouts": self._has_timeouts,
            "helper_calls": self._calls,
            "extracts": self._has_extracts,
            "values": any(value_names(node.edges) for node in self.program.nodes),
            "commands": self._has(Shell),
            "calls": self._has(Shell, Agent, Parallel, Tool),
            "agents": self._has(Agent, Parallel),
            "tools": self._has(Tool),
            "asks": self._has(Ask, Gate),
            "gates": self._has(Gate),
            "selects": "select" in questions,
            "free_texts": bool(questions & {"input", "select"}),
            "choices": any(declared.options for declared in self.program.inputs),
            "patterns": any(declared.pattern is not None for declared in self.program.inputs),
        }

    def _ways(self) -> Iterator[str]:
        members = scope_members(self.program.registers)
        counters = self.names.counters
        registers = Registers(members, counters, counters.keys(), POSIX, self._slots)
        ways = Ways(registers, lambda edge: self._way(registers, edge), self.names.tokens)
        for node in self.program.nodes:
            if node.edges:
                yield f"{self.names.nodes[node.id]})"
                yield from (INDENT + line for line in ways.lines(node))
                yield f"{INDENT};;"

    def _way(self, registers: Registers, edge: Edge) -> list[str]:
        return [*registers.done(edge.effects), f"rdc_unit={self.names.nodes[edge.target]}"]


def _beneath(prompt: Text, shown: Text) -> Text:
    """A prompt with its code block beneath it."""
    return joined((*prompt.parts, "\n\n", *shown.parts)) if prompt else shown
