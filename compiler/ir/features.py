"""Features of programs beyond nodes, outcomes and counters. Each target declares the features it supports."""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, assert_never

from compiler.ir.edges import Add, AtLeast, Clear, Edge, Effect, Keep, Reset, Set
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Reading, Shell, Stage, Task, Tool


class Feature(StrEnum):
    """A feature that a target must support explicitly. Its value is a plural name."""

    COMMANDS = "commands"
    QUESTIONS = "questions"
    REPLIES = "replies"
    CHECKLISTS = "checklists"
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
    EXPIRY = "expiry"
    VISITS = "visits"
    LIMITS = "limits"
    CONSTANTS = "constants"
    SECRETS = "secrets"
    ARTIFACTS = "artifacts"
    CONTEXTS = "contexts"
    REPORTS = "reports"
    CONTRACTS = "contracts"
    NOTICES = "notices"
    RULES = "rules"


IN_WORDS = {
    Feature.COMMANDS: "a command",
    Feature.QUESTIONS: "a pass/fail or yes/no question",
    Feature.REPLIES: "a question for text, a choice or a confirmation",
    Feature.CHECKLISTS: "a checklist",
    Feature.AGENTS: "an agent call",
    Feature.KEYWORDS: "an answer with keywords",
    Feature.TOOLS: "a tool call",
    Feature.OPTIONAL_TOOLS: "an optional tool call",
    Feature.PARALLEL: "parallel agent calls",
    Feature.GATES: "a gate",
    Feature.TEXTS: "stored strings",
    Feature.OUTPUTS: "a command with outputs",
    Feature.EXTRACTS: "a field extracted from an answer",
    Feature.INPUTS: "inputs",
    Feature.TIMEOUTS: "a time limit",
    Feature.DELAYS: "a delay between attempts",
    Feature.EXPIRY: "a limit on the wait for a person",
    Feature.VISITS: "a limit on its visits",
    Feature.LIMITS: "a limit on the number of steps",
    Feature.CONSTANTS: "environment variables",
    Feature.SECRETS: "required secrets",
    Feature.ARTIFACTS: "a file as its result",
    Feature.CONTEXTS: "a context for prompts",
    Feature.REPORTS: "a report of answers",
    Feature.CONTRACTS: "a step with a contract",
    Feature.NOTICES: "a command for notices",
    Feature.RULES: "rules about the order of its steps",
}
"""Names of the features in messages: "step 1, which has ..."."""


class Use(NamedTuple):
    """A feature and the node that uses it; None if the whole program uses it."""

    feature: Feature
    node: Node | None


def uses(program: Program) -> Iterator[Use]:
    """Yield every use of a feature in document order, once per node."""
    whole = (
        (Feature.INPUTS, program.inputs),
        (Feature.TEXTS, program.slots),
        (Feature.LIMITS, program.limit is not None),
        (Feature.SECRETS, program.secrets),
        (Feature.ARTIFACTS, program.artifact),
        (Feature.CONTEXTS, program.contexts),
        (Feature.REPORTS, program.folder),
        (Feature.NOTICES, program.notify),
        (Feature.RULES, program.rules),
    )
    yield from (Use(feature, None) for feature, is_used in whole if is_used)
    limited = [counter.of for counter in program.counters if counter.role == "visits"]
    for node in program.nodes:
        visits = (Feature.VISITS,) if node.id in limited else ()
        for feature in dict.fromkeys((*visits, *_of_node(node, node.edges if program.slots else ()))):
            yield Use(feature, node)


def uses_beyond(program: Program, carried: frozenset[Feature]) -> Iterator[Use]:
    """Yield the uses of features that are not in `carried`."""
    if len(carried) == len(Feature):
        return iter(())
    return (use for use in uses(program) if use.feature not in carried)


def features_of(program: Program) -> frozenset[Feature]:
    """Return the features that a program uses."""
    return frozenset(use.feature for use in uses(program))


def _of_node(node: Node, edges: Iterable[Edge]) -> list[Feature]:
    found = [*_of_task(node.task)]
    if node.settings.timeout is not None:
        found.append(Feature.TIMEOUTS)
    if node.settings.delay:
        found.append(Feature.DELAYS)
    if node.settings.expire:
        found.append(Feature.EXPIRY)
    if node.constants:
        found.append(Feature.CONSTANTS)
    for edge in edges:
        found += [Feature.TEXTS for test in edge.guard if test.kind == "slot"]
        for effect in edge.effects:
            found += _of_effect(effect)
    return found


def _of_task(task: Task) -> Sequence[Feature]:
    match task:
        case Shell():
            return (Feature.COMMANDS,)
        case Ask(question=question, items=items):
            kind = Feature.QUESTIONS if question in {"pass_fail", "yes_no"} else Feature.REPLIES
            return (kind, Feature.CHECKLISTS) if items else (kind,)
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


def _of_effect(effect: Effect) -> Sequence[Feature]:
    match effect:
        case Reset() | Set() | Add() | AtLeast():
            return ()
        case Keep(of=of, extract=extract):
            stored = Feature.OUTPUTS if of == "output" else Feature.TEXTS
            return (stored, Feature.EXTRACTS) if extract is not None else (stored,)
        case Clear():
            return (Feature.TEXTS,)
        case _:
            assert_never(effect)
