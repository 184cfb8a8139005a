"""Tasks: what a node does before it chooses an edge, and the words that may come of it (I9 to I15)."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Literal, assert_never

from msgspec import Struct
from msgspec.structs import replace

from compiler.ir.texts import Text


class Verdict(StrEnum):
    """The two words that a step of a runbook ends with."""

    PASS = "pass"  # noqa: S105 (not a password)
    FAIL = "fail"


PASS_OR_FAIL = (Verdict.PASS.value, Verdict.FAIL.value)
FAILED = "failed"
"""The word of an agent with keywords that gave no answer (I12)."""

UNREAD = ("none", "invalid", "ambiguous", FAILED)
"""The words of an agent with keywords whose answer gave none of them (I12)."""


class Shell(Struct, frozen=True):
    """Run a command with `bash -c` or `sh -c` (I9). `prompt` is what stands above it, Markdown."""

    interpreter: Literal["bash", "sh"]
    command: Text
    prompt: Text = Text()
    kind: Literal["shell"] = "shell"


class Ask(Struct, frozen=True):
    """Put a question to a person, a script of answers or an agent (I10).

    `prompt` is Markdown; `block` is an instructional code block shown below it, `language` its tag. `options` belong
    to `select`.
    """

    question: Literal["pass_fail", "yes_no", "confirm", "input", "select"]
    prompt: Text
    block: Text | None = None
    language: str = ""
    options: tuple[Text, ...] = ()
    kind: Literal["ask"] = "ask"


class Reading(Struct, frozen=True):
    """How an answer becomes a word (I12).

    `keywords` are looked for in it, `validation` is a regular expression that must match somewhere in it, unless the
    keyword is one of `excused`.
    """

    keywords: tuple[str, ...] = ()
    validation: str | None = None
    excused: tuple[str, ...] = ()


class Agent(Struct, frozen=True):
    """Give a prompt to the command of an agent type ("" for the common one) and read its answer (I11).

    `context` names the context that the prompt stands below, "" for none (I31).
    `report` is the name of the report that answers are added to, "" for none (I29).
    """

    agent: str
    prompt: Text
    reading: Reading = Reading()
    context: str = ""
    report: str = ""
    kind: Literal["agent"] = "agent"


class Tool(Struct, frozen=True):
    """Call a tool of a connection; the arguments are a JSON object as a text (I13).

    An `optional` one fails at once where no command is named for the connection.
    """

    connection: str
    tool: str
    arguments: Text
    optional: bool = False
    kind: Literal["tool"] = "tool"


class Parallel(Struct, frozen=True):
    """Call several agents at the same time and join their words by index (I14).

    `report` is the name of the report of all answers of a round; those of each entry go to one of its own too (I29).
    """

    entries: tuple[Agent, ...]
    check: Literal["all", "any"] = "all"
    failing: tuple[str, ...] = ()
    unanimous: tuple[str, ...] = ()
    report: str = ""
    kind: Literal["parallel"] = "parallel"

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keywords of all entries, each once."""
        return tuple(dict.fromkeys(keyword for entry in self.entries for keyword in entry.reading.keywords))

    @property
    def failing_words(self) -> tuple[str, ...]:
        """The words of entries that are failing: `fail` where no entry has keywords."""
        return self.failing if self.keywords else (Verdict.FAIL.value,)


class Gate(Struct, frozen=True):
    """Wait until a person lets the run through (I15)."""

    gate: str
    reason: Text = Text()
    kind: Literal["gate"] = "gate"


class Branch(Struct, frozen=True):
    """Do nothing: the node only chooses among its edges."""

    kind: Literal["branch"] = "branch"


class End(Struct, frozen=True):
    """End the program, or, where the node has edges, a nested one in it (I2)."""

    result: Literal["complete", "stop"]
    message: Text = Text()
    kind: Literal["end"] = "end"


Check = Literal["exists", "parses", "ast", "types", "lint"]
"""What a validation looks for: files are there, they parse; Python files can be run, have sound types and style."""

StageKind = Literal["inputs", "context", "tool", "execute", "guardrails", "validation", "outputs"]
"""The stages of an attempt at a step, in their order; a step may have several tools."""


