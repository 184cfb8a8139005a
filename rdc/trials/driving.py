"""Trials in which the operator takes the run to other steps: begun, moved and gone on with by calls of their own."""

from __future__ import annotations

from typing import Protocol

from msgspec.structs import replace

from rdc.trials.run import Run, Setting

ENDS = ("COMPLETE", "STOP")


class Driver(Protocol):
    """How the program of one target is called in a trial. Each call lasts until the run waits or ends."""

    def begin(self) -> None:
        """Begin the run, with the answers of its first part."""

    def move(self, step: str) -> str:
        """Take the run to a step; returns what is wrong, "" if nothing is."""

    def go_on(self, part: int) -> None:
        """Go on with the run, with the answers of this part, counted from 0."""

    def told(self) -> Run:
        """What the run has done so far, and how the last call ended."""


def drive(driver: Driver, setting: Setting) -> Run:
    """Drive a program through the legs of a setting, to its end; what is left over then is ignored (S1)."""
    driver.begin()
    for part, leg in enumerate(setting.legs, start=1):
        if driver.told().result in ENDS:
            break
        if problem := driver.move(leg.step):
            return replace(driver.told(), result="", message=problem)
        driver.go_on(part)
    return driver.told()
