"""The folder of the reports of a run on GitHub, which texts name (I30)."""

import os
from pathlib import Path

from runtime_shim.legacy.runner_calls import BEGINNING
from runtime_shim.legacy.runner_state import Run

REPORTS = "reports"


def place_reports(run: Run) -> None:
    """Let texts say where the reports of this job lie."""
    folder = Path(os.environ["RUNNER_TEMP"], "rdc", REPORTS)
    folder.mkdir(exist_ok=True)
    if "folder" in run.program:
        run.registers[run.program["folder"]] = str(folder)


BEGINNING.append(place_reports)
