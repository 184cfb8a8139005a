"""A case in a folder, ready to run: what its commands, agents and tools go by, and what they have logged."""

import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from backends.base import Emission
from backends.python.edition import optimized
from backends.registry import load
from compiler.diagnostics.model import Severity
from compiler.ir.tasks import Tool
from tests.differential.case import NOWHERE, Call, Case, Json, Trace, same
from tests.differential.drivers import stub
from tests.differential.oracles.answers import filled, values_of
from tests.differential.oracles.program import AFTER_FOLDER, BEFORE_FOLDER, PLACE, report_answers, shown_folder

HOSTILE_FOLDER = 'it\'s "$HOME" é'
FOLDER = "YARDSTICK"
EMITTING = Lock()
"""Python 3.11 cannot parse Python in two threads at once (python/cpython#106905), as the bundling of runtimes does."""

FOLDER_SHOWN = re.compile(f"{BEFORE_FOLDER}(.*?){AFTER_FOLDER}", re.DOTALL)
OF_WORKFLOWS = re.compile(r"^(Reports are in: )/.*/reports$", re.MULTILINE)
"""How agents of workflows are told where reports lie (W6)."""

HEADING = re.compile(r"^## \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$", re.MULTILINE)
SUFFIXES = {
    "markdown": "md",
    "json": "json",
    "chartjs": "json",
    "mermaid": "mmd",
    "html_css": "html",
    "javascript": "js",
    "typescript": "ts",
}
"""What the file of a run is called by its type (I28)."""

STUB = f'"$YARDSTICK_PYTHON" -I -S "${FOLDER}/stub.py"'
VISIT = f'exec {STUB} visit "$@"\n'
NEXT_ANSWER = f'sh "${FOLDER}/next-answer"'
"""Prints the next of the answers, and takes it away, for who answers the questions of a run."""

NEXT_ANSWER_SCRIPT = f"""\
cd "${FOLDER}" && head -n 1 next && sed 1d next >rest && mv rest next
"""


class Asked(NamedTuple):
    """A question of a run, and the reply."""

    step: str
    reply: str


class Stop(NamedTuple):
    """A place where a run stops: the step that waits, "" after a STOP; and the reply, or where the operator jumps.

    A command that is not executed has what it would write, as it is written and by names. Of a checklist, all items
    are confirmed at once.
    """

    waiting: str
    jump: str = ""
    reply: str = ""
    output: str = ""
    values: Mapping[str, str] = {}
    has_list: bool = False


