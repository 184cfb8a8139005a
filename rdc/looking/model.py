"""The JSON that the server of `rdc view` sends to its page, and the JSON that it takes.

| route | gives |
| --- | --- |
| `GET /api/document` | `Document` |
| `GET /api/picture` | the SVG, or a `Failure`: 409 above `MOST_BOXES` without `?draw=anyway`, 503 without Graphviz |
| `GET /api/runs` | `RunList` |
| `GET /api/runs/RUN/events?after=N&run=ID` | a stream of events, as `EVENTS` lists them |
| `GET /api/runs/RUN/log/N?from=BYTE` | the text of the log of visit N, at most 64 KB |
| `POST /api/runs/RUN/answer` | takes `Reply`; gives `Answered`, or 409 with `Refused` |

RUN is the `key` of a run, percent-encoded. A stream sends all visits unless the run still has the id ID. A log has the
headers `Log-From`, `Log-Next` and `Log-Size`, in bytes. Without `from`, or if the log has become shorter, it is the end
of the log. All other failures give a `Failure`: 400 a wrong request, 401 a wrong token,
403 a foreign page, 404 an unknown run or path, 405, 413 a body that is too long, 415, 421 a wrong `Host`.

A time is a string such as `2026-11-29T08:40:00.123456Z`, or "" if the journal has none.
"""

import json
from typing import TypeVar

import msgspec
from msgspec import Struct

Data = TypeVar("Data", bound=Struct)

MOST_BOXES = 300
"""With more boxes, the page shows the outline until someone asks for the picture."""


class Found(Struct, frozen=True):
    """A diagnostic of the document. `severity` is `error`, `warning` or `note`; `line` is 0 for the whole file."""

    code: str
    severity: str
    path: str
    line: int
    message: str
    help: str


class Step(Struct, frozen=True):
    """A step or an end of the document, in its order. Texts have placeholders such as `{{VERSION}}`.

    `kind` is `shell`, `ask`, `agent`, `tool`, `gate`, `parallel`, `stage`, `branch` or `end`. `at` is the place in the
    source, such as `deploy.runbook.md:12`. `result` is `complete` or `stop` for an end.
    """

    id: str
    title: str
    kind: str
    at: str
    text: str = ""
    command: str = ""
    result: str = ""


class Box(Struct, frozen=True):
    """A box of the picture: the id of its element in the SVG, its step, and the step that a copy of an end belongs to.

    An end with many arrows has a copy for each step: `step` is then the end, and `source` the step.
    """

    id: str
    step: str
    source: str = ""


class Arrow(Struct, frozen=True):
    """An arrow of the picture: the id of its element, the steps that it connects, and the outcomes that take it.

    `source` is "" for the arrow from the start. Without `outcomes`, every outcome takes it.
    """

    id: str
    source: str
    target: str
    outcomes: tuple[str, ...] = ()


