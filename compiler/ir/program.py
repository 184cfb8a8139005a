"""The intermediate representation: one control-flow graph for all formats (architecture: the IR).

A program is a list of nodes with guarded edges. A run stands at one node, does the node's task, gets an outcome,
takes the first edge whose guard holds, applies that edge's effects to the registers and goes to its target.
Everything is frozen and holds tuples only, so that a program can be hashed, compared and shared.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, assert_never

from compiler.source import Span


class Verdict(StrEnum):
    """The two outcomes of a unit."""

    PASS = "pass"  # noqa: S105 (not a password)
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a node or edge was written: the path as its source shows it, and the span there."""

    path: str
    span: Span


# --- Tasks: what a node does before it chooses an edge -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shell:
    """Run a command with `bash -c` or `sh -c`; exit code 0 is PASS (M2). `prompt` is what stands above it, Markdown."""

    interpreter: Literal["bash", "sh"]
    command: str
    prompt: str = ""
    kind: Literal["shell"] = "shell"


@dataclass(frozen=True, slots=True)
class Ask:
    """Put a question to a person, a script of answers or an agent (M3, P11).

    `prompt` is Markdown; `block` is an instructional code block shown beneath it, `language` its tag. `options` belong
    to `select`; `slot` is the text register that keeps the reply of `input`, `confirm` and `select`.
    """

    question: Literal["pass_fail", "yes_no", "confirm", "input", "select"]
    prompt: str
    block: str | None = None
    language: str = ""
    options: tuple[str, ...] = ()
    slot: str | None = None
    kind: Literal["ask"] = "ask"


@dataclass(frozen=True, slots=True)
class Agent:
    """Give a prompt to the configured agent command and read its answer (P16, P20, W6).

    `validation` is a regular expression that the answer must match (W8); `keywords` are the verdicts looked for in it
    (W9); `extract` is the JSON field that `slot` keeps instead of the whole answer (P10).
    """

    agent: str
    system: str
    prompt: str
    report: str | None = None
    report_format: str = ""
    validation: str | None = None
    keywords: tuple[str, ...] = ()
    extract: str | None = None
    slot: str | None = None
    kind: Literal["agent"] = "agent"


@dataclass(frozen=True, slots=True)
class Tool:
    """Call a tool by connection and name with JSON arguments (P13, B9)."""

    connection: str
    tool: str
    arguments: str
    slot: str | None = None
    kind: Literal["tool"] = "tool"


@dataclass(frozen=True, slots=True)
class Parallel:
    """Give several prompts to agents at the same time and join their verdicts by index (W12)."""

    entries: tuple[Agent, ...]
    check: Literal["all", "any"]
    kind: Literal["parallel"] = "parallel"


@dataclass(frozen=True, slots=True)
class Gate:
    """Wait until a person lets the run through (W13, B8)."""

    gate: str
    reason: str
    kind: Literal["gate"] = "gate"


@dataclass(frozen=True, slots=True)
class Branch:
    """Do nothing: the node only chooses among its edges."""

    kind: Literal["branch"] = "branch"


@dataclass(frozen=True, slots=True)
class End:
    """End the program, or, where the node has edges, a nested runbook in it (M8)."""

    result: Literal["complete", "stop"]
    message: str = ""
    kind: Literal["end"] = "end"


Task = Shell | Ask | Agent | Tool | Parallel | Gate | Branch | End


# --- Edges: how a run goes on ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OutcomeTest:
    """Holds if the node's task had this verdict."""

    verdict: Verdict
    kind: Literal["outcome"] = "outcome"


@dataclass(frozen=True, slots=True)
class CounterTest:
    """Holds if a counter compares so with a number."""

    register: str
    operator: Literal["<", ">=", "="]
    value: int
    kind: Literal["counter"] = "counter"


@dataclass(frozen=True, slots=True)
class SlotTest:
    """Holds if a text register equals a text, exactly (P14)."""

    slot: str
    operator: Literal["==", "!="]
    text: str
    kind: Literal["slot"] = "slot"


@dataclass(frozen=True, slots=True)
class KeywordTest:
    """Holds if the agent's answer gave this keyword (W9)."""

    keyword: str
    kind: Literal["keyword"] = "keyword"


Test = OutcomeTest | CounterTest | SlotTest | KeywordTest


@dataclass(frozen=True, slots=True)
class Set:
    """Give a counter a value."""

    register: str
    value: int
    kind: Literal["set"] = "set"