class Stage(Struct, frozen=True):
    """Do one stage of an attempt at a step of the program's contract (I32).

    `paths` are what the stage looks at: inputs and templates, what is validated, outputs. `subject` is the name of a
    tool, or the level of the evidence that an `outputs` stage records; `place` says which call of the step's `tools` a
    tool is. `checks` are what a `validation` looks for.
    """

    stage: StageKind
    step: str
    subject: str = ""
    place: int = 0
    paths: tuple[Text, ...] = ()
    checks: tuple[Check, ...] = ()
    kind: Literal["stage"] = "stage"


Task = Shell | Ask | Agent | Tool | Parallel | Gate | Stage | Branch | End

IDLE = (Branch, End)
"""Nodes with these have no task. `type(task) in IDLE` takes a fifth of the time of `isinstance`."""


def alphabet(task: Task) -> tuple[str, ...]:
    """The words that the outcome of a task may have, in a stable order; none for a node without a task."""
    match task:  # the most frequent first: it takes time to look at each
        case Shell():
            return PASS_OR_FAIL
        case Ask(question, options=options):
            return _of_question(question, options)
        case End() | Branch():
            return ()
        case Tool() | Stage():
            return PASS_OR_FAIL
        case Agent(reading=reading):
            return (*reading.keywords, *UNREAD) if reading.keywords else PASS_OR_FAIL
        case Parallel():
            return (*task.keywords, *UNREAD) if task.keywords else PASS_OR_FAIL
        case Gate():
            return ("approved", "rejected")
        case _:
            assert_never(task)


def _of_question(question: str, options: tuple[Text, ...]) -> tuple[str, ...]:
    match question:
        case "confirm":
            return ("yes", "no")
        case "input":
            return (Verdict.PASS.value,)
        case "select":
            return tuple(str(option) for option in options)
        case _:
            return PASS_OR_FAIL


def no_answer(task: Task) -> str:
    """The word of a task that could not be done: its process failed, took too long or said too much."""
    return FAILED if FAILED in alphabet(task) else Verdict.FAIL.value


def map_task_texts(task: Task, change: Callable[[Text], Text]) -> Task:
    """A task with every text in it changed."""
    match task:
        case Shell():
            return replace(task, command=change(task.command), prompt=change(task.prompt))
        case Ask():
            block = None if task.block is None else change(task.block)
            options = tuple(map(change, task.options))
            return replace(task, prompt=change(task.prompt), block=block, options=options)
        case Agent():
            return replace(task, prompt=change(task.prompt))
        case Tool():
            return replace(task, arguments=change(task.arguments))
        case Parallel():
            return replace(task, entries=tuple(replace(e, prompt=change(e.prompt)) for e in task.entries))
        case Gate():
            return replace(task, reason=change(task.reason))
        case Stage():
            return replace(task, paths=tuple(map(change, task.paths)))
        case End():
            return replace(task, message=change(task.message))
        case Branch():
            return task
        case _:
            assert_never(task)


def agents_of(task: Task) -> tuple[Agent, ...]:
    """The agents that a task calls."""
    if isinstance(task, Parallel):
        return task.entries
    return (task,) if isinstance(task, Agent) else ()


def map_agents(task: Task, change: Callable[[Agent], Agent]) -> Task:
    """A task with every agent that it calls changed."""
    if isinstance(task, Parallel):
        return replace(task, entries=tuple(map(change, task.entries)))
    return change(task) if isinstance(task, Agent) else task


def task_texts(task: Task) -> tuple[Text, ...]:
    """The texts that a task shows or sends, a command aside."""
    match task:
        case Shell(prompt=prompt):
            return (prompt,)
        case Ask(prompt=prompt, block=block, options=options):
            return (prompt, *((block,) if block is not None else ()), *options)
        case End(message=message):
            return (message,)
        case Branch():
            return ()
        case Agent(prompt=prompt):
            return (prompt,)
        case Tool(arguments=arguments):
            return (arguments,)
        case Parallel(entries):
            return tuple(entry.prompt for entry in entries)
        case Gate(reason=reason):
            return (reason,)
        case Stage(paths=paths):
            return paths
        case _:
            assert_never(task)
