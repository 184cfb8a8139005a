"""Tasks: the work of nodes, and their possible outcomes (I9 to I15)."""

from collections.abc import Callable
from enum import StrEnum
from typing import Literal, assert_never

from msgspec import Struct
from msgspec.structs import replace

from compiler.ir.texts import Text
from runtime_shim.tasks.verdicts import Joining


class Verdict(StrEnum):
    """The two outcomes of a runbook's step."""

    PASS = "pass"  # noqa: S105 (not a password)
    FAIL = "fail"


PASS_OR_FAIL = (Verdict.PASS.value, Verdict.FAIL.value)
FAILED = "failed"
"""The outcome of an agent with keywords that gave no answer (I12)."""

UNREAD = ("none", "invalid", "ambiguous", FAILED)
"""The outcomes of an agent with keywords whose answer has no keyword (I12)."""


class Shell(Struct, frozen=True):  # I9
    """Run a command with `bash -c` or `sh -c`. `prompt` is the Markdown above it."""

    interpreter: Literal["bash", "sh"]
    command: Text
    prompt: Text = Text()
    kind: Literal["shell"] = "shell"


class Value(Struct, frozen=True):  # I10
    """The value that a question asks for: its name for people, and its checks, which are those of an input."""

    name: str
    type: Literal["string", "number", "choice"] = "string"
    options: tuple[str, ...] = ()
    pattern: str | None = None


class Ask(Struct, frozen=True):  # I10
    """Ask a person, a script of answers or an agent.

    `prompt` is Markdown. `block` is a code block shown below it, and `language` its tag. `options` belong to `select`,
    and `value` to `value`. `items` are the items of its checklist, each a line; PASS needs all of them.
    """

    question: Literal["pass_fail", "yes_no", "confirm", "input", "select", "value"]
    prompt: Text
    block: Text | None = None
    language: str = ""
    options: tuple[Text, ...] = ()
    value: Value | None = None
    items: tuple[Text, ...] = ()
    kind: Literal["ask"] = "ask"


class Reading(Struct, frozen=True):  # I12
    """How to read a keyword from an answer.

    `validation` is a regular expression that must match somewhere in the answer, unless its keyword is in `excused`. A
    keyword in `failing` also counts at the start of a line with its reason.
    """

    keywords: tuple[str, ...] = ()
    validation: str | None = None
    excused: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()


class Agent(Struct, frozen=True):  # I11, I29, I31
    """Send a prompt to the command of an agent type ("" for the default agent) and read its answer.

    `context` is the name of the context above the prompt, or "". `report` is the name of the report that stores the
    answer, or "".
    """

    agent: str
    prompt: Text
    reading: Reading = Reading()
    context: str = ""
    report: str = ""
    kind: Literal["agent"] = "agent"


class Tool(Struct, frozen=True):  # I13
    """Call a tool of a connection. `arguments` is a text with a JSON object.

    An `optional` tool fails immediately if its connection has no command.
    """

    connection: str
    tool: str
    arguments: Text
    optional: bool = False
    kind: Literal["tool"] = "tool"


class Parallel(Struct, frozen=True):  # I14, I29
    """Call several agents at the same time and join their outcomes in order.

    `report` is the name of the report that stores all answers of a round. Each entry also has its own report.
    """

    entries: tuple[Agent, ...]
    check: Literal["all", "any"] = "all"
    failing: tuple[str, ...] = ()
    unanimous: tuple[str, ...] = ()
    report: str = ""
    kind: Literal["parallel"] = "parallel"

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keywords of all entries, without duplicates."""
        return tuple(dict.fromkeys(keyword for entry in self.entries for keyword in entry.reading.keywords))

    @property
    def failing_words(self) -> tuple[str, ...]:
        """The failing outcomes of entries. Without keywords it is `fail`."""
        return self.failing if self.keywords else (Verdict.FAIL.value,)

    @property
    def joining(self) -> Joining:
        """How to join the words of its entries."""
        decides = any(set(entry.reading.keywords) - set(self.unanimous) for entry in self.entries)
        return Joining(self.check, self.failing_words, self.unanimous, decides)


class Gate(Struct, frozen=True):  # I15
    """Wait until a person approves the gate."""

    gate: str
    reason: Text = Text()
    kind: Literal["gate"] = "gate"


class Branch(Struct, frozen=True):
    """Do nothing except choose an edge."""

    kind: Literal["branch"] = "branch"


class End(Struct, frozen=True):  # I2
    """End the program, or a nested runbook if the node has an edge."""

    result: Literal["complete", "stop"]
    message: Text = Text()
    kind: Literal["end"] = "end"


Check = Literal["exists", "parses", "ast", "types", "lint"]
"""The checks of a validation: files exist, files parse; Python files compile, pass type checks, pass linting."""

StageKind = Literal["inputs", "context", "tool", "execute", "guardrails", "validation", "outputs"]
"""The stages of an attempt, in order. A step may have several tools."""


class Stage(Struct, frozen=True):  # I32
    """Do one stage of an attempt at a step of the program's contract.

    `paths` are the files of the stage: inputs and templates, files to validate, or outputs. `subject` is the name of a
    tool, or the evidence level of an `outputs` stage. `place` is the index of a call in the step's `tools`. `checks`
    are the checks of a `validation` stage.
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
"""The tasks of nodes without work. `type(task) in IDLE` takes a fifth of the time of `isinstance`."""


def alphabet(task: Task) -> tuple[str, ...]:
    """Return the possible outcomes of a task in a stable order; none for a node without a task."""
    match task:  # the most frequent first, to save time
        case Shell():
            return PASS_OR_FAIL
        case Ask("confirm"):
            return ("yes", "no")
        case Ask("input"):
            return (Verdict.PASS.value,)
        case Ask("select", options=options):
            return tuple(map(str, options))
        case End() | Branch():
            return ()
        case Ask() | Tool() | Stage():
            return PASS_OR_FAIL
        case Agent(reading=reading):
            return (*reading.keywords, *UNREAD) if reading.keywords else PASS_OR_FAIL
        case Parallel():
            return (*task.keywords, *UNREAD) if task.keywords else PASS_OR_FAIL
        case Gate():
            return ("approved", "rejected")
        case _:
            assert_never(task)


def map_task_texts(task: Task, change: Callable[[Text], Text]) -> Task:
    """Return a task with every text changed."""
    match task:
        case Shell():
            return replace(task, command=change(task.command), prompt=change(task.prompt))
        case Ask():
            block = None if task.block is None else change(task.block)
            options = tuple(map(change, task.options))
            items = tuple(map(change, task.items))
            return replace(task, prompt=change(task.prompt), block=block, options=options, items=items)
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
    """Return the agents that a task calls."""
    if isinstance(task, Parallel):
        return task.entries
    return (task,) if isinstance(task, Agent) else ()


def map_agents(task: Task, change: Callable[[Agent], Agent]) -> Task:
    """Return a task with every agent changed."""
    if isinstance(task, Parallel):
        return replace(task, entries=tuple(map(change, task.entries)))
    return change(task) if isinstance(task, Agent) else task


def task_texts(task: Task) -> tuple[Text, ...]:
    """Return the texts that a task shows or sends, without commands."""
    match task:
        case Shell(prompt=prompt):
            return (prompt,)
        case Ask(prompt=prompt, block=block, options=options, items=items):
            return (prompt, *((block,) if block is not None else ()), *options, *items)
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
