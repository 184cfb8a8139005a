"""Rule R1: a generated program that is killed at random moments, many times, walks as if nobody had disturbed it.

Its commands append a line to a log as they begin and another as they end, and their outcomes depend on the attempt and
the instance alone. What has run is seen in the log, what is finished in the journal.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from compiler.driver import compile_file
from compiler.ir.program import Program
from tests.differential.oracles.stepspec import check_records, read_records
from tests.support.stepped import compiled_to

pytestmark = pytest.mark.process

KILLS = 16
"""For each runbook and each way to kill."""

PATIENCE = 30.0

BLOCK = """\
```bash
key="NAME $RDC_ATTEMPT ${RDC_STEP_INSTANCE:--} ${RDC_SUBSTEP_INSTANCE:--}"
echo "begin $key" >>log
sleep 0.01
CHECK
outcome=$?
echo "end $key" >>log
exit $outcome
```
"""


def step(header: str, name: str, check: str = "true", *transitions: str) -> str:
    """A step with a command that marks its beginning and end and has the outcome of a check."""
    block = BLOCK.replace("NAME", name).replace("CHECK", check)
    return "\n".join([header, "", block, *(f"- {line}" for line in transitions), ""])


# Takes its time at first: if it is left behind when the runner is killed, it ends after what is run in its place.
SLOW = "mkdir slow 2>/dev/null && sleep 0.4"

RELEASE = [
    step("## 1. Build", "build", SLOW + "; true"),
    step("## 2. Test", "test", '[ "$RDC_ATTEMPT" -ge 3 ]', "FAIL: RETRY 5 STOP"),
    "## 3. Review\n\nIs it good?\n\n- YES: CONTINUE\n- NO: GOTO 2\n",
    "## 4. Deploy\n\n- FAIL: RETRY 2 GOTO Sorry\n",
    step("### 4.1 Push", "push"),
    step("### 4.2 Probe", "probe"),
    "### 4.3 Confirm\n\nIs it there?\n",
    step("## 5. Clean up", "clean", "false", "FAIL: RETRY 2 CONTINUE"),
    "## 6. Announce\n\n- [ ] It is in the chat\n- [ ] It is in the mail\n- [ ] People like it\n\n- FAIL: GOTO Sorry\n",
    step("## Sorry Say so", "sorry", "true", 'PASS: STOP "Nobody likes it"'),
]
SHELVES = [
    "## {N}. Shelf {N}\n",
    step("### {N}.1 Look", "look", SLOW + '; [ "$RDC_STEP_INSTANCE" -lt 4 ]', 'FAIL: COMPLETE "{N} shelves"'),
    step("### {N}.2 Dust", "dust", '[ "$RDC_ATTEMPT" -ge 2 ]', "PASS: GOTO Items", "FAIL: RETRY 2 STOP"),
    "## Items\n",
    step(
        "### Items.{n} Count",
        "count",
        '[ "$RDC_SUBSTEP_INSTANCE" -lt 3 ]',
        "PASS: GOTO NEXT Items.{n}",
        "FAIL: GOTO NEXT {N}",
    ),
]
NESTED = [
    "## 1. Check\n\n- lint.runbook.md\n- pages.runbook.md\n\n- FAIL ANY: RETRY 2 STOP\n",
    step("## 2. Publish", "publish"),
]
LINT = [
    step("## 1. Style", "style", SLOW + "; true"),
    step("## 2. Types", "types", '[ "$RDC_ATTEMPT" -ge 2 ]', "FAIL: RETRY 3 STOP"),
    "## 3. Ask\n\nIs it fine?\n",
]
PAGES = [step("## {N}. Page", "page", '[ "$RDC_STEP_INSTANCE" -lt 3 ]', "PASS: GOTO NEXT", "FAIL: COMPLETE")]


@dataclass(frozen=True)
class Subject:
    """Documents, the answers to their prompts, and how many steps a run of them has and how many commands."""

    documents: dict[str, list[str]]
    answers: str
    steps: int
    commands: int


ANSWERS = "3 no\n3 yes\n4.3 fail\npass\n6 --item 1 done\n6 --item 2 n/a: no mail\n6 --item 3 fail\n"
SUBJECTS = {
    "prompts": Subject({"main": RELEASE}, ANSWERS, 20, 15),
    "instances": Subject({"main": SHELVES}, "", 19, 19),
    "nested": Subject({"main": NESTED, "lint": LINT, "pages": PAGES}, "no\nyes\n", 12, 10),
}


class Place:
    """A folder in which a program runs."""

    def __init__(self, folder: Path, text: str, answers: str) -> None:
        folder.mkdir()
        self.folder = folder
        (folder / "main.py").write_text(text, encoding="utf-8")
        (folder / "answers").write_text(answers, encoding="utf-8")

    def start(self) -> subprocess.Popen[bytes]:
        """Begin a run, or go on with it, in a session of its own."""
        words = ["resume", "--rerun-interrupted"] if self._records() else ["run"]
        given = ["--state-dir", "state", "--answers", "answers", "--events", "events"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RDC_")}
        with (self.folder / "printed").open("ab") as printed:
            return subprocess.Popen(
                [sys.executable, "main.py", *words, *given],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                start_new_session=True,
            )

    def finished(self) -> list[str]:
        """The steps that the journal calls done: all that a record says of the path."""
        names = ("node", "attempt", "instances", "outcome", "says", "next", "changed", "condition")
        return [
            json.dumps([record.get(name) for name in names]) for record in self._records() if record["kind"] == "done"
        ]

    def items(self) -> list[object]:
        """The items of checklists with their answers, each as often as the journal has it."""
        return [[record["item"], record["reply"]] for record in self._records() if record["kind"] == "item"]

    def events(self) -> list[object]:
        """The steps that the events call finished."""
        found = map(json.loads, self._lines("events"))
        names = ("step", "attempt", "instances", "outcome")
        return [[e[name] for name in names] for e in found if e["event"] == "step_finished"]

    def log(self) -> list[str]:
        """What the commands have marked."""
        return self._lines("log")

    def last_words(self) -> str:
        """The last line that was printed."""
        return self._lines("printed")[-1]

    def _records(self) -> list[dict[str, object]]:
        """The whole records of the journal."""
        return [json.loads(line.split(" ", 1)[1]) for line in self._lines("state/journal")]

    def _lines(self, name: str) -> list[str]:
        path = self.folder / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        return text[: text.rfind("\n") + 1].splitlines()


@dataclass(frozen=True)
class Undisturbed:
    """What comes of a run that nobody kills."""

    finished: list[str]
    events: list[object]
    are_commands: list[bool]
    marks: list[str]
    end: tuple[int, str]
    items: list[object]

    @property
    def visits(self) -> list[str]:
        """The commands in their order."""
        return [mark.removeprefix("begin ") for mark in self.marks[::2]]

    def commands_among(self, count: int) -> int:
        """How many of the first steps are commands."""
        return sum(self.are_commands[:count])


@dataclass(frozen=True)
class Kill:
    """What stood in the journal and in the log when the program was killed."""

    finished: list[str]
    marks: int


@pytest.fixture(scope="module", params=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> Subject:
    return SUBJECTS[request.param]


@pytest.fixture(scope="module")
def program(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("documents")
    for name, steps in subject.documents.items():
        (folder / f"{name}.runbook.md").write_text("\n".join([f"# {name}\n", *steps]), encoding="utf-8")
    compilation = compile_file(str(folder / "main.runbook.md"))
    assert compilation.program, compilation.diagnostics
    return compilation.program


@pytest.fixture(scope="module")
def text(program: Program, to_python: Callable[[Program], str]) -> str:
    return to_python(program)


@pytest.fixture(scope="module")
def undisturbed(subject: Subject, program: Program, text: str, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    place = Place(tmp_path_factory.mktemp("run") / "undisturbed", text, subject.answers)
    end = (place.start().wait(PATIENCE), place.last_words())
    finished, tasks = place.finished(), {node.id: node.task.kind for node in program.nodes}
    are_commands = [tasks[json.loads(record)[0]] == "shell" for record in finished]
    whole = Undisturbed(finished, place.events(), are_commands, place.log(), end, place.items())
    assert (len(finished), len(whole.visits)) == (subject.steps, subject.commands), place.last_words()
    assert sum(are_commands) == subject.commands
    assert whole.marks == [f"{kind} {visit}" for visit in whole.visits for kind in ("begin", "end")]
    neighbors = zip(whole.visits, whole.visits[1:], strict=False)
    assert all(one != two for one, two in neighbors), "a command that runs twice must show"
    return whole


@pytest.mark.share(3)
@pytest.mark.parametrize("driver", ["runner", "everything"])
def test_a_killed_program_walks_as_if_undisturbed(
    driver: str, subject: Subject, text: str, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    if driver == "everything" and not Path("/proc/self/stat").exists():
        pytest.skip("without /proc the processes of a session are not known")
    moments, left, runs = random.Random(f"{driver} {subject.steps}"), KILLS, 0
    while left:
        runs += 1
        place = Place(tmp_path / str(runs), text, subject.answers)
        kills, end = torment(place, moments, left, whole_session=driver == "everything")
        left -= len(kills)
        compare(place, undisturbed, kills, end)


def torment(
    place: Place, moments: random.Random, most: int, *, whole_session: bool
) -> tuple[list[Kill], tuple[int, str]]:
    """Run a program to its end, killing it at most so many times on the way."""
    kills: list[Kill] = []
    while True:
        process = place.start()
        if len(kills) < most:
            await_moment(place, process, moments)
        else:
            process.wait(PATIENCE)
        if process.poll() is not None:
            return kills, (process.returncode, place.last_words())
        process.kill()
        process.wait(PATIENCE)
        if whole_session:
            kill_session(process.pid)
        kills.append(Kill(place.finished(), len(place.log())))


def await_moment(place: Place, process: subprocess.Popen[bytes], moments: random.Random) -> None:
    """Wait for a moment to kill: some time after the start, or after the next marks, however slow the machine is."""
    if moments.random() < 0.4:
        with suppress(subprocess.TimeoutExpired):
            process.wait(moments.uniform(0.0, 0.12))
        return
    wanted = len(place.log()) + moments.choice((1, 1, 1, 2, 3))
    deadline = time.monotonic() + PATIENCE
    while len(place.log()) < wanted and process.poll() is None:
        assert time.monotonic() < deadline, "the program stands still"
        time.sleep(0.002)
    time.sleep(moments.uniform(0.0, 0.012))


def kill_session(session: int) -> None:
    """Kill what is left of a session, until nothing is."""
    while members := [pid for pid in processes() if is_of(pid, session)]:
        for pid in members:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def processes() -> list[int]:
    """The numbers of all processes."""
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def is_of(pid: int, session: int) -> bool:
    """Whether a process lives and is of a session."""
    try:
        state, _, _, its_session = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:4]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return int(its_session) == session and state not in "ZX"


def compare(place: Place, undisturbed: Undisturbed, kills: list[Kill], end: tuple[int, str]) -> None:
    """A run that was killed against one that was not."""
    assert end == undisturbed.end
    assert place.finished() == undisturbed.finished
    assert place.items() == undisturbed.items
    for kill in kills:
        assert kill.finished == undisturbed.finished[: len(kill.finished)], "what is finished stays so"
    events = place.events()
    assert is_subsequence(events, undisturbed.events)
    assert len(undisturbed.events) - len(events) <= len(kills), "a kill may cost the event of one step"
    no_finished_command_ran_again(place.log(), undisturbed, kills)


def no_finished_command_ran_again(log: list[str], undisturbed: Undisturbed, kills: list[Kill]) -> None:
    """After a kill only what was not finished begins, and only the command that was cut off has marks twice."""
    places = positions(log, undisturbed.visits)
    cut_off = Counter(undisturbed.commands_among(len(kill.finished)) for kill in kills)
    for kill in kills:
        next_command = undisturbed.commands_among(len(kill.finished))
        assert all(place >= next_command for place in places[kill.marks :]), log[kill.marks :]
    for kind in ("begin", "end"):
        of_kind = [place for place, mark in zip(places, log, strict=True) if mark.startswith(kind)]
        count = Counter(of_kind)
        for place in range(len(undisturbed.visits)):
            assert 1 <= count[place] <= 1 + cut_off[place], f"{kind} {undisturbed.visits[place]}"


def positions(log: list[str], visits: list[str]) -> list[int]:
    """For each mark the place of its command among all; commands never go back."""
    places, place = [], -1
    for mark in log:
        kind, visit = mark.split(" ", 1)
        if kind == "begin" and (place < 0 or visit != visits[place]):
            place += 1
        assert visit == visits[place], f"{mark} where {visits[place]} is due"
        places.append(place)
    return places


def is_subsequence(some: list[object], others: list[object]) -> bool:
    """Whether all of some stand among others in this order."""
    rest = iter(others)
    return all(one in rest for one in some)


# --- Specifications ---------------------------------------------------------------------------------------------------

STEPS = ("s0", "s1", "s2")
GATE = "m:w:s1:hitl"
MOST_CALLS = 40
EXECUTOR = """
echo "$RDC_STEP" >> executed
[ $(grep -c "$RDC_STEP" executed) -ne 2 ] || exit 1
sleep 0.05
echo "made by $RDC_STEP" > "out/$RDC_STEP.md"
"""
DOCUMENT = {
    "workflow": {"module": "m", "workflow": "w"},
    "config": {"variables": {"output_folder": "out"}, "executor": EXECUTOR},
    "step_specs": [
        {
            "id": step,
            "outputs": [f"{{output_folder}}/{step}.md"],
            "human_gate": "required" if step == "s1" else "optional",
            "tools": [{"name": "writeFile", "args": {"path": "{output_folder}/t.txt", "text": step}, "required": True}],
            "validation": "format",
            "evidence": "L1",
            "retries": {"max": 1, "backoff_seconds": 0},
        }
        for step in STEPS
    ],
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled program."""
    return compiled_to(tmp_path_factory.mktemp("compiled"), DOCUMENT)


