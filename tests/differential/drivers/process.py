"""Generated programs as processes, and how an operator runs one: answer by answer, by hand, and through kills."""

import json
import os
import random
import re
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from tests.differential.case import DifferenceError, Json, Visit, same
from tests.differential.drivers.workspace import (
    FOLDER,
    Stop,
    Workspace,
    answer_lines,
    drop_repeated,
    go_back_to,
    is_plain,
)
from tests.support import warm

PATIENCE = 90.0
WAITING = 75
KILLS = 6


class Done(NamedTuple):
    """What a process has printed, and how it ended."""

    code: int
    output: str
    errors: str

    @property
    def printed(self) -> str:
        return self.output + self.errors

    @property
    def last(self) -> str:
        """The last line on standard error."""
        return last_line(self.errors)


def run(workspace: Workspace, words: Sequence[str], extra: Mapping[str, str] | None = None, given: str = "") -> Done:
    try:
        done = warm.run(
            words,
            cwd=workspace.folder,
            env={**workspace.environment, **(extra or {})},
            input=given.encode("utf-8", "surrogateescape"),
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired as late:
        raise DifferenceError(f"{words[0]} after {PATIENCE} s", "still running", "an end") from late
    output, errors = (text.decode(errors="backslashreplace") for text in (done.stdout, done.stderr))
    workspace.printed.append(output + errors)
    return Done(done.returncode, output, errors)


def killed(workspace: Workspace, words: Sequence[str], moments: random.Random, extra: Mapping[str, str]) -> Done | None:
    """Begin a program and kill all of it at some moment; what it printed if it has ended before."""
    files = [(workspace.folder / name).open("wb") for name in ("printed.out", "printed.err")]
    process = subprocess.Popen(
        words,
        cwd=workspace.folder,
        env={**workspace.environment, **extra},
        stdin=subprocess.DEVNULL,
        stdout=files[0],
        stderr=files[1],
    )
    for file in files:
        file.close()
    _await_moment(workspace, process, moments)
    if process.poll() is None:
        process.kill()
        process.wait(PATIENCE)
        kill_rest(workspace.folder)
        return None
    output, errors = (
        (workspace.folder / name).read_bytes().decode(errors="backslashreplace")
        for name in ("printed.out", "printed.err")
    )
    return Done(process.returncode, output, errors)


def last_line(text: str) -> str:
    return (text.splitlines() or [""])[-1]


def check_end(workspace: Workspace, line: str, output: str) -> None:
    """Compare a last line with the end; a question mark may stand for what no terminal shows as it is."""
    same("the last line", plain(line), plain(f"rdc: {workspace.end}"), output)


def is_at(line: str, step: str) -> bool:
    """Whether a Makefile that runs by itself waits at a step, which has a name without what make would read."""
    name = re.sub(r"[^A-Za-z0-9_.{}/~-]+", "-", step)
    return re.fullmatch(rf"rdc: WAITING {re.escape(name)}(?:[-~.]\d+)?( was interrupted)?", line) is not None


def plain(text: str) -> str:
    """A message without spaces, and without what no terminal shows as it is: a question mark stands for it."""
    return "".join(character for character in text if character.isprintable() and character not in " ?")


def _await_moment(workspace: Workspace, process: subprocess.Popen[bytes], moments: random.Random) -> None:
    """Some time after the start, or after some more calls have begun, however slow the machine is."""
    if moments.random() < 0.3:
        with suppress(subprocess.TimeoutExpired):
            process.wait(moments.uniform(0.0, 0.3))
        return
    wanted, deadline = len(workspace.lines()) + moments.choice((1, 1, 2)), time.monotonic() + PATIENCE
    while len(workspace.lines()) < wanted and process.poll() is None:
        if time.monotonic() > deadline:
            process.kill()
            raise DifferenceError("a run", "stands still", "a call or an end")
        time.sleep(0.003)
    with suppress(subprocess.TimeoutExpired):
        process.wait(moments.uniform(0.0, 0.06))


def kill_rest(folder: Path) -> None:
    """Kill every process that knows of the folder, until there is none."""
    mark = f"{FOLDER}={folder}".encode()
    while found := [pid for pid in _processes() if _is_marked(pid, mark)]:
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and int(path.name) != os.getpid()]


def _is_marked(pid: int, mark: bytes) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
        return state not in "ZX" and mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False


