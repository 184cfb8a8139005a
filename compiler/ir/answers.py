"""Turn answers of processes and people into outcomes (I9 to I15)."""

import re
from collections.abc import Sequence
from typing import assert_never

from compiler.ir.patterns import sample
from compiler.ir.semantics import Outcome
from compiler.ir.tasks import (
    Agent,
    Ask,
    Branch,
    End,
    Gate,
    Parallel,
    Shell,
    Stage,
    Task,
    Tool,
    Value,
    Verdict,
    agents_of,
    alphabet,
)
from runtime_shim.io.reading import AGENT_SECONDS, SPACES, TOOL_SECONDS, decoded
from runtime_shim.tasks.verdicts import Reading, joined_answer, joined_word, look, read_word
from runtime_shim.values.fitting import MOST_TRIES, in_time, outcome_of

MOST_ALTERNATIVES = 10
"""A pattern with more alternatives is matched with a time limit: those in several groups multiply."""

Answer = bytes | None
"""The standard output of a process; None if it failed or wrote too much."""


def of_agent(task: Agent, answer: Answer) -> Outcome:
    """Return the outcome of an agent call (I11, I12)."""
    output = None if answer is None else decoded(answer)
    return Outcome(_word(task, output, task.reading.failing), output or "")


def of_tool(answer: Answer) -> Outcome:
    """Return the outcome of a tool call (I13)."""
    return Outcome("fail") if answer is None else Outcome("pass", decoded(answer))


def of_parallel(task: Parallel, answers: Sequence[Answer]) -> Outcome:
    """Return the outcome of a parallel step. The answers are in the order of its entries (I14)."""
    output = [None if answer is None else decoded(answer) for answer in answers]
    words = [_word(entry, one, task.failing) for entry, one in zip(task.entries, output, strict=True)]
    return Outcome(joined_word(words, task.joining), joined_answer(output))


def of_reply(task: Ask | Gate, reply: str, options: Sequence[str] = ()) -> Outcome | None:
    """Return the outcome of a person's reply; None if the question doesn't accept it (I10, I15)."""
    if isinstance(task, Gate):
        return Outcome(reply) if reply in {"approved", "rejected"} else None
    match task.question:
        case "pass_fail" | "yes_no":
            word = {"yes": "pass", "no": "fail"}.get(reply.lower(), reply.lower())
            return Outcome(word, reply) if word in {"pass", "fail"} else None
        case "confirm":
            return Outcome(reply, reply) if reply in {"yes", "no"} else None
        case "input":
            return Outcome("pass", reply.strip(SPACES))
        case "value":
            return _of_value(task.value, reply.strip(SPACES)) if task.value else None
        case "select":
            return Outcome(str(task.options[options.index(reply)]), reply) if reply in options else None
        case _:
            assert_never(task.question)


def _of_value(value: Value, reply: str) -> Outcome | None:
    word, _ = outcome_of(reply, value.type, value.options, value.pattern)
    return Outcome(word, reply) if word else None


def example(value: Value) -> str:
    """Return a valid reply to a question for a value, or "" if none is found."""
    tried = (*value.options, "a value", "1", sample(value.pattern) if value.pattern else "")
    return next((one for one in tried if _of_value(value, one) == Outcome("pass", one)), "")


def of_text(task: Task, said: str, options: Sequence[str] = ()) -> Outcome | None:
    """Return a task's outcome from a string: a reply, an answer, or the outcome itself.

    None if the task can't have this outcome. `options` are the filled-in options of a select.
    """
    match task:
        case Ask() | Gate():
            return of_reply(task, said, options)
        case Agent():
            return of_agent(task, said.encode())
        case Shell() | Tool() | Parallel() | Stage():
            return Outcome(said) if said in alphabet(task) else None
        case Branch() | End():
            return None
        case _:
            assert_never(task)


def usual_seconds(task: Task) -> int:
    """Return the default time limit of a task in seconds; 0 for no limit (I21)."""
    if isinstance(task, Tool):
        return TOOL_SECONDS
    return AGENT_SECONDS if isinstance(task, Agent | Parallel) else 0


def usual(task: Task) -> Outcome:
    """Return the default outcome of a task in a mock run: success."""
    match task:
        case Shell() | Tool() | Stage():
            return Outcome("pass")
        case Ask(question="confirm"):
            return Outcome("yes", "yes")
        case Ask(question="select", options=options):
            return Outcome(str(options[0]), str(options[0]))
        case Ask(value=Value() as value):
            return Outcome("pass", example(value))
        case Ask():
            return Outcome("pass")
        case Agent(reading=reading):
            return Outcome(_first_word(task, reading.excused))
        case Parallel():
            return Outcome(_first_word(task, task.unanimous))
        case Gate():
            return Outcome("approved")
        case Branch() | End():
            raise ValueError(f"a node of the kind {task.kind} has no outcome")
        case _:
            assert_never(task)


def _first_word(task: Task, special: Sequence[str]) -> str:
    return next(word for word in alphabet(task) if word not in special)


def _word(task: Agent, answer: str | None, failing: Sequence[str]) -> str:
    own = task.reading
    return read_word(answer, Reading(own.keywords, own.validation, own.excused, failing), _look)[0]


def _look(function: str, pattern: str, answer: str) -> object:
    """Look for a pattern in an answer. Patterns that may be slow get a time limit."""
    repetitions = sum(map(pattern.count, "*+?{"))
    is_plain = pattern.count("|") <= MOST_ALTERNATIVES and not (repetitions and "(" in pattern)
    # Each repetition multiplies the time by at most the length.
    if is_plain and (len(answer) + 1) ** (repetitions + 1) <= MOST_TRIES:
        return look(function, pattern, answer)
    return in_time(function, re.IGNORECASE, pattern, answer) or ()


WORDS = {Verdict.PASS.value: "PASS", Verdict.FAIL.value: "FAIL"}
ANSWERS = {Verdict.PASS.value: "YES", Verdict.FAIL.value: "NO"}


def spoken(task: Task, word: str) -> str:
    """Return a word for display: in capitals if it is rdc's, unchanged if an author chose it."""
    if isinstance(task, Ask) and task.question == "yes_no":
        return ANSWERS.get(word, word)
    return word if is_chosen(task) else word.upper()


def is_chosen(task: Task) -> bool:
    """Return whether an author chose the words of a task: a question's options, an answer's keywords."""
    if isinstance(task, Ask):
        return task.question == "select"
    return any(agent.reading.keywords for agent in agents_of(task))