def called(program: Path, folder: Path, seconds: float | None, *words: str) -> int:
    """The exit code of a call, which is killed after so many seconds."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, str(program), *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            return process.wait()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.share(8)
def test_a_run_survives_kills(compiled: Path, tmp_path: Path, seed: int) -> None:
    """Whenever the runner is killed."""
    chance = random.Random(seed)
    (tmp_path / "out").mkdir()
    code = called(compiled, tmp_path, chance.uniform(0.05, 0.5), "run")
    records = None
    for number in range(MOST_CALLS):
        records = next(tmp_path.glob(".rdc/*/run-*"), None)
        if records is not None:
            check_records(read_records(records), {"s0": [], "s1": [GATE], "s2": []}, dict.fromkeys(STEPS, 2))
        if code == 0:
            break
        has_begun = any(journal.stat().st_size for journal in tmp_path.glob(".rdc/*/journal"))
        words = ["resume", "--rerun-interrupted"] if has_begun else ["run"]
        if code == 75:
            called(compiled, tmp_path, None, "approve", "--gate", GATE, "--by", "alice")
        code = called(compiled, tmp_path, chance.uniform(0.05, 0.6) if number < 12 else None, *words)
    assert code == 0, (tmp_path / "log").read_text(encoding="utf-8")
    assert records is not None
    manifest = json.loads((records / "manifest.json").read_text(encoding="utf-8"))
    assert [step["status"] for step in manifest["steps"]] == ["completed"] * 3
    executed = (tmp_path / "executed").read_text(encoding="utf-8").split()
    assert executed == sorted(executed), "no step is executed again once a later one has begun"