@dataclass(frozen=True, slots=True)
class Add:
    """Add a number, or the value of another counter, to a counter."""

    register: str
    amount: int | str
    kind: Literal["add"] = "add"


@dataclass(frozen=True, slots=True)
class AtLeast:
    """Raise a counter to a value if it is below."""

    register: str
    value: int
    kind: Literal["at_least"] = "at_least"


@dataclass(frozen=True, slots=True)
class Reset:
    """Give every counter of a scope, and of the scopes within it, its initial value."""

    scope: str
    kind: Literal["reset"] = "reset"


Effect = Set | Add | AtLeast | Reset


@dataclass(frozen=True, slots=True)
class Edge:
    """A way on from a node. The guard is a conjunction, empty for always; effects apply in order.

    `label` is what the author wrote (`RETRY 3`, `GOTO 4`), and `origins` are the places of the transitions that fire
    with this edge, the unit's own first; a default (M6) has none.
    """

    guard: tuple[Test, ...]
    effects: tuple[Effect, ...]
    target: str
    label: str
    origins: tuple[Origin, ...] = ()


# --- Nodes and the program -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Variable:
    """An instance number that a node can see (M4, M5).

    The environment variable `name` carries the value of `register`; in the node's own texts `placeholder`, if any,
    is replaced by it, except where a `$` stands before.
    """

    name: str
    register: str
    placeholder: str | None


@dataclass(frozen=True, slots=True)
class Node:
    """One place of the walk.

    `id` is what people call it (`1.2`, `{N}.1`, `2/lint.runbook.md/1`), `group` the id of the innermost group it stands
    in ("" for none), `retries` the counter whose value plus one is the number of the attempt (M4).
    """

    id: str
    title: str
    origin: Origin
    task: Task
    edges: tuple[Edge, ...]
    group: str = ""
    variables: tuple[Variable, ...] = ()
    retries: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A step with children or a nested runbook: what a picture draws as a frame. `prompt` is Markdown."""

    id: str
    title: str
    prompt: str
    kind: Literal["step", "runbook"]
    parent: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Register:
    """An integer counter. Its scope is the part of the document whose fresh start resets it ("" for the whole run)."""

    name: str
    scope: str
    initial: int = 0


@dataclass(frozen=True, slots=True)
class Slot:
    """A text register."""

    name: str
    initial: str = ""


@dataclass(frozen=True, slots=True)
class Input:
    """A value that is given when a run starts (P7)."""

    name: str
    type: Literal["string", "text", "number", "boolean", "enum"]
    description: str = ""
    default: str | None = None
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A document that the program was compiled from."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Program:
    """A whole document, with everything it includes, as one graph. The first source is the document itself."""

    name: str
    title: str
    sources: tuple[SourceFile, ...]
    entry: str
    nodes: tuple[Node, ...]
    groups: tuple[Group, ...] = ()
    registers: tuple[Register, ...] = ()
    slots: tuple[Slot, ...] = ()
    inputs: tuple[Input, ...] = ()

    def index(self) -> dict[str, Node]:
        """The nodes by their ids."""
        return {node.id: node for node in self.nodes}


def may_follow(edge: Edge, verdict: Verdict | None) -> bool:
    """Whether an edge can be taken after an outcome, its counters aside."""
    return all(test.verdict is verdict for test in edge.guard if isinstance(test, OutcomeTest))


def counter_tests(edge: Edge) -> list[CounterTest]:
    """What an edge asks of counters, for a target that carries neither values nor keywords.

    Raises:
        ValueError: The edge asks for more than an outcome and counters; the target should have refused the program.
    """
    found: list[CounterTest] = []
    for test in edge.guard:
        match test:
            case CounterTest():
                found.append(test)
            case OutcomeTest():
                pass  # the target has chosen the edges of an outcome before
            case SlotTest() | KeywordTest():
                raise ValueError(f"a test of the kind {test.kind} cannot be expressed")
            case _:
                assert_never(test)
    return found


def scope_members(registers: Iterable[Register]) -> dict[str, tuple[Register, ...]]:
    """For each scope the registers that a reset of it touches, in order: its own, and those of the scopes within it.

    Scopes nest by `/`: a reset of `2/lint.runbook.md` touches what is in `2/lint.runbook.md/1` too.
    """
    members: dict[str, list[Register]] = {}
    for register in registers:
        scope = register.scope
        while scope:
            members.setdefault(scope, []).append(register)
            scope = scope.rpartition("/")[0]
    return {scope: tuple(found) for scope, found in members.items()}
