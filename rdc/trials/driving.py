"""Trials in which the operator takes the run to other units: begun, moved and gone on with by calls of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rdc.trials.run import Run, Setting

ENDS = ("COMPLETE", "STOP")


class Driver(Protocol):
    """How the program of one target is called in a trial. Each call lasts until the run waits or ends."""

    def begin(self, answers: Sequence[str]) -> None:
        """Begin the run with these answers to its prompts."""

    def move(self, unit: str) -> str:
        """Take the run to a unit; returns what is wrong, "" if nothing is."""

    def go_on(self, answers: Sequence[str]) -> None:
        """Go on with the run."""

    def told(self) -> Run:
        """What the run has done so far, and how the last call ended."""


def drive(driver: Driver, setting: Setting) -> Run:
    """Drive a program through the legs of a setting, to its end; what is left over then is ignored (S1)."""
    first, *others = [*(leg.answers for leg in setting.legs), setting.answers]
    driver.begin(first)
    for leg, answers in zip(setting.legs, others, strict=True):
        if driver.told().result in ENDS:
            break
        if problem := driver.move(leg.unit):
            return driver.told()._replace(result="", message=problem)
        driver.go_on(answers)
    return driver.told()
