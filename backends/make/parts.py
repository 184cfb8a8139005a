"""The constant texts of a Makefile: the driver, the modules that a program needs, and the programs for python3."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from backends.make.blocks import define
from backends.make.inputs import calls, has_steps, has_task
from backends.make.nodes import Nodes, instances_alone, is_node, needs_texts
from backends.shell.calls import QUESTION, calls_others, helper, json_lines, wanted
from compiler.ir.edges import Keep, SlotTest
from compiler.ir.features import Feature, features_of
from compiler.ir.program import Program, texts_of
from compiler.ir.tasks import Ask, Gate, Shell
from compiler.passes import optimise

OF_VERBS = ("resume", "status", "help", "alone", "clearing")
"""The modules that are handed over for what make is told to do; the others are for what a program has."""


_SIMPLE = {Feature.COMMANDS, Feature.QUESTIONS, Feature.TIMEOUTS, Feature.DELAYS, Feature.CONSTANTS, Feature.SECRETS}
"""What takes no texts and outputs from one step to another."""


@dataclass(frozen=True, slots=True)
class Part:
    """A constant text: the line above it, the name of its block, and the text."""

    title: str
    name: str
    text: str


@cache
def part(module: str) -> Part:
    """A part of the driver, whose first line is its title."""
    text = files("backends.make").joinpath("driver", f"{module}.sh").read_text(encoding="utf-8").rstrip("\n")
    title, _, rest = text.partition("\n")
    return Part(title, "RDC_DRIVER" if module == "core" else f"RDC_MODULE_{module.upper()}", rest)


@dataclass(frozen=True)
class Needs:
    """What a program needs of the driver."""

    program: Program
    has_rules: bool

    @property
    def is_simple(self) -> bool:
        """Whether the program has no more than commands, verdicts, counters, numbers of instances, and settings."""
        references = (item for node in self.program.nodes for text in texts_of(node) for item in text.references)
        return (
            features_of(self.program) <= _SIMPLE
            and instances_alone(self.program)
            and not any(item.before or item.after or re.search("[0-9 =]", item.written) for item in references)
        )

    def modules(self, nodes: Nodes) -> Iterator[str]:
        """The modules that the program needs, in their order."""
        asks, is_rich = self.asks, not self.is_simple
        wanted_if = {
            "rules": self.has_rules,
            "choices": any(not is_node(node) for node in nodes.shown),
            "counters": is_rich or self.has_times or len(nodes.own) < len(self.program.registers),
            "retries": any(node.retries for node in self.program.nodes),
            "shared": bool(nodes.shared),
            "marks": self.is_simple and needs_texts(self.program),
            "texts": is_rich,
            "files": is_rich or self.needs_helper or bool(self.program.secrets),
            "asks": asks,
            "words": is_rich,
            "values": is_rich,
            "comparing": self._compares,
            "constants": any(node.constants for node in self.program.nodes),
            "inputs": bool(self.program.inputs),
            "misspelled": bool(self.program.inputs),
            "questions": asks and is_rich,
            "helper": self.needs_helper,
            "limits": self._has_timeouts or self.has_calls,
            "calls": self.has_calls,
            "contexts": self.has_calls and bool(self.program.contexts),
            "budget": self.has_calls,
            "breaks": self.has_calls,
            "by_hand": self.has_calls,
            "times": self.has_times,
            "secrets": bool(self.program.secrets),
            "steps": has_steps(self.program),
            "task": has_task(self.program),
            "artifact": self.program.artifact is not None,
            "reports": self._has_reports,
        }
        yield from (module for module, is_wanted in wanted_if.items() if is_wanted)

    @property
    def _has_reports(self) -> bool:
        """Whether answers are added to files."""
        return Feature.REPORTS in features_of(self.program)

    @property
    def has_times(self) -> bool:
        """Whether there are delays, or a limit."""
        return self.program.limit is not None or any(node.settings.delay for node in self.program.nodes)

    @property
    def _has_timeouts(self) -> bool:
        return any(isinstance(node.task, Shell) and node.settings.timeout for node in self.program.nodes)

    @property
    def has_calls(self) -> bool:
        """Whether there are agents or tools."""
        return calls(self.program)

    @property
    def asks(self) -> bool:
        """Whether some step can be answered: agents and tools without a command too."""
        return self.has(Ask, Gate) or self.has_calls

    @property
    def _compares(self) -> bool:
        tests = (test for node in self.program.nodes for edge in node.edges for test in edge.guard)
        return any(isinstance(test, SlotTest) for test in tests)

    @property
    def _has_fields(self) -> bool:
        """Whether fields are taken out of answers, or inputs have rules."""
        effects = (effect for node in self.program.nodes for edge in node.edges for effect in edge.effects)
        extracts = any(isinstance(effect, Keep) and effect.extract is not None for effect in effects)
        return extracts or any(declared.pattern is not None for declared in self.program.inputs)

    @property
    def needs_helper(self) -> bool:
        """Whether the Makefile needs python3: for what sh cannot say exactly."""
        return self._has_timeouts or self.has_calls or self._has_fields

    @property
    def calls_others(self) -> bool:
        """Whether a run comes to agents or tools, unless its operator takes it there."""
        return calls_others(self._optimised)

    @cached_property
    def _optimised(self) -> Program:
        return optimise(self.program)

    @property
    def _helper(self) -> str:
        return helper(
            fields=self._has_fields, limits=self._has_timeouts, calls=self.has_calls, reports=self._has_reports
        )

    @property
    def _has_verdicts(self) -> bool:
        """Whether there are questions that an agent may answer."""
        tasks = (node.task for node in self.program.nodes)
        return any(isinstance(task, Ask) and task.question in {"pass_fail", "yes_no"} for task in tasks)

    def has(self, *kinds: type) -> bool:
        """Whether the program has a task of one of some kinds."""
        return any(isinstance(node.task, kinds) for node in self.program.nodes)

    def texts(self, prefix: str) -> Iterator[str]:
        """The blocks of what is said to agents and tools, and of the programs for python3."""
        if self.calls_others:
            yield from define(prefix, "python_wanted", wanted(self._optimised))
        if self.calls_others and self._has_verdicts:
            yield from define(prefix, "python_question", QUESTION)
        if self.program.inputs or (self.asks and not self.is_simple):
            yield from define(prefix, "python_json", json_lines())
        if self.needs_helper:
            yield from define(prefix, "python_helper", self._helper)
