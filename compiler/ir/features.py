"""What a program uses beyond nodes, outcomes and counters: a target declares what it carries (architecture: the IR)."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple, assert_never

from compiler.ir.edges import (
    Add,
    AtLeast,
    Clear,
    CounterTest,
    Edge,
    Effect,
    Keep,
    OutcomeTest,
    Reset,
    Set,
    SlotTest,
    Test,
)
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Reading, Shell, Stage, Task, Tool


class Feature(StrEnum):
    """A thing that a target has to be made for. Its value is its name, in the plural."""

    COMMANDS = "commands"
    QUESTIONS = "questions"
    REPLIES = "replies"
    AGENTS = "agents"
    KEYWORDS = "keywords"
    TOOLS = "tools"
    OPTIONAL_TOOLS = "optional-tools"
    PARALLEL = "parallel"
    GATES = "gates"
    TEXTS = "texts"
    OUTPUTS = "outputs"
    EXTRACTS = "extracts"
    INPUTS = "inputs"
    TIMEOUTS = "timeouts"
    DELAYS = "delays"
    LIMITS = "limits"
    CONSTANTS = "constants"
    SECRETS = "secrets"
    ARTIFACTS = "artifacts"
    CONTEXTS = "contexts"
    REPORTS = "reports"
    CONTRACTS = "contracts"


IN_WORDS = {
    Feature.COMMANDS: "a command",
    Feature.QUESTIONS: "a question that is answered with pass or fail, yes or no",
    Feature.REPLIES: "a question that is answered with a text, a choice or a confirmation",
    Feature.AGENTS: "a call of an agent",
    Feature.KEYWORDS: "an answer that is read for keywords",
    Feature.TOOLS: "a call of a tool",
    Feature.OPTIONAL_TOOLS: "a call of a tool that may have no command",
    Feature.PARALLEL: "calls of agents at the same time",
    Feature.GATES: "a gate that a person opens",
    Feature.TEXTS: "a text that is kept, or a test on one",
    Feature.OUTPUTS: "a command that gives outputs",
    Feature.EXTRACTS: "a field that is taken out of an answer",
    Feature.INPUTS: "declared inputs",
    Feature.TIMEOUTS: "a time limit",
    Feature.DELAYS: "a delay between attempts",
    Feature.LIMITS: "a limit of steps that are run",
    Feature.CONSTANTS: "environment variables of its own",
    Feature.SECRETS: "secrets that must be set",
    Feature.ARTIFACTS: "a file that a run leaves",
    Feature.CONTEXTS: "a text that stands above prompts",
    Feature.REPORTS: "a report that answers are added to",
    Feature.CONTRACTS: "a stage of a step that has a contract",
}
"""What a step has that uses a feature, for messages."""


class Use(NamedTuple):
    """A feature and the node that uses it; None where it belongs to the whole program."""

    feature: Feature
    node: Node | None


def uses(program: Program) -> Iterator[Use]:
    """Every use of a feature, in document order, each once for a node."""
    if program.inputs:
        yield Use(Feature.INPUTS, None)
    if program.slots:
        yield Use(Feature.TEXTS, None)
    if program.limit is not None:
        yield Use(Feature.LIMITS, None)
    if program.secrets:
        yield Use(Feature.SECRETS, None)
    if program.artifact is not None:
        yield Use(Feature.ARTIFACTS, None)
    if program.contexts:
        yield Use(Feature.CONTEXTS, None)
    if program.folder:
        yield Use(Feature.REPORTS, None)
    for node in program.nodes:
        found = [*_of_task(node.task), *_of_settings(node), *(use for edge in node.edges for use in _of_edge(edge))]
        yield from (Use(feature, node) for feature in dict.fromkeys(found))


def features_of(program: Program) -> frozenset[Feature]:
    """The features that a program uses."""
    return frozenset(use.feature for use in uses(program))


def _of_task(task: Task) -> Iterator[Feature]:
    match task:
        case Shell():
            yield Feature.COMMANDS
        case Ask(question=question):
            yield Feature.QUESTIONS if question in {"pass_fail", "yes_no"} else Feature.REPLIES
        case Agent(reading=reading):
            yield Feature.AGENTS
            yield from _of_reading(reading)
            yield from _of_report(task.report)
        case Tool(optional=is_optional):
            yield Feature.TOOLS
            if is_optional:
                yield Feature.OPTIONAL_TOOLS
        case Parallel(entries):
            yield Feature.PARALLEL
            yield from (feature for entry in entries for feature in _of_reading(entry.reading))
            yield from _of_report(task.report)
        case Gate():
            yield Feature.GATES
        case Stage():
            yield Feature.CONTRACTS
        case Branch() | End():
            return
        case _:
            assert_never(task)


def _of_reading(reading: Reading) -> Iterator[Feature]:
    if reading.keywords:
        yield Feature.KEYWORDS


def _of_report(report: str) -> Iterator[Feature]:
    if report:
        yield Feature.REPORTS


def _of_settings(node: Node) -> Iterator[Feature]:
    if node.settings.timeout is not None:
        yield Feature.TIMEOUTS
    if node.settings.delay:
        yield Feature.DELAYS
    if node.constants:
        yield Feature.CONSTANTS


def _of_edge(edge: Edge) -> Iterator[Feature]:
    for test in edge.guard:
        yield from _of_test(test)
    for effect in edge.effects:
        yield from _of_effect(effect)


def _of_test(test: Test) -> Iterator[Feature]:
    match test:
        case OutcomeTest() | CounterTest():
            return
        case SlotTest():
            yield Feature.TEXTS
        case _:
            assert_never(test)


def _of_effect(effect: Effect) -> Iterator[Feature]:
    match effect:
        case Set() | Add() | AtLeast() | Reset():
            return
        case Keep(of=of, extract=extract):
            yield Feature.OUTPUTS if of == "output" else Feature.TEXTS
            if extract is not None:
                yield Feature.EXTRACTS
        case Clear():
            yield Feature.TEXTS
        case _:
            assert_never(effect)
