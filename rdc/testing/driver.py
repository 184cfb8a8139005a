"""Tests with operator's jumps: the run is started, moved and continued by separate calls, and read from its events."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from msgspec.structs import replace

from rdc.testing.run import Moved, Run, Setting, Step

ENDS = ("COMPLETE", "STOP")


class Driver(Protocol):
    """Calls the program of one target in a test. Each call lasts until the run waits or ends."""

    def begin(self) -> None:
        """Start the run with the answers of its first part."""

    def move(self, step: str) -> str:
        """Move the run to a step; return the error, or ""."""

    def go_on(self, part: int) -> None:
        """Continue the run with the answers of this part, counted from 0."""

    def told(self) -> Run:
        """Return the run so far, and how the last call ended."""


def drive(driver: Driver, setting: Setting) -> Run:
    """Run a program through the jumps of a setting to its end. Remaining jumps are ignored (S1)."""
    driver.begin()
    for part, step in enumerate(setting.jumps, start=1):
        if driver.told().result in ENDS:
            break
        if problem := driver.move(step):
            return replace(driver.told(), result="", message=problem)
        driver.go_on(part)
    return driver.told()


def run_told(path: Path, setting: Setting, said: str, code: int) -> Run:
    """Return the run in a file of events. Without a final event, the last call's output gives the result."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    happened = [json.loads(line) for line in lines]
    done = [(event, event["event"] == "goto") for event in happened if event["event"] in ("step_finished", "goto")]
    steps = steps_told(done, setting)
    if happened and happened[-1]["event"] == "run_finished":
        return Run(steps, happened[-1]["result"].upper(), " ".join(happened[-1]["message"].split()))
    return Run.told(steps, said, code)


def steps_told(done: Iterable[tuple[dict[str, Any], bool]], setting: Setting) -> tuple[Step | Moved, ...]:
    """Return the steps and jumps in the entries of a run, each with whether it is a jump."""
    jumps = iter(setting.jumps)
    return tuple(
        Moved(next(jumps)) if is_jump else Step(one["step"], one["attempt"], str(one["outcome"]))
        for one, is_jump in done
    )