class Operated(ABC):
    """A generated program, as an operator calls it. `calls` says whether it keeps a journal and writes events."""

    verbs: ClassVar[Mapping[str, Sequence[str]]]
    """The words to run, to resume, to resume with the interrupted step run again, and to run with nothing executed."""

    code: ClassVar[type[int]] = int
    """How exit codes are compared: by `bool` where all failures are alike."""

    calls = True

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    @abstractmethod
    def words(self, verb: str, answers: str = "") -> list[str]:
        """A call that runs steps, with a file of answers."""

    @abstractmethod
    def goto(self, step: str, by: str = "") -> Done:
        """Jump to a step."""

    @abstractmethod
    def answer(self, stop: Stop) -> Done:
        """Record an answer, or what a person says of a command."""

    @property
    @abstractmethod
    def environment(self) -> dict[str, str]:
        """What variables name of agents."""

    def last(self, done: Done) -> str:
        """The line about how a call ended."""
        return done.last

    def run(self, verb: str, answers: str = "") -> Done:
        return run(self.workspace, self.words(verb, answers), self.environment)

    def check_stop(self, done: Done, waiting: str) -> None:
        """Compare where a run stops: with a step that waits, or after a STOP."""
        line = rf"rdc: WAITING {re.escape(waiting)}(?![^ :])" if waiting else "rdc: STOP"
        same("what a run waits for", bool(re.match(line, self.last(done))), True, done.printed)
        expected = WAITING if waiting else 1
        same("the exit code of a run that stops", self.code(done.code), self.code(expected), done.printed)

    def check(self, done: Done, *, most_lost: int = 0, is_prompted: bool = False) -> bool:
        """Compare the calls, the end, the exit code, what is left, the events, and that no secret shows."""
        workspace, printed = self.workspace, done.printed
        if is_prompted:
            same("what a prompted run executes", workspace.lines(), [], printed)
        else:
            workspace.check_calls(printed)
        workspace.check_reports(workspace.state / "reports", printed)
        same("the exit code", self.code(done.code), self.code(workspace.exit_code), printed)
        workspace.check_artifact(workspace.state, printed)
        events = (workspace.folder / "events").read_text(encoding="utf-8") if self.calls else ""
        if self.calls:
            check_events(workspace, [*_events(events, most_lost)], printed, most_lost)
        check_end(workspace, self.last(done), printed)
        workspace.check_secrets(printed, events)
        return True


def in_pieces(program: Operated) -> bool:
    """Run a case without answers; each is recorded before another process goes on, or brought by that one.

    The operator jumps where the run waits, or has ended by STOP.
    """
    done = program.run("run")
    for number, stop in enumerate(program.workspace.stops()):
        program.check_stop(done, stop.waiting)
        file = ""
        if stop.jump or (is_plain(stop.reply) and number % 2 == 0):
            acted = program.goto(stop.jump, "me") if stop.jump else program.answer(stop)
            same("the exit code of an answer or a jump", acted.code, 0, acted.printed)
        else:
            file, text = f"answer-{number}", "\n" * number + answer_lines(stop.waiting, stop.reply)
            (program.workspace.folder / file).write_bytes(text.encode())
        done = program.run("resume", file)
    return program.check(done)


def prompted(program: Operated) -> bool:
    """Run a case in which nothing is executed: a person gives what came of each command, and what it would write."""
    done = program.run("prompted")
    for stop in program.workspace.stops(is_prompted=True):
        program.check_stop(done, stop.waiting)
        acted = program.goto(stop.jump) if stop.jump else program.answer(stop)
        same("the exit code of an answer or a jump", acted.code, 0, acted.printed)
        done = program.run("resume")
    return program.check(done, is_prompted=True)


def through_kills(program: Operated, answers: str) -> bool:
    """Run a case and kill all of it at random moments, a call among them; no step that has finished is done again."""
    workspace, verb = program.workspace, "run"
    moments = random.Random(workspace.case.text)
    done: Done | None = None
    kills: list[list[str]] = []
    while done is None and len(kills) < KILLS:
        done = killed(workspace, program.words(verb, answers), moments, program.environment)
        if done is None:
            records = _journal(workspace)
            kills.append(finished(records))
            go_back_to(workspace, len(kills[-1]), answered_entries(records))
            verb = "rerun" if records else "run"
    done = done or program.run(verb, answers)
    drop_repeated(workspace)
    whole = finished(_journal(workspace))
    for each in kills:
        same("what is finished stays so", each, whole[: len(each)], done.printed)
    return program.check(done, most_lost=len(kills))


def _journal(workspace: Workspace) -> list[str]:
    """The whole records."""
    path = workspace.state / "journal"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [line.split(" ", 1)[1] for line in text[: text.rfind("\n") + 1].splitlines()]


def finished(records: list[str]) -> list[str]:
    """The records of steps that are finished."""
    return [record for record in records if json.loads(record)["kind"] == "done"]


def answered_entries(records: list[str]) -> list[int]:
    """The entries of the step at work that have answered."""
    found: list[int] = []
    for record in map(json.loads, records):
        found = [] if record["kind"] == "done" else [*found, record["entry"]] if record["kind"] == "entry" else found
    return found


def _events(lines: str, most_cut: int) -> Iterator[Json]:
    """The events of a file; a kill may have cut one, and the next one is on its line."""
    for line in lines.splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            most_cut -= 1
            assert most_cut >= 0, line


def check_events(workspace: Workspace, events: list[Json], output: str, most_lost: int = 0) -> None:
    """Compare the steps and the end with the events."""
    check_steps(workspace, [each for each in events if each["event"] == "step_finished"], output, most_lost)
    end = (str(events[-1]["result"]).upper(), events[-1]["message"])
    same("the end by the events", end, workspace.trace.end, output)


def check_steps(workspace: Workspace, finished: list[Json], output: str, most_lost: int = 0) -> None:
    """Compare the steps that a target calls finished; each kill may have cost the event of one."""
    found = [(each["step"], each["attempt"], each["instances"], each["outcome"]) for each in finished]
    visits = workspace.trace.visits
    if most_lost:
        left = iter(visits)
        in_order = all(any(_step(visit, each) == each for visit in left) for each in found)
        same("whether only kills cost events", in_order and len(visits) - len(found) <= most_lost, True, output)
    else:
        pairs = zip_longest(visits, found[: len(visits)])
        same("the steps", found, [_step(visit, each) for visit, each in pairs], output)


def _step(visit: Visit, like: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """A visit as an event has it; instances that the oracle doesn't know are those of the event."""
    instances = (like and like[2]) if visit.instances is None else dict(visit.instances)
    return visit.step, visit.attempt, instances, visit.word
