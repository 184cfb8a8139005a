"""What a program uses beyond nodes, outcomes and counters: a target declares what it carries (architecture: the IR)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, assert_never

from compiler.ir.edges import (
    Add,
    AtLeast,
    Clear,
    Edge,
    Effect,
    Keep,
    Reset,
    Set,
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
        for feature in dict.fromkeys(_of_node(node, node.edges if program.slots else ())):
            yield Use(feature, node)


def uses_beyond(program: Program, carried: frozenset[Feature]) -> Iterator[Use]:
    """The uses of all other features than some; where these are all there are, no node is looked at."""
    if len(carried) == len(Feature):
        return iter(())
    return (use for use in uses(program) if use.feature not in carried)


def features_of(program: Program) -> frozenset[Feature]:
    """The features that a program uses."""
    return frozenset(use.feature for use in uses(program))


def _of_node(node: Node, edges: Iterable[Edge]) -> list[Feature]:
    """The features of a node and of its edges, which have none where there are no slots."""
    found = [*_of_task(node.task), *_of_settings(node)]
    for edge in edges:
        found += [Feature.TEXTS for test in edge.guard if test.kind == "slot"]
        for effect in edge.effects:
            found += _of_effect(effect)
    return found


def _of_task(task: Task) -> Sequence[Feature]:
    match task:
        case Shell():
            return (Feature.COMMANDS,)
        case Ask(question=question):
            return (Feature.QUESTIONS if question in {"pass_fail", "yes_no"} else Feature.REPLIES,)
        case Branch() | End():
            return ()
        case Agent(reading=reading):
            return (Feature.AGENTS, *_of_reading(reading), *_of_report(task.report))
        case Tool(optional=is_optional):
            return (Feature.TOOLS, *((Feature.OPTIONAL_TOOLS,) if is_optional else ()))
        case Parallel(entries):
            keywords = (feature for entry in entries for feature in _of_reading(entry.reading))
            return (Feature.PARALLEL, *keywords, *_of_report(task.report))
        case Gate():
            return (Feature.GATES,)
        case Stage():
            return (Feature.CONTRACTS,)
        case _:
            assert_never(task)


def _of_reading(reading: Reading) -> Sequence[Feature]:
    return (Feature.KEYWORDS,) if reading.keywords else ()


def _of_report(report: str) -> Sequence[Feature]:
    return (Feature.REPORTS,) if report else ()


def _of_settings(node: Node) -> Sequence[Feature]:
    found: list[Feature] = []
    if node.settings.timeout is not None:
        found.append(Feature.TIMEOUTS)
    if node.settings.delay:
        found.append(Feature.DELAYS)
    if node.constants:
        found.append(Feature.CONSTANTS)
    return found


def _of_effect(effect: Effect) -> Sequence[Feature]:
    match effect:
        case Reset() | Set() | Add() | AtLeast():
            return ()
        case Keep(of=of, extract=extract):
            kept = Feature.OUTPUTS if of == "output" else Feature.TEXTS
            return (kept, Feature.EXTRACTS) if extract is not None else (kept,)
        case Clear():
            return (Feature.TEXTS,)
        case _:
            assert_never(effect)
