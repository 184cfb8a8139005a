"""A case: a program, what is given to a run of it, and the path that must come of that, whatever the format.

The program, inputs and replies are plain JSON. Bytes that are no UTF-8 stand as `surrogateescape` has them. For each
step, by the name that its command logs, there is a list of replies, one for each call; the last goes on forever:

    shell     {"exit": 0, "says": "printed", "output": "written to RDC_OUTPUT" or null}
    agent     {"exit": 0, "answer": "printed"}, so do tools
    parallel  {"entries": [one for each agent]}
    ask       {"reply": true}; a number for a select, a text for an input
    gate      {"reply": true}

Where the step has a timeout, a reply may be `{"hangs": true}`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from compiler.diagnostics.model import Severity
from compiler.driver import compile_file
from compiler.ir.program import Program
from compiler.ir.serialize import to_json
from tests.support.program_json import from_json

Json = dict[str, Any]
CASE = "case.json"
NOWHERE = "nowhere"
"""A connection that no command is named for: only optional tools have it."""

OWN = "${RDC_RUN_ID:+}${RDC_ATTEMPT:+}"
"""Names the variables that a command looks at, and is nothing: a command that does not name them may not have them."""


@dataclass(frozen=True)
class Call:
    """What a command, an agent or a tool is given when it is called.

    `given` is what stands on its standard input, `arguments` are those of a command; `variables` are those of the node,
    `keeps` says whether RDC_OUTPUT names a file. `callee` is the agent type or the connection, `entry` the index in a
    parallel step.
    """

    step: str
    attempt: int
    given: str = ""
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    keeps: bool = False
    callee: str | None = None
    entry: int | None = None


@dataclass(frozen=True)
class Question:
    """What a person is asked, and the reply; a prompt of None is not compared."""

    prompt: str | None
    reply: str
    block: str | None = None
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Limits:
    """The time limit of a visit, None for none, the seconds that a run waits before it, and how long for a person."""

    timeout: int | None = None
    waits: int = 0
    expire: int = 0


@dataclass(frozen=True)
class Visit:
    """One time that a task is done: its calls or question, and its outcome.

    What an oracle does not know is None, or an empty `before`, and is not compared: the text of the outcome, the
    instances of the step, its limits, what the registers held before, and the outcomes of the steps around it that
    were settled then, inner ones first.
    """

    step: str
    attempt: int
    calls: tuple[Call, ...]
    question: Question | None
    word: str
    text: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    before: Mapping[str, int | str | None] = field(default_factory=dict)
    instances: Mapping[str, int] | None = None
    limits: Limits | None = None
    settles: tuple[tuple[str, str], ...] | None = None

    def __str__(self) -> str:
        """A word such as `1.{n}#2@.3+`: step, attempt if not the first, instances, outcome."""
        numbers = [str((self.instances or {}).get(f"RDC_{kind}_INSTANCE", "")) for kind in ("STEP", "SUBSTEP")]
        attempt = f"#{self.attempt}" if self.attempt > 1 else ""
        outcome = {"pass": "+", "fail": "-"}.get(self.word, f"={self.word}")
        return f"{self.step}{attempt}{'@' + '.'.join(numbers) if any(numbers) else ''}{outcome}"


@dataclass(frozen=True)
class Jump:
    """An operator's jump (E6) to a step after so many visits: from a prompt that waits, or after a STOP ("")."""

    index: int
    waiting: str
    step: str


@dataclass(frozen=True)
class Trace:
    """The visits, the end and its message, and what is left then; `end` is None where a path was cut off.

    `held` are the registers, `reports` the answers of each report, `artifact` is the file that a good run leaves.
    """

    visits: tuple[Visit, ...]
    end: tuple[str, str] | None
    held: Mapping[str, int | str | None] = field(default_factory=dict)
    jumps: tuple[Jump, ...] = ()
    reports: Mapping[str, Sequence[str]] | None = None
    artifact: tuple[str | None, ...] = ()
    """The text of the artifact, None for no file; nothing where it is not known."""

    def pauses(self, program: Json) -> list[int]:
        """How many seconds a run waits before each visit (I22)."""
        settings = {node["id"]: node.get("settings", {}) for node in program["nodes"]}
        found = [(settings.get(visit.step, {}), visit.attempt) for visit in self.visits]
        return [each.get("delay", 0) * each.get("backoff", 1) ** (n - 2) if n > 1 else 0 for each, n in found]

    def __str__(self) -> str:
        """The path on a line; `[3]1.2` is a jump from the step that waits, if one does, to where the run goes on."""
        words: list[str] = []
        for index, visit in enumerate([*self.visits, None]):
            words += [f"[{jump.waiting}]{jump.step}" for jump in self.jumps if jump.index == index]
            words += [str(visit)] if visit else []
        return " ".join([*words, "=>", *(self.end or ("cut off",))]).strip()


