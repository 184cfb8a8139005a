"""Read the steps of a trial from the program's events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rdc.trials.run import Moved, Run, Setting, Step


def run_told(path: Path, setting: Setting, said: str, code: int) -> Run:
    """Return the run in a file of events. Without a final event, the last call's output gives the result."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    happened = [json.loads(line) for line in lines]
    steps = tuple(_steps(happened, setting))
    if happened and happened[-1]["event"] == "run_finished":
        return Run(steps, happened[-1]["result"].upper(), " ".join(happened[-1]["message"].split()))
    return Run.told(steps, said, code)


def _steps(happened: Sequence[dict[str, Any]], setting: Setting) -> Iterator[Step | Moved]:
    legs = iter(setting.legs)
    for event in happened:
        if event["event"] == "step_finished":
            yield Step(event["step"], event["attempt"], str(event["outcome"]))
        elif event["event"] == "goto":
            yield Moved(next(legs).step)