class Document(Struct, frozen=True):
    """The document as it is now. After an error, everything but `diagnostics` is of the last version without errors.

    `edition` grows with each change. `drawn` is the edition of the steps and the picture: smaller than `edition` after
    an error, 0 if no version compiled. `is_large` is whether the picture has more than `MOST_BOXES` boxes, without the
    copies of ends. `continues` is whether an answer continues the run. `database` is that of the workers without its
    password, or "" for runs on this machine.
    """

    file: str
    title: str
    edition: int
    drawn: int = 0
    diagnostics: tuple[Found, ...] = ()
    steps: tuple[Step, ...] = ()
    boxes: tuple[Box, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    is_large: bool = False
    continues: bool = False
    database: str = ""


class RunEntry(Struct, frozen=True):
    """A run of the document. `state` is as in `State`, and `until` is the time of the last record.

    `key` names the run in addresses. It stays the same when a new run takes the place of one that is over. `name` is
    the one in `rdc status`, such as `deploy@blue`. `message` is that of the end, or the reason why it can't be read. An
    archived run never changes. `worker` is the host and process of the worker that has it.
    """

    key: str
    name: str
    id: str
    state: str
    started: str = ""
    until: str = ""
    step: str = ""
    message: str = ""
    is_archived: bool = False
    worker: str = ""


class RunList(Struct, frozen=True):
    """The runs: first the current ones, then the archived ones, each from the newest. `chosen` is a key or ""."""

    chosen: str
    runs: tuple[RunEntry, ...]


class Asked(Struct, frozen=True):
    """The value that a question asks for: its name, `text`, `confirm`, `select` or another type, options, pattern."""

    name: str
    type: str
    options: tuple[str, ...] = ()
    pattern: str = ""


class Item(Struct, frozen=True):
    """An entry of a parallel step: its name, its prompt, and whether it has an answer."""

    entry: str
    text: str
    answered: bool


class Question(Struct, frozen=True):
    """The question that a run waits with, with values. `kind` is as in `Step`.

    An answer repeats the place `at`: another place refuses it. A reply `-` is any text. `entries` are those of a
    parallel step. Without `form`, the page only shows the shell commands that answer.
    """

    step: str
    at: str
    title: str
    text: str
    kind: str
    since: str = ""
    replies: tuple[str, ...] = ()
    asks: Asked | None = None
    entries: tuple[Item, ...] = ()
    form: bool = False
    commands: tuple[str, ...] = ()


class State(Struct, frozen=True):
    """Everything about a run but its visits. `key`, `name`, `message` and `worker` are as in `RunEntry`.

    Attributes:
        run: The run's id. Another id means that a new run has taken the place of the old one.
        state: `none`, `ready`, `running`, `waiting`, `interrupted`, `complete`, `stop`, `expired`, `unreadable`; at
            workers also `queued`, `paused`, `halted`, `refused`, `failed` and `canceled`.
        edition: The edition of the document.
        is_same: Whether the document still has the version that the run started with.
        since: When the current step started, or the run ended.
        step: The current step; after the end, that end.
        instance: The instance in a loop, such as `2` or `1.3`, or "".
        total: How many visits the run has. The current step is visit `total + 1`, also for its log.
        holder: The process that has the run, with user, place and start, or "". It may be a terminal that asks.
        has_logs: Whether the run has logs. Otherwise the page shows the option `--logs`.
        next: The shell commands that continue the run.
        question: The question of a waiting run. None also while it is read: another event `state` has it.
        notice: A sentence such as `No worker of this version is running.`, or "".
    """

    key: str
    name: str
    run: str
    state: str
    edition: int
    is_same: bool = True
    started: str = ""
    since: str = ""
    step: str = ""
    title: str = ""
    attempt: int = 1
    instance: str = ""
    total: int = 0
    message: str = ""
    holder: str = ""
    has_logs: bool = False
    next: tuple[str, ...] = ()
    question: Question | None = None
    worker: str = ""
    notice: str = ""


class Visit(Struct, frozen=True):
    """A finished step of a run, with values. `n` is its number, from 1, and also that of its log.

    Attributes:
        count: The number of the visit to this step, from 1. Two runs are matched by step, attempt and count.
        outcome: `pass`, `fail`, `goto`, `retry`, `canceled` or another word.
        word: The outcome as people read it, such as `YES`.
        how: How it came about, such as `exit code 1`, `answered` or `timed out after 5 s`.
        transition: The transition that it took, such as `GOTO Rollback`.
        path: The boxes of the picture between the step and the `next` one: branches and nested ends.
        took: The seconds that it took; for a question, the seconds until the reply.
        by: The person or agent that decided, or "". `note` is the reason.
        is_decision: Whether a person decided it.
        outputs: The values that changed, cut after 1,000 characters each.
        instance: As in `State`.
    """

    n: int
    step: str
    title: str
    attempt: int
    count: int
    outcome: str
    word: str
    is_failed: bool
    how: str
    transition: str
    next: str
    path: tuple[str, ...] = ()
    took: float = 0.0
    started: str = ""
    ended: str = ""
    by: str = ""
    note: str = ""
    is_decision: bool = False
    outputs: dict[str, str] = {}
    remarks: tuple[str, ...] = ()
    instance: str = ""


class Visits(Struct, frozen=True):
    """Visits of a run. The page keeps the first `after` visits that it has, and appends these."""

    run: str
    after: int
    visits: tuple[Visit, ...]


class Changed(Struct, frozen=True):
    """The document or the list of runs has changed: fetch it. `edition` is that of the document."""

    edition: int


EVENTS = {"state": State, "visits": Visits, "document": Changed, "runs": Changed}
"""The events of a stream and their data. A stream starts with `state` and the visits after N; a comment is sent at
least every 15 s. Visits come in the order of their numbers, at most 1,000 in an event."""


class Reply(Struct, frozen=True, forbid_unknown_fields=True):
    """An answer from the page. `at` is that of the question; `step` is the step, or an entry of a parallel step."""

    step: str
    at: str
    reply: str
    by: str
    note: str = ""


class Answered(Struct, frozen=True):
    """An answer was recorded. `continues` is whether the run continues now; otherwise `next` continues it."""

    continues: bool
    next: tuple[str, ...] = ()


class Refused(Struct, frozen=True):
    """The engine refused an answer. If another person was first, `decided` is that visit."""

    error: str
    help: str = ""
    decided: Visit | None = None


class Failure(Struct, frozen=True):
    """Why a request failed."""

    error: str


def checked(data: Data) -> Data:
    """Return data with the types of its fields. It may come from records that anyone has written.

    Raises:
        ValueError: A field has another type.
    """
    return msgspec.convert(msgspec.to_builtins(data), type(data))


def encoded(data: Struct) -> bytes:
    """Return data as JSON. A name of a file may have bytes that aren't text."""
    try:
        return msgspec.json.encode(data)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(data)).encode()
