"""A retry after STOP: the run continues at the step that failed last, with its first attempt."""

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence

from tests.differential.case import DifferenceError, Visit, same
from tests.differential.drivers.process import PATIENCE, is_at, kill_rest
from tests.differential.drivers.workspace import Workspace, call_of
from tests.differential.oracles.retry import retried


def check_retry(workspace: Workspace, words: Sequence[str], extra: Mapping[str, str], *, jumps: bool = True) -> None:
    """Retry a run that ended with STOP, and kill it as soon as it has called something: it may never end."""
    visit = retried(workspace.case, workspace.trace, jumps=jumps)
    if visit is None:
        return
    before = len(workspace.lines())
    with (workspace.folder / "retried").open("wb") as printed:
        process = subprocess.Popen(
            words, cwd=workspace.folder, env={**workspace.environment, **extra, "PYTHONUTF8": "1"},
            stdin=subprocess.DEVNULL, stdout=printed, stderr=printed,
        )  # fmt: skip
    wait_for(lambda: len(workspace.lines()) > before or process.poll() is not None)
    process.kill()
    process.wait(PATIENCE)
    kill_rest(workspace.folder)
    check_first(workspace, visit, before, (workspace.folder / "retried").read_text("utf-8", "backslashreplace"))


def check_first(workspace: Workspace, visit: Visit, before: int, output: str) -> None:
    """Compare the first call after a retry, or the question where the run waits, with the visit that is made again."""
    if visit.question:
        places = [line[line.index("rdc: WAITING") :] for line in output.splitlines() if "rdc: WAITING" in line]
        asks = [place.startswith(f"rdc: WAITING {visit.step} ") or is_at(place, visit.step) for place in places]
        same("whether a retry asks again", asks, [True], output)
    elif visit.calls:
        calls = [call_of(line) for line in workspace.lines()[before:][:1]]
        are_equal = visit.attempt == 1  # a command may name the counter of attempts, which starts again
        found = [(call.step, call.attempt, call.arguments * are_equal) for call in calls]
        expected = (visit.calls[0].step, 1, visit.calls[0].arguments * are_equal)
        same("what a retry calls first", found, [expected], output)


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise DifferenceError("a retry", "stands still", "a call or an end")
        time.sleep(0.003)
