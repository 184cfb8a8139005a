"""What a program uses beyond nodes, outcomes and counters: a target declares what it carries (architecture: the IR)."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple, assert_never

from compiler.ir.program import (
    Agent,
    Ask,
    Branch,
    CounterTest,
    End,
    Gate,
    KeywordTest,
    Node,
    OutcomeTest,
    Parallel,
    Program,
    Shell,
    SlotTest,
    Task,
    Test,
    Tool,
)


class Feature(StrEnum):
    """A thing that a target has to be made for. Its value is its name, in the plural."""

    COMMANDS = "commands"
    QUESTIONS = "questions"
    REPLIES = "replies"
    AGENTS = "agents"
    TOOLS = "tools"
    PARALLEL = "parallel"
    GATES = "gates"
    VALUES = "values"
    KEYWORDS = "keywords"
    INPUTS = "inputs"


IN_WORDS = {
    Feature.COMMANDS: "a command",
    Feature.QUESTIONS: "a question that is answered with pass or fail, yes or no",
    Feature.REPLIES: "a question that is answered with a text, a choice or a confirmation",
    Feature.AGENTS: "a call of an agent",
    Feature.TOOLS: "a call of a tool",
    Feature.PARALLEL: "calls of agents at the same time",
    Feature.GATES: "a gate that a person opens",
    Feature.VALUES: "a text that is kept, or a test on one",
    Feature.KEYWORDS: "a test on the keyword of an answer",
    Feature.INPUTS: "declared inputs",
}
"""What a unit has that uses a feature, for messages."""


class Use(NamedTuple):
    """A feature and the node that uses it; None where it belongs to the whole program."""

    feature: Feature
    node: Node | None


def uses(program: Program) -> Iterator[Use]:
    """Every use of a feature, in document order, each once for a node."""
    if program.inputs:
        yield Use(Feature.INPUTS, None)
    if program.slots:
        yield Use(Feature.VALUES, None)
    for node in program.nodes:
        tests = (test for edge in node.edges for test in edge.guard)
        found = [*_of_task(node.task), *(feature for test in tests for feature in _of_test(test))]
        yield from (Use(feature, node) for feature in dict.fromkeys(found))


def _of_task(task: Task) -> Iterator[Feature]:
    match task:
        case Shell():
            yield Feature.COMMANDS
        case Ask(question=question, slot=slot):
            yield Feature.QUESTIONS if question in {"pass_fail", "yes_no"} else Feature.REPLIES
            yield from _of_slot(slot)
        case Agent(slot=slot):
            yield Feature.AGENTS
            yield from _of_slot(slot)
        case Tool(slot=slot):
            yield Feature.TOOLS
            yield from _of_slot(slot)
        case Parallel(entries):
            yield Feature.PARALLEL
            for entry in entries:
                yield from _of_slot(entry.slot)
        case Gate():
            yield Feature.GATES
        case Branch() | End():
            return
        case _:
            assert_never(task)


def _of_slot(slot: str | None) -> Iterator[Feature]:
    if slot is not None:
        yield Feature.VALUES


def _of_test(test: Test) -> Iterator[Feature]:
    match test:
        case OutcomeTest() | CounterTest():
            return
        case SlotTest():
            yield Feature.VALUES
        case KeywordTest():
            yield Feature.KEYWORDS
        case _:
            assert_never(test)
