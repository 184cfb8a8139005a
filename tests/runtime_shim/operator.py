"""What the tests of an operator's commands share."""

import json
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.process import Place, Screen, Table, ask, program, shell
from tests.support.warm.started import Started

TWO = program(
    {
        "1": shell("echo one >> log", "2"),
        "2": ask("3"),
        "3": shell('echo three >> log; exit "${BAD:-0}"', "COMPLETE"),
        "4": {**shell("echo four >> log", "COMPLETE"), "title": "Fix $(touch x)"},
    }
)


def waiting(tmp_path: Path, table: Table = TWO, *words: str) -> Place:
    """A run that waits at its question."""
    place = Place(tmp_path, table)
    assert place.run("run", *words).code == 75
    return place


def logs(place: Place) -> dict[str, str]:
    """The logs of a run."""
    return {path.name: path.read_text() for path in sorted((place.journal.parent / "logs").iterdir())}


def codes(place: Place, *calls: str) -> list[int]:
    """The exit codes of calls, one after the other."""
    return [place.run(*shlex.split(call)).code for call in calls]


def facts_of(place: Place, *words: str, **variables: str) -> Table:
    """The status as data."""
    result = place.run("status", "--json", *words, cwd=place.path, **variables)
    assert result.code == 0, result.err
    found: Table = json.loads(result.out)
    return found


@contextmanager
def unchanged(place: Place) -> Iterator[None]:
    """Nothing is recorded meanwhile."""
    before = place.journal.read_bytes()
    yield
    assert place.journal.read_bytes() == before


def ended(runner: Started | subprocess.Popen[str], number: signal.Signals) -> tuple[int, str]:
    """The exit code and the last line of a call that gets a signal."""
    runner.send_signal(number)
    _, err = runner.communicate(timeout=20)
    assert runner.returncode is not None
    return runner.returncode, err.splitlines()[-1]


def at_terminal(place: Place, *words: str, **variables: str) -> Screen:
    """A call at a terminal; without words it begins a run."""
    command = [sys.executable, str(place.script), *(words or ("run",))]
    return Screen(command, place.path, place.environment(**variables))


def talk(screen: Screen, *turns: str) -> None:
    """Wait for a pattern, then type a text, and so on."""
    for pattern, typed in zip(turns[::2], turns[1::2], strict=True):
        screen.expect(pattern)
        screen.type(typed)