@dataclass(frozen=True)
class Workspace:
    """A case, its path, and the folder that it is run in."""

    case: Case
    trace: Trace
    folder: Path
    printed: list[str] = field(default_factory=list)
    """What the processes of the run have printed."""

    def emitted(self, backend: str, options: Mapping[str, object] | None = None) -> str:
        """What a target makes of the program; it must not refuse what it declares to carry."""
        emission = self.emission(backend, options)
        same(f"why the {backend} target refuses", [found.message for found in errors(emission)], [])
        assert emission.text
        return emission.text

    def lay(self, backend: str, name: str, options: Mapping[str, object] | None = None) -> bool:
        """Write what a target makes of the program, and what it needs beside it; whether that is a program."""
        (self.folder / name).write_bytes(self.emitted(backend, options).encode())
        companions = self.emission(backend, options).companions
        for companion in companions:
            (self.folder / companion.path).parent.mkdir(exist_ok=True)
            (self.folder / companion.path).write_bytes(companion.text.encode())
        return bool(companions)

    def emission(self, backend: str, options: Mapping[str, object] | None = None) -> Emission:
        """What a target makes of the program, or why it refuses; made once."""
        key = f"{backend} {json.dumps(options)}"
        with EMITTING:
            if key not in self._emissions:
                self._emissions[key] = load(backend).emit(self.case.compiled, options or {})
            return self._emissions[key]

    @cached_property
    def _emissions(self) -> dict[str, Emission]:
        return {}

    def with_operator(self, operator: str) -> dict[str, object]:
        """The option for what an operator can do, of documents; programs have the usual."""
        return {"operator": operator} if self.case.documents else {}

    @property
    def environment(self) -> dict[str, str]:
        """The environment to run in: without what another run may have left."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("RDC_", "MAKE", "MFLAGS"))}
        return {**clean, **self.yardstick, **self.case.secrets}

    @property
    def yardstick(self) -> dict[str, str]:
        """What the stub needs to know."""
        return {FOLDER: str(self.folder), "YARDSTICK_PYTHON": sys.executable}

    @property
    def state(self) -> Path:
        """The folder in which a run keeps what it needs."""
        return next((path for path in sorted((self.folder / ".rdc").glob("*")) if path.is_dir()), self.folder / ".rdc")

    @property
    def agents(self) -> dict[str, str]:
        """The commands of the agent types; a target knows nothing of what no run reaches."""
        found = {
            agent.agent for task in self._tasks for agent in getattr(task, "entries", [task]) if agent.kind == "agent"
        }
        return {each: f"{STUB} agent {shlex.quote(each or '-')}" for each in sorted(found)}

    @property
    def tools(self) -> dict[str, str]:
        found = {task.connection for task in self._tasks if isinstance(task, Tool)}
        return {each: f"{STUB} tool {each}" for each in sorted(found - {NOWHERE})}

    @cached_property
    def _tasks(self) -> list[Any]:
        return [node.task for node in optimized(self.case.compiled, is_full=True)[1].nodes]

    @property
    def asked(self) -> list[Asked]:
        return [Asked(visit.step, visit.question.reply) for visit in self.trace.visits if visit.question]

    def stops(self, *, is_prompted: bool = False) -> Iterator[Stop]:
        """Where the run stops, each time with what is done: a prompt is answered, or the operator jumps.

        In a prompted run commands are prompts too.
        """
        jumps = list(self.trace.jumps)
        lists = {node.id for node in self.case.compiled.nodes if getattr(node.task, "items", ())}
        for index, (visit, output) in enumerate(zip(self.trace.visits, self._outputs(), strict=True)):
            while jumps and jumps[0].index == index:
                yield Stop(jumps[0].waiting, jumps.pop(0).step)
            if visit.question:
                yield Stop(visit.step, "", visit.question.reply, has_list=visit.step in lists)
            elif is_prompted:
                yield Stop(visit.step, "", visit.word, output, values_of(output, visit.values) if visit.values else {})
        yield from (Stop(jump.waiting, jump.step) for jump in jumps)

    def either(self, one: str, other: str) -> str:
        """One of two ways, by the case, such that one that was found shows the same again."""
        return (one, other)[zlib.crc32(self.case.text.encode()) % 2]

    def _outputs(self) -> list[str]:
        """What the command of each visit writes to RDC_OUTPUT."""
        numbers: dict[str, int] = {}
        found = []
        for visit in self.trace.visits:
            name = visit.calls[0].step if visit.calls else ""
            number = numbers[name] = numbers.get(name, -1) + 1
            found.append(self.case.reply(name, number).get("output") or "" if name else "")
        return found

    def write_answers(self, *, as_json: bool = False) -> Path:
        """A file with the replies for all questions: as texts of several lines, or JSON."""
        path = self.folder / "answers"
        if as_json:
            steps = dict.fromkeys(step for step, _ in self.asked)
            replies = {step: [reply for other, reply in self.asked if other == step] for step in steps}
            path.write_text(json.dumps(replies), encoding="utf-8")
        else:
            path.write_bytes("".join(self.answer_lines).encode())
        return path

    @property
    def answer_lines(self) -> list[str]:
        """The answers in the order in which they are asked; where all are yes or no, every other step goes unnamed."""
        steps, may_lack = list(dict.fromkeys(step for step, _ in self.asked)), self.asks_yes_or_no
        return [
            f"{reply}\n" if may_lack and steps.index(step) % 2 == 0 else answer_lines(step, reply)
            for step, reply in self.asked
        ]

    @property
    def asks_yes_or_no(self) -> bool:
        """Whether PASS or FAIL answers all questions."""
        return all(reply in ("pass", "fail") for _, reply in self.asked)

    # --- What was done ------------------------------------------------------------------------------------------------

    def lines(self) -> list[Json]:
        """What was logged; a line that is torn by a kill is none."""
        path = self.folder / "log"
        text = path.read_text(encoding="ascii") if path.exists() else ""
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def check_calls(self, output: str = "", *, is_run: bool = True) -> None:
        """Compare what was called, and with what, with the calls of the path; without a run there are no attempts."""
        lines = self.lines()
        expected = [call for visit in self.trace.visits for call in visit.calls]
        found = [call_of(line) for line in in_order(lines)]
        if not is_run:
            found, expected = ([replace(call, attempt=0) for call in each] for each in (found, expected))
        same("the calls", list(map(comparable, found)), list(map(comparable, expected)), output)
        runs = {line["run"] for line in lines}
        same("whether all calls are of one run", len(runs) <= 1 and (is_run or runs <= {None}), True, output)
        if self.case.documents:  # others may be called at the same time
            trail = [line["trail"] for line in lines]
            same("what the folder of the commands has (M2)", trail, sorted(set(trail)), output)
        same("what leaks from command to command", {line["leak"] for line in lines} - {None}, set(), output)
        for line in lines:
            step = line["step"] if line["entry"] is None else f"{line['step']}_{line['entry']}"
            if line["kind"] != "shell":  # for commands, not all targets set it
                same("RDC_STEP", line["named"], step, output)

        self._check_pauses(lines, output)

    def check_secrets(self, *texts: str) -> None:
        """No secret, and no line of one, stands in what was printed, or in any file of the folder `.rdc`."""
        if not self.case.secrets:
            return
        paths = [path for path in sorted((self.folder / ".rdc").rglob("*")) if path.is_file()]
        places = {"what was printed": "".join(texts).encode(), **{str(path): path.read_bytes() for path in paths}}
        for secret in {part for value in self.case.secrets.values() for part in (value, *value.splitlines())}:
            written = (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
            for place, content in places.items():
                same(f"secrets in {place}", [text for text in written if text.encode() in content], [])

    def check_artifact(self, folder: Path, output: str = "") -> None:
        """Compare the file that a good run leaves (I28)."""
        artifact, expected = self.case.program.get("artifact"), {}
        if not self.trace.held:
            return
        if artifact and self.trace.end and self.trace.end[0] == "COMPLETE":
            text = self.trace.held[artifact["slot"]]
            suffix = SUFFIXES.get(filled(artifact["type"], self.trace.held), "txt")
            expected = {} if text is None else {f"program.{suffix}": str(text)}
        found = {path.name: path.read_bytes().decode() for path in folder.glob("program.*") if path.is_file()}
        same("what the run leaves", found, expected, output)

    def check_reports(self, folder: Path, output: str = "") -> None:
        """Compare the reports in a folder, the dates in their headings aside, with those of the path (I29)."""
        found = sorted(folder.iterdir()) if folder.exists() else []
        texts = {path.name: HEADING.sub("##", path.read_bytes().decode()) for path in found}
        answers = report_answers(self.case, self.trace)
        expected = {f"{name}.md": "\n".join(f"##\n\n{text}\n" for text in each) for name, each in answers.items()}
        same("the reports", texts, expected, output)

    def _check_pauses(self, lines: list[Json], output: str) -> None:
        """What is called after a pause is called so many seconds after all that was called before (I22)."""
        began = {(line["step"], line["number"]): line["time"] for line in lines}
        numbers: dict[str, int] = {}
        latest = 0.0
        for visit, pause in zip(self.trace.visits, self.trace.pauses(self.case.program), strict=True):
            name = visit.calls[0].step if visit.calls else visit.step
            number = numbers[name] = numbers.get(name, -1) + 1
            time = began.get((name, number))
            if time is not None:
                same(f"whether {visit.step} waits for {pause} s", time - latest >= pause - 0.05, True, output)
                latest = time

    @property
    def end(self) -> str:
        """How the run must end, and its message, on one line."""
        return " ".join(" ".join(self.trace.end or ()).split())

    @property
    def exit_code(self) -> int:
        """What the program must end with (M8)."""
        return 0 if self.end.startswith("COMPLETE") else 1


def errors(made: Emission) -> list[Any]:
    """Why there is no text; warnings keep nothing from being made."""
    return [found for found in made.diagnostics if found.severity is Severity.ERROR]


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


def go_back_to(workspace: Workspace, finished: int, answered: Collection[int] = ()) -> None:
    """Let the script go on behind so many visits: what was cut off is called again as before.

    `answered` are the entries of the step that was cut off which have answered: they are not called again.
    """
    before = [(call.step, call.entry) for visit in workspace.trace.visits[:finished] for call in visit.calls]
    cut_off = [
        (call.step, call.entry) for visit in workspace.trace.visits[finished : finished + 1] for call in visit.calls
    ]
    for name, entry in {(call.step, call.entry) for visit in workspace.trace.visits for call in visit.calls}:
        is_done = entry is not None and entry in answered and (name, entry) in cut_off
        counted = workspace.folder / "calls" / stub.key(name, None if entry is None else str(entry))
        counted.write_bytes(b"." * (before.count((name, entry)) + is_done))


def drop_repeated(workspace: Workspace) -> None:
    """Leave of each call only the last: those before were cut off, and must have been the same, and due."""
    left: list[Json] = []
    unlike = {"time": 0, "trail": 0}
    for line in workspace.lines():
        places = [place for place, other in enumerate(left) if _name(other) == _name(line)]
        for place in reversed(places):
            same("what is called again after a kill", {_name(other)[::2] for other in left[place:]}, {_name(line)[::2]})
            # A runner that is killed while it writes to what it called has given the beginning alone.
            was_begun = line["given"].startswith(left[place]["given"])
            again = {**line, "given": left[place]["given"]} if was_begun else line
            same("what is given again", {**left[place], **unlike}, {**again, **unlike})
            del left[place]
        left.append(line)
    text = "".join(json.dumps(line) + "\n" for line in left)
    (workspace.folder / "log").write_text(text, encoding="ascii")


def _name(line: Json) -> tuple[str, str | None, int]:
    return line["step"], line["entry"], line["number"]


@contextmanager
def workspace(case: Case, trace: Trace, slow: float = 0.0) -> Iterator[Workspace]:
    """A case in a folder of its own, whose name is as hostile as people's are."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
        folder = Path(root, HOSTILE_FOLDER)
        folder.mkdir()
        yield prepare(folder, case, trace, slow)


def prepare(folder: Path, case: Case, trace: Trace, slow: float = 0.0) -> Workspace:
    """Write what commands, agents, tools and those who answer go by."""
    prepared = Workspace(case, trace, folder)
    (folder / "calls").mkdir()
    nodes = case.program["nodes"]
    declared = [item["name"] for node in nodes for key in ("variables", "constants") for item in node.get(key, [])]
    names = sorted({*declared, *case.secrets})
    script = {"replies": dict(case.replies), "variables": names, "slow": slow}
    texts = {
        "script.json": json.dumps(script),
        "visit": VISIT,
        "next-answer": NEXT_ANSWER_SCRIPT,
        "next": "".join(f"{reply}\n" for _, reply in prepared.asked) if prepared.asks_yes_or_no else "",
        "rdc.toml": "",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="ascii")
    shutil.copy(stub.__file__, folder / "stub.py")
    return prepared
