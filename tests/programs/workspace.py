"""A case in a folder, ready to run: what its commands, agents and tools go by, and what they have logged."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from compiler.ir.tasks import Tool
from compiler.passes import optimize
from tests.equivalence.difference import same
from tests.equivalence.execution import HOSTILE_FOLDER, errors
from tests.programs import stub
from tests.programs.cases import NOWHERE, SUFFIXES, Call, Case, Json, Trace
from tests.programs.filling import filled
from tests.programs.reports import AFTER_FOLDER, BEFORE_FOLDER, PLACE, reports_of, shown_folder
from tests.support.program_json import from_json

if TYPE_CHECKING:
    from backends.base import Emission

FOLDER = "YARDSTICK"
EMITTING = Lock()
"""Python 3.11 cannot parse Python in two threads at once (python/cpython#106905), as the bundling of runtimes does."""

FOLDER_SHOWN = re.compile(f"{BEFORE_FOLDER}(.*?){AFTER_FOLDER}", re.DOTALL)
OF_WORKFLOWS = re.compile(r"^(Reports are in: )/.*/reports$", re.MULTILINE)
"""How agents of workflows are told where reports lie (W6)."""

HEADING = re.compile(r"^## \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$", re.MULTILINE)

STUB = f'"$YARDSTICK_PYTHON" -I -S "${FOLDER}/stub.py"'


@dataclass(frozen=True)
class Workspace:
    """A case, its path, and the folder that it is run in."""

    case: Case
    trace: Trace
    folder: Path
    said: list[str] = field(default_factory=list)
    """What the processes of the run have printed."""

    def emitted(self, backend: str, options: Mapping[str, object] | None = None) -> str:
        """What a target makes of the program; it must not refuse what it says that it carries."""
        return self._emission(backend, options).text or ""

    def lay(self, backend: str, name: str, options: Mapping[str, object] | None = None) -> bool:
        """Write what a target makes of the program, and what it needs beside it; whether that is a program."""
        emission = self._emission(backend, options)
        (self.folder / name).write_bytes((emission.text or "").encode())
        for companion in emission.companions:
            (self.folder / companion.path).parent.mkdir(exist_ok=True)
            (self.folder / companion.path).write_bytes(companion.text.encode())
        return bool(emission.companions)

    def _emission(self, backend: str, options: Mapping[str, object] | None) -> Emission:
        from backends.registry import load  # noqa: PLC0415 (the semantics need no target)

        with EMITTING:
            emission = load(backend).emit(from_json(self.case.text), options or {})
        same(f"why the {backend} target refuses", [found.message for found in errors(emission)], [])
        assert emission.text
        return emission

    @property
    def environment(self) -> dict[str, str]:
        """The environment to run in: without what another run may have left."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("RDC_", "MAKE", "MFLAGS"))}
        return clean | self.yardstick

    @property
    def yardstick(self) -> dict[str, str]:
        """What the stub needs to know."""
        return {FOLDER: str(self.folder), "YARDSTICK_PYTHON": sys.executable}

    @property
    def agents(self) -> dict[str, str]:
        """The commands of the agent types; a target knows nothing of what no run reaches."""
        found = {
            agent.agent for task in self._tasks for agent in getattr(task, "entries", [task]) if agent.kind == "agent"
        }
        return {each: f"{STUB} agent {shlex.quote(each or '-')}" for each in sorted(found)}

    @property
    def tools(self) -> dict[str, str]:
        """The commands of the connections."""
        found = {task.connection for task in self._tasks if isinstance(task, Tool)}
        return {each: f"{STUB} tool {each}" for each in sorted(found - {NOWHERE})}

    @cached_property
    def _tasks(self) -> list[Any]:
        return [node.task for node in optimize(from_json(self.case.text)).nodes]

    @property
    def asked(self) -> list[tuple[str, str]]:
        """The questions in order: the step and the reply."""
        return [(visit.step, visit.question.reply) for visit in self.trace.visits if visit.question]

    def write_answers(self, *, as_json: bool = False) -> Path:
        """A file with the replies for all questions: as texts of several lines, or JSON."""
        path = self.folder / "answers"
        if as_json:
            steps = dict.fromkeys(step for step, _ in self.asked)
            replies = {step: [reply for other, reply in self.asked if other == step] for step in steps}
            path.write_text(json.dumps(replies), encoding="utf-8")
        else:
            path.write_bytes("".join(answer_lines(step, reply) for step, reply in self.asked).encode())
        return path

    # --- What was done ------------------------------------------------------------------------------------------------

    def lines(self) -> list[Json]:
        """What was logged; a line that is torn by a kill is none."""
        path = self.folder / "log"
        text = path.read_text(encoding="ascii") if path.exists() else ""
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def check_calls(self, said: str = "") -> None:
        """Compare what was called, and with what, with the calls of the path."""
        lines = self.lines()
        expected = [call for visit in self.trace.visits for call in visit.calls]
        same(
            "the calls", [comparable(call_of(line)) for line in in_order(lines)], list(map(comparable, expected)), said
        )
        same("whether all calls are of one run", len({line["run"] for line in lines}) <= 1, True, said)
        for line in lines:
            step = line["step"] if line["entry"] is None else f"{line['step']}_{line['entry']}"
            if line["kind"] != "shell":  # for commands, not all targets set it
                same("RDC_STEP", line["named"], step, said)

        self._check_pauses(lines, said)

    def check_artifact(self, folder: Path, said: str = "") -> None:
        """Compare the file that a good run leaves (I28)."""
        artifact, expected = self.case.program.get("artifact"), {}
        if not self.trace.held:
            return
        if artifact and self.trace.end and self.trace.end[0] == "COMPLETE":
            text = self.trace.held[artifact["slot"]]
            suffix = SUFFIXES.get(filled(artifact["type"], self.trace.held), "txt")
            expected = {} if text is None else {f"program.{suffix}": str(text)}
        found = {path.name: path.read_bytes().decode() for path in folder.glob("program.*") if path.is_file()}
        same("what the run leaves", found, expected, said)

    def check_reports(self, folder: Path, said: str = "") -> None:
        """Compare the reports in a folder, the dates in their headings aside, with those of the path (I29)."""
        found = sorted(folder.iterdir()) if folder.exists() else []
        texts = {path.name: HEADING.sub("##", path.read_bytes().decode()) for path in found}
        same("the reports", texts, reports_of(self.case, self.trace), said)

    def _check_pauses(self, lines: list[Json], said: str) -> None:
        """What is called after a pause is called so many seconds after all that was called before (I22)."""
        began = {(line["step"], line["number"]): line["time"] for line in lines}
        numbers: dict[str, int] = {}
        latest = 0.0
        for visit, pause in zip(self.trace.visits, self.trace.pauses(self.case.program), strict=True):
            number = numbers[visit.step] = numbers.get(visit.step, -1) + 1
            time = began.get((visit.step, number))
            if time is not None:
                same(f"whether {visit.step} waits for {pause} s", time - latest >= pause - 0.05, True, said)
                latest = time

    @property
    def end(self) -> str:
        """How the run must end, and its message, on one line."""
        return " ".join(" ".join(self.trace.end or ()).split())


def answer_lines(step: str, reply: str) -> str:
    """The lines of a file of answers that give a reply to a step."""
    return f"{step} {reply}\n" if is_plain(reply) else f"{step}<<END_OF_REPLY\n{reply}\nEND_OF_REPLY\n"


def is_plain(reply: str) -> bool:
    """Whether a line of a file of answers can be this reply."""
    return reply.isascii() and reply.isalpha() and len(reply) < 100


def in_order(lines: list[Json]) -> list[Json]:
    """The calls of a parallel step by their index: nobody knows which begins first."""
    found: list[Json] = []
    for _, group in groupby(lines, key=lambda line: (line["step"], line["entry"] and line["number"])):
        found += sorted(group, key=lambda line: int(line["entry"] or 0))
    return found


def call_of(line: Json) -> Call:
    """The call that a line of the log is about."""
    entry = None if line["entry"] is None else int(line["entry"])
    callee = None if line["kind"] == "shell" else line["name"].removeprefix("-" if line["kind"] == "agent" else "")
    attempt = int(line["attempt"] or 0)
    arguments, variables = tuple(line["arguments"]), line["variables"]
    given = OF_WORKFLOWS.sub(rf"\g<1>{PLACE}", FOLDER_SHOWN.sub(_folder, line["given"]), count=1)
    return Call(line["step"], attempt, given, arguments, variables, line["keeps"], callee, entry)


def _folder(found: re.Match[str]) -> str:
    """What stands for the folder of reports, which is another one with each driver (I30)."""
    path = found[1]
    return shown_folder(
        PLACE if Path(path).is_absolute() and path.endswith("/reports") else f"no folder of reports: {path}"
    )


def comparable(call: Call) -> tuple[Any, ...]:
    """What counts of a call: of what a tool is given, the JSON."""
    given: Any = call.given
    if given.startswith('{"tool": '):
        given = json.loads(given)
    return (call.step, call.attempt, given, call.arguments, dict(call.variables), call.keeps, call.callee, call.entry)


# --- Kills ------------------------------------------------------------------------------------------------------------


def go_back_to(workspace: Workspace, finished: int, answered: Collection[int] = ()) -> None:
    """Let the script go on behind so many visits: what was cut off is called again as before.

    `answered` are the entries of the step that was cut off which have answered: they are not called again.
    """
    steps = [visit.step for visit in workspace.trace.visits[:finished]]
    for node in workspace.case.program["nodes"]:
        for entry in (None, *map(str, range(len(node["task"].get("entries", []))))):
            counted = workspace.folder / "calls" / stub.key(node["id"], entry)
            stands = [visit.step for visit in workspace.trace.visits[finished : finished + 1]] == [node["id"]]
            is_done = stands and entry is not None and int(entry) in answered
            counted.write_bytes(b"." * (steps.count(node["id"]) + is_done))


def drop_repeated(workspace: Workspace) -> None:
    """Leave of each call only the last: those before were cut off, and must have been the same, and due."""
    kept: list[Json] = []
    for line in workspace.lines():
        places = [place for place, other in enumerate(kept) if _name(other) == _name(line)]
        for place in reversed(places):
            same("what is called again after a kill", {_name(other)[::2] for other in kept[place:]}, {_name(line)[::2]})
            # A runner that is killed while it writes to what it called has given the beginning alone.
            was_begun = line["given"].startswith(kept[place]["given"])
            again = {**line, "given": kept[place]["given"]} if was_begun else line
            same("what is given again", {**kept[place], "time": 0}, {**again, "time": 0})
            del kept[place]
        kept.append(line)
    text = "".join(json.dumps(line) + "\n" for line in kept)
    (workspace.folder / "log").write_text(text, encoding="ascii")


def _name(line: Json) -> tuple[str, str | None, int]:
    return line["step"], line["entry"], line["number"]


@contextmanager
def workspace(case: Case, trace: Trace, slow: float = 0.0) -> Iterator[Workspace]:
    """A case in a folder of its own, whose name is as hostile as people's are."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
        folder = Path(root, HOSTILE_FOLDER)
        (folder / "calls").mkdir(parents=True)
        prepared = Workspace(case, trace, folder)
        names = sorted({item["name"] for node in case.program["nodes"] for item in node.get("variables", [])})
        script = {"replies": dict(case.replies), "variables": names, "slow": slow}
        (folder / "script.json").write_text(json.dumps(script), encoding="ascii")
        (folder / "rdc.toml").touch()
        shutil.copy(stub.__file__, folder / "stub.py")
        yield prepared
