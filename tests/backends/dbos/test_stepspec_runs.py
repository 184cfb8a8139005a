"""Random specifications driven by a worker: to their end, with gates approved one by one, and failures resumed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from backends.registry import load
from tests.differential.drivers.dbos import DATABASE, RUN, missing, settled, working
from tests.differential.drivers.process import Done
from tests.differential.oracles.stepspec import check_records, read_records
from tests.support import warm
from tests.support.stepspec_drives import MOST_CALLS, drive_of

pytestmark = pytest.mark.process


class Driven:
    """A folder with the worker of a random specification."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        program, self.gated, self.most = drive_of(folder, seed)
        (folder / "worker.py").write_text(load("dbos").emit(program, {}).text or "", encoding="utf-8")
        self.words = [sys.executable, "worker.py"]
        self.place = folder / ".rdc" / program.name / RUN

    def call(self, *words: str) -> Done:
        """Call the program."""
        done = warm.run([*self.words, *words, *DATABASE], cwd=self.folder)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def records(self) -> Path:
        """The folder of the records, whose name has their form whatever the run is called."""
        (found,) = self.place.glob("run-*")
        return found

    def facts(self) -> dict[str, Any]:
        """The status of the run when no worker has it; its records are checked then."""
        facts = settled(self.call)
        check_records(read_records(self.records()), self.gated, self.most)
        return facts

    def drive(self) -> str:
        """Drive the run to its end."""
        self.call("start", "--id", RUN)
        facts = self.facts()
        for number in range(MOST_CALLS):
            if facts["state"] == "complete":
                break
            if facts["state"] == "waiting":
                done = self.call("approve", RUN, "--gate", facts["step"], "--by", "alice")
            else:
                done = self.call("retry" if facts["state"] == "stop" and number % 2 else "resume", RUN)
            assert done.code == 0, done.printed
            facts = self.facts()
        return str(facts["state"])


@pytest.mark.share(12)
@pytest.mark.parametrize("seed", range(12))
def test_a_worker_drives_a_specification_to_its_end(seed: int, tmp_path: Path) -> None:
    if lacking := missing():
        pytest.skip(lacking)
    driven = Driven(tmp_path, seed)
    with working(driven.words, tmp_path, None) as printed:
        assert driven.drive() == "complete"
    assert "Traceback" not in "".join(printed)
    manifest = json.loads((driven.records() / "manifest.json").read_text(encoding="utf-8"))
    assert {step["status"] for step in manifest["steps"]} == {"completed"}
