"""Trials with operator's jumps: the run is started, moved and continued by separate calls."""

from __future__ import annotations

from typing import Protocol

from msgspec.structs import replace

from rdc.trials.run import Run, Setting

ENDS = ("COMPLETE", "STOP")


class Driver(Protocol):
    """Calls the program of one target in a trial. Each call lasts until the run waits or ends."""

    def begin(self) -> None:
        """Start the run with the answers of its first part."""

    def move(self, step: str) -> str:
        """Move the run to a step; return the error, or ""."""

    def go_on(self, part: int) -> None:
        """Continue the run with the answers of this part, counted from 0."""

    def told(self) -> Run:
        """Return the run so far, and how the last call ended."""


def drive(driver: Driver, setting: Setting) -> Run:
    """Run a program through the legs of a setting to its end. Remaining legs are ignored (S1)."""
    driver.begin()
    for part, leg in enumerate(setting.legs, start=1):
        if driver.told().result in ENDS:
            break
        if problem := driver.move(leg.step):
            return replace(driver.told(), result="", message=problem)
        driver.go_on(part)
    return driver.told()
