"""A run as data, from its state directory."""

import os
import shlex
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, convert
from msgspec.structs import replace

UNFINISHED = frozenset({"ready", "running", "waiting", "interrupted"})
"""The states of runs that can continue."""


class Error(Exception):
    """A call that can't work. `code` names the reason, `message` has the details, and `remedy` is one thing to do."""

    def __init__(self, code: str, message: str, remedy: str) -> None:
        super().__init__(code, message, remedy)
        self.code, self.message, self.help = code, message, remedy

    def __str__(self) -> str:
        return f"{self.message}; {self.help}"


class FinishedStep(Struct, frozen=True):
    """A finished step of a run.

    `transition` is the transition that it took, such as `GOTO Rollback`. `by` and `note` are those of a person's reply.
    `log` is the path of its log, or "".
    """

    step: str
    title: str
    outcome: str
    attempt: int = 1
    seconds: float = 0.0
    transition: str = ""
    by: str = ""
    note: str = ""
    log: str = ""


class Entry(Struct, frozen=True):
    """An entry of a parallel step: its name, its prompt, and whether it has an answer."""

    entry: str
    text: str
    answered: bool


class Asks(Struct, frozen=True):
    """The value that a question asks for: its name, its type, its options, and the pattern that it has to match."""

    name: str
    type: str
    options: tuple[str, ...] = ()
    pattern: str = ""


class Current(Struct, frozen=True):
    """The current step of a run. It shows no secrets.

    Attributes:
        step: The step's id.
        title: Its title.
        kind: `shell`, `ask`, `agent`, `tool`, `gate`, `parallel` or `stage`.
        by: Who acts: `rdc` runs the step, or an `agent` or a `person` answers it.
        text: The whole prompt or question.
        command: The command of a shell step, or "".
        replies: The replies that the step accepts; `-` is any text. An interrupted step has `again` too.
        asks: The value that the question asks for, or None.
        form: Whether one reply of a person in a form answers it: a checklist and a step that a rule reserves need more.
        outputs: The names of the values that the step hands on.
        attempt: The number of the attempt, from 1.
        entries: The entries of a parallel step.
        log: The path of its log, or "" if it has not written one.
    """

    step: str
    title: str
    kind: str
    by: str
    text: str = ""
    command: str = ""
    replies: tuple[str, ...] = ()
    asks: Asks | None = None
    form: bool = False
    outputs: tuple[str, ...] = ()
    attempt: int = 1
    entries: tuple[Entry, ...] = ()
    log: str = ""


def _reply(words: list[str]) -> str:
    """Return the reply of a command from its words after the step."""
    item = words.index("--item") if "--item" in words else 0
    return f"--item {words[item + 1]} {words[0]}" if item else words[0]


class Run(Struct, frozen=True):
    """A run, as it was when it was read.

    Attributes:
        name: The run's name in `rdc status`, such as `deploy@blue`.
        folder: The folder that the other paths and the commands start from.
        source: The path of its document from the project's root, or "" for a Makefile.
        document: The path of its document, or "" if the document is missing or the run is that of a Makefile.
        place: The options of `rdc run` that choose this run, such as `--as blue`.
        directory: The state directory, with the run's journal and logs.
        id: The run's id, or "" for a Makefile or an unreadable run.
        state: `ready`, `running`, `waiting`, `interrupted`, `complete`, `stop`, `expired` or `unreadable`.
        step: The current step, or "" after the end.
        question: The title and question of a waiting step.
        message: The message of the end, or the reason why the run can't be read, or not continue with this document.
        holder: The process that has the run now, with its user, place and start, or "".
        next: The shell commands that continue the run.
        finished: The finished steps, in order.
        current: The current step, or None after the end, or if the document has changed.
        at: The number of finished steps and the current step, such as `1:2`. `step` and `answer` take it.
    """

    name: str
    folder: str
    directory: str
    state: str
    source: str = ""
    document: str = ""
    place: tuple[str, ...] = ()
    id: str = ""
    step: str = ""
    question: str = ""
    message: str = ""
    next: tuple[str, ...] = ()
    finished: tuple[FinishedStep, ...] = ()
    holder: str = ""
    current: Current | None = None
    at: str = ""

    @property
    def choices(self) -> tuple[tuple[str, str], ...]:
        """The steps that wait with the replies that they accept; `-` is any text, `--item 2 done` answers an item."""
        calls = [shlex.split(command) for command in self.next]
        spots = [(words, words.index("answer")) for words in calls if "answer" in words]
        return tuple((words[at + 1], _reply(words[at + 2 :])) for words, at in spots if "--all" not in words[at:])


def with_facts(run: Run, facts: Mapping[str, Any]) -> Run:
    """Return a run with the facts that its own program shows."""
    is_over = facts["state"] not in UNFINISHED
    question = ": ".join(filter(None, (facts.get("step_title"), facts.get("question"))))
    return replace(
        run,
        **{key: facts.get(key, "") for key in ("source", "state", "message", "holder", "at")},
        id=facts.get("run", ""),
        step="" if is_over else facts["step"],
        question="" if is_over else question,
        next=tuple(facts["next"]),
        finished=tuple(finished_step(one, one["step"]) for one in facts.get("finished", ())),
        current=convert(facts.get("current"), Current | None),
    )


def finished_step(record: Mapping[str, Any], step: str) -> FinishedStep:
    """Return a finished step by its record or its facts."""
    keys = (("transition", "says"), ("by", "by"), ("note", "note"), ("log", "log"))
    about = {name: str(record.get(key, "")) for name, key in keys}
    title, outcome = (str(record.get(key, "")) for key in ("title", "outcome"))
    return FinishedStep(step, title, outcome, record.get("attempt", 1), record.get("seconds", 0.0), **about)


def options_for(directory: str, name: str) -> tuple[str, ...]:
    """Return the options of `rdc run` that choose the run in a state directory, by the name of its program.

    A label such as -h would be an option itself, so that run is chosen by its path.
    """
    own, sign, label = os.path.basename(directory).partition("@")
    if own == name and not sign:
        return ()
    if own == name and label[:1].isalnum():
        return "--as", label
    return "--state-dir", os.path.join(os.curdir, directory) if directory[:1] == "-" else directory
