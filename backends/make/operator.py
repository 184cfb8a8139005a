"""What an operator drives a run with: the last section of a Makefile, left out by `operator: basic` (E4 to E12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from backends.make.blocks import define
from backends.make.inputs import OF_OPERATOR, calls
from backends.make.nodes import Nodes
from backends.make.parts import Part, part
from backends.make.texts import visible
from compiler.ir.edges import Effect, Set
from compiler.ir.program import Jump, Program, jumps_of
from compiler.ir.tasks import Ask

VERBS = ("goto", "history")
"""The targets that belong to the operator alone."""


@dataclass(frozen=True)
class Operator:
    """The operator's section of the Makefile of a program. `asks`: the driver has the module for questions.

    `calls_others`: the program calls agents or tools itself; these agents then answer its questions too.
    """

    program: Program
    nodes: Nodes
    prefix: str
    asks: bool
    calls_others: bool

    @property
    def verbs(self) -> tuple[str, ...]:
        """The targets of the section; in a prompted run each command is answered."""
        return VERBS if self.asks else (*VERBS, "answer")

    @property
    def takes(self) -> str:
        """What make is given for the operator."""
        return " ".join(f"{name}:{name}" for name in OF_OPERATOR)

    @property
    def repeated(self) -> str:
        """What of all that make is given has to be given again whenever the run goes on, as patterns."""
        names = ["AGENT", "AS", "NOTIFY", "TOOLS"]
        names += ["AGENTS", "AGENT_MODEL", "AGENT_RETRIES", "AGENT_TIMEOUT", "MOCK"] if calls(self.program) else []
        names += ["OUT"] if self.program.artifact else []
        return " ".join(f"{name}:%" for name in sorted(names))

    @property
    def delegates(self) -> bool:
        """Whether the section has what lets an agent answer prompts."""
        return not self.calls_others and any(isinstance(node.task, Ask) for node in self.program.nodes)

    @cached_property
    def parts(self) -> list[Part]:
        """The modules of the driver, in their order."""
        names = ["operator", "goto", "runs", "notice", "manual"]
        return [part(name) for name in (*([] if self.asks else ["asks"]), *names, *(["delegate"] * self.delegates))]

    @property
    def table(self) -> list[str]:
        """The block RDC_JUMPS, if some jump is more than to go to the step of that name (I27)."""
        lines = list(self._lines())
        return list(define(self.prefix, "RDC_JUMPS", "\n".join(lines))) if lines else []

    def _lines(self) -> Iterator[str]:
        nodes = self.nodes.names.nodes
        special = [jump for jump in jumps_of(self.program).values() if self._is_special(jump)]
        entered = dict.fromkeys(item.group for jump in special for item in jump.entering if self._effects(item.effects))
        numbers = {group: f"g{number}" for number, group in enumerate(entered, 1)}
        for node in self.program.nodes:
            if inside := [numbers[group] for group in self._around(node.group) if group in numbers]:
                yield f"in {nodes[node.id]} {' '.join(inside)}"
        for jump in special:
            yield from self._jump(jump, numbers)

    def _is_special(self, jump: Jump) -> bool:
        """Whether a jump is more than to go to the step of that name; of a group it always is."""
        return jump.id != jump.target or bool(self._effects(jump.all_effects))

    def _jump(self, jump: Jump, numbers: Mapping[str, str]) -> Iterator[str]:
        yield f'jump {self.nodes.names.nodes[jump.target]} "{visible(jump.id)}"'
        for item in jump.entering:
            yield from (f"  into {numbers[item.group]} {effect}" for effect in self._effects(item.effects))
        yield from (f"  {effect}" for effect in self._effects(jump.effects))

    def _effects(self, effects: tuple[Effect, ...]) -> list[str]:
        """The effects in the driver's words, which has no counters of steps' own retries."""
        own = set(self.nodes.own.values())
        kept = (effect for effect in effects if not (isinstance(effect, Set) and effect.register in own))
        return list(self.nodes.transitions.effects(kept))

    def _around(self, group: str) -> Iterator[str]:
        while group:
            yield group
            group = self.program.parents[group]
