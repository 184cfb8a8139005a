"""What the tests of an operator's commands share."""

from __future__ import annotations

from pathlib import Path

from tests.support.process import Place, Table, ask, program, shell

TWO = program(
    {
        "1": shell("echo one >> log", "2"),
        "2": ask("3"),
        "3": shell('echo three >> log; exit "${BAD:-0}"', "COMPLETE"),
        "4": {**shell("echo four >> log", "COMPLETE"), "title": "Fix $(touch x)"},
    }
)


def waiting(tmp_path: Path, table: Table = TWO) -> Place:
    """A run that waits at its question."""
    place = Place(tmp_path, table)
    assert place.run("run").code == 75
    return place


def logs(place: Place) -> dict[str, str]:
    """The logs of a run."""
    return {path.name: path.read_text() for path in sorted((place.journal.parent / "logs").iterdir())}
