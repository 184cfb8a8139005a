"""The generated worker: with all answers at once, and one after the other.

Only the worker knows the secrets; who starts a run and answers does not, and needs no agents and tools.
"""

import json
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from tests.differential.case import DifferenceError, same
from tests.differential.drivers.process import Done, check_steps, last_line, run
from tests.differential.drivers.python import environment, given, inputs
from tests.differential.drivers.retry import check_first, wait_for
from tests.differential.drivers.workspace import Workspace, is_plain
from tests.differential.oracles.retry import retried
from tests.support import warm

RUN = "r"
NAME = "runs.sqlite"
DATABASE = ("--database", f"sqlite:///{NAME}")
RUNS = 3
"""The exit code of a call about a run that a worker has, or will have."""

POLL, PAUSE, PATIENCE = "0.05", 0.02, 90.0
"""In seconds."""

POOL = ThreadPoolExecutor(2)
"""Each thread has a process that forks."""


def missing() -> str:
    return "" if find_spec("dbos") else "dbos is not installed"


@contextmanager
def working(
    program: Sequence[str], folder: Path, environment: Mapping[str, str] | None, words: Sequence[str] = ()
) -> Iterator[list[str]]:
    """Have a worker in a folder; the list gets what it has printed, at its end."""
    printed: list[str] = []
    command = [*program, "worker", "--jobs", "1", "--poll", POLL, *words, *DATABASE]
    ended = POOL.submit(warm.run, command, cwd=folder, env=environment, timeout=PATIENCE, loads="dbos")
    try:
        _await_tables(folder / NAME, ended)
        yield printed
    except BaseException:
        for _ in range(2):  # the second signal ends its commands
            _signal(folder, signal.SIGTERM)
            time.sleep(0.2)
        raise
    finally:
        _signal(folder, signal.SIGKILL)
        done = ended.result(PATIENCE)
        printed += [text.decode(errors="backslashreplace") for text in (done.stdout, done.stderr)]


def _await_tables(database: Path, ended: Future[CompletedProcess[bytes]]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not _has_queue(database):
        if ended.done():
            raise DifferenceError("a worker", ended.result().stderr.decode(errors="replace"), "a start")
        if time.monotonic() > deadline:
            raise DifferenceError("a worker", "no start", f"one within {PATIENCE} s")
        time.sleep(PAUSE)


def _has_queue(database: Path) -> bool:
    """Whether a worker listens, which is the last that it does before it is ready."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        return bool(connection.execute("SELECT 1 FROM queues").fetchone())
    return False


def _signal(folder: Path, number: int) -> None:
    """Send a signal to the worker of a folder, whose lease is named `HOST:PID:RANDOM`."""
    for lease in (folder / f"{NAME}.workers").glob("*:*:*"):
        with suppress(ProcessLookupError):
            os.kill(int(lease.name.split(":")[1]), number)


def settled(call: Callable[..., Any]) -> dict[str, Any]:
    """The status of the run as soon as no worker has it; `call` calls the program with some words."""
    deadline = time.monotonic() + PATIENCE
    while (done := call("status", RUN, "--json")).code == RUNS:
        if time.monotonic() > deadline:
            raise DifferenceError("a run", done.output, f"an end or a question within {PATIENCE} s")
        time.sleep(PAUSE)
    same("whether there is a status", bool(done.output), True, done.printed)
    facts: dict[str, Any] = json.loads(done.output)
    return facts


def records(folder: Path) -> str:
    files = (folder / f"{NAME}{more}" for more in ("", "-wal"))
    return "".join(path.read_bytes().decode(errors="backslashreplace") for path in files if path.exists())


def compare(workspace: Workspace) -> bool:
    """Run a case to its end."""
    as_json, program = not all(is_plain(reply) for _, reply in workspace.asked), Program(workspace)
    with working(program.words, workspace.folder, program.environment, given(workspace)) as printed:
        done = program.start("--answers", str(workspace.write_answers(as_json=as_json)))
        same("the exit code", done.code, workspace.exit_code, done.printed)
        if workspace.case.documents:
            same("the last line", last_line(done.errors), f"rdc: {RUN} {workspace.end}", done.printed)
        facts = settled(program.call)
    return program.check(facts, [done.printed, *printed])


def compare_in_pieces(workspace: Workspace) -> bool:
    """Run a case without answers; each begins the next leg, and so does each jump, where it waits or has stopped."""
    program = Program(workspace)
    with working(program.words, workspace.folder, program.environment, given(workspace)) as printed:
        done = program.start()
        for stop in workspace.stops():
            facts = settled(program.call)
            same("where a run stops", facts["state"], "waiting" if stop.waiting else "stop", done.printed)
            if stop.waiting:
                same("what a run waits for", facts["step"], stop.waiting, done.printed)
            if stop.jump:
                done = program.call("goto", RUN, stop.jump, "--by", "me")
            else:
                word, more = stop.reply if is_plain(stop.reply) else "-", ["--all"][: stop.has_list]
                done = program.call("answer", RUN, stop.waiting, word, *more, given=f"{stop.reply}\n")
            same("the exit code of an answer or a jump", done.code, 0, done.printed)
        facts = settled(program.call)
        program.check(facts, [done.printed, *printed])
        if visit := retried(workspace.case, workspace.trace):
            before, retry = len(workspace.lines()), program.call("retry", RUN)
            same("the exit code of a retry", retry.code, 0, retry.printed)
            wait_for(lambda: len(workspace.lines()) > before or program.call("status", RUN).code != RUNS)
            place, status = f"WAITING at {visit.step} ", program.call("status", RUN).output.replace("\n", " ")
            check_first(workspace, visit, before, f"rdc: WAITING {visit.step} " if place in status else "")
            program.call("cancel", RUN)  # it may never end
    return True


class Program:
    """The worker's program, and how an operator calls it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        script = workspace.folder / "program.py"
        script.write_bytes(workspace.emitted("dbos").encode())
        self.words = [sys.executable, str(script)]
        self.environment = {**workspace.environment, **environment(workspace)}

    def start(self, *words: str) -> Done:
        """Start the run, and wait until it waits or ends."""
        return self.call("start", "--id", RUN, "--wait", *inputs(self._workspace), *words)

    def call(self, *words: str, given: str = "") -> Done:
        """Call the program without secrets."""
        without = dict.fromkeys(self._workspace.case.secrets, "")
        return run(self._workspace, [*self.words, *words, *DATABASE], without, given)

    def check(self, facts: dict[str, Any], printed: list[str]) -> bool:
        """Compare the calls, the steps, the files of the run, and the end."""
        workspace, text = self._workspace, "".join(printed)
        workspace.check_calls(text)
        workspace.check_reports(workspace.state / RUN / "reports", text)
        workspace.check_artifact(workspace.state / RUN, text)
        check_steps(workspace, [each for each in facts["finished"] if each["outcome"] != "goto"], text)
        same("the end", (facts["state"].upper(), facts["message"]), workspace.trace.end, text)
        workspace.check_secrets(text, records(workspace.folder))
        return True