@dataclass(frozen=True)
class Case:
    """Something to compare targets on. The path is the one of its format's oracle, or else of programs (`path_of`)."""

    program: Json
    inputs: Mapping[str, str] = field(default_factory=dict)
    replies: Mapping[str, list[Json]] = field(default_factory=dict)
    trace: Trace | None = None
    secrets: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    """The documents that it comes from by their paths, the one that is run first; a program as JSON has none."""

    def reply(self, step: str, number: int) -> Json:
        """The reply to a visit of a step, counted from 0."""
        replies = self.replies[step]
        return replies[min(number, len(replies) - 1)]

    @cached_property
    def text(self) -> str:
        return json.dumps(self.program, indent=1, ensure_ascii=False)

    @cached_property
    def unnamed(self) -> Case:
        """The same case, whose commands name no variables: a target refuses those that belong to no run."""
        return replace(self, program=json.loads(self.text.replace(OWN, "")))

    @cached_property
    def compiled(self) -> Program:
        return from_json(self.text)

    def write(self, folder: Path) -> None:
        """Keep a case as files: its documents as they are, and the rest as JSON in `case.json`."""
        for path, text in self.documents.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(text.encode())
        whole = {key: part for key, part in _plain(self).items() if key not in ("program", "documents")}
        whole |= {"main": next(iter(self.documents))} if self.documents else {"program": self.program}
        (folder / CASE).write_text(json.dumps(whole, indent=1) + "\n", encoding="ascii")

    @classmethod
    def read(cls, folder: Path) -> Case:
        """The case of a folder; documents are compiled."""
        whole = json.loads((folder / CASE).read_text(encoding="ascii"))
        trace = msgspec.convert(whole["trace"], Trace) if "trace" in whole else None
        given = (whole.get("inputs", {}), whole.get("replies", {}), trace, whole.get("secrets", {}))
        if "program" in whole:
            return cls(whole["program"], *given)
        paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != CASE)
        texts = {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in paths}
        documents = {whole["main"]: texts.pop(whole["main"]), **texts}
        return cls(json.loads(to_json(compiled(documents))), *given, documents)

    def __repr__(self) -> str:
        """The documents or the program, and what is given, for the report of a failing test."""
        shown = "".join(f"\n----- {path}\n{text}" for path, text in self.documents.items()) or f"\n{self.text}"
        given = f"inputs {json.dumps(dict(self.inputs))}\nreplies {json.dumps(dict(self.replies))}"
        return f"{shown}\n----- given\n{given}\n----- path\n{self.trace}\n"


def _plain(value: Any) -> Any:
    """A value as JSON, without what is usual in it."""
    if is_dataclass(value) and not isinstance(value, type):
        found = {}
        for item in fields(value):
            usual = item.default_factory() if item.default_factory is not MISSING else item.default
            if (part := getattr(value, item.name)) != usual:
                found[item.name] = _plain(part)
        return found
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple | list) else value


def compiled(documents: Mapping[str, str]) -> Program:
    """What rdc makes of documents, of which it compiles the first; it must find no error in them."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {**documents, "rdc.toml": ""}.items():
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode())
        found = compile_file(str(Path(folder) / next(iter(documents))))
    errors = [f"{item.code} {item.message}" for item in found.diagnostics if item.severity is Severity.ERROR]
    same("the errors of the document", errors, [])
    assert found.program
    return found.program


LONGEST = 600


class DifferenceError(AssertionError):
    """A target does something else than the rules say. `output` is what was printed meanwhile."""

    def __init__(self, what: str, got: object, expected: object, output: str = "") -> None:
        super().__init__(what)
        self.what, self.got, self.expected, self.output = what, got, expected, output

    def __str__(self) -> str:
        """Where the two part, and the last lines that were printed."""
        got, expected, place = self.got, self.expected, ""
        if isinstance(got, list) and isinstance(expected, list):
            first = _first_difference(got, expected)
            place = f", first at {first} (of {len(got)}; {len(expected)} expected)"
            got, expected = got[first : first + 2], expected[first : first + 2]
        printed = "".join(f"\n  | {line}" for line in self.output.splitlines()[-8:])
        return f"{self.what}{place}:\n  got      {_short(got)}\n  expected {_short(expected)}{printed}"


def _short(value: object) -> str:
    shown = str(value)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…"


def _first_difference(got: Sequence[object], expected: Sequence[object]) -> int:
    pairs = zip(got, expected, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(got), len(expected)))


def same(what: str, got: object, expected: object, output: str = "") -> None:
    """Raise a difference where there is one."""
    if got != expected:
        raise DifferenceError(what, got, expected, output)
