"""Random specifications driven by make: to their end, with gates approved one by one, and killed on the way."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path
from random import Random

import pytest

from tests.differential.stepspec import check_records, read_records
from tests.support import warm
from tests.support.makefiles import PATIENCE, environment, kill_all, lay
from tests.support.stepspec_drives import MOST_CALLS, drive_of

pytestmark = pytest.mark.process


class Driven:
    """A folder with the Makefile of a random specification."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.chance = folder, Random(seed)
        program, self.gated, self.most = drive_of(folder, seed)
        lay(folder, program)

    def make(self, *words: str, kills: bool = False) -> str:
        """Call make, maybe kill it; the last line that it printed."""
        process = subprocess.Popen(
            ["make", *words], cwd=self.folder, env=environment({}) if kills else warm.forking(environment({})),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        if kills and self.chance.random() < 0.5:
            time.sleep(self.chance.uniform(0, 0.5))
            kill_all(process.pid)
        printed, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode in {0, 2, -signal.SIGKILL}
        for found in self.folder.glob(".rdc/*/run-*"):
            check_records(read_records(found), self.gated, self.most)
        return (printed.splitlines() or [""])[-1]

    def drive(self, *, kills: bool) -> str:
        """Drive the run to its end."""
        last = self.make("run", kills=kills)
        for _ in range(MOST_CALLS):
            if last == "rdc: COMPLETE":
                return last
            if not list(self.folder.glob(".rdc/*/journal")):
                last = self.make("run", kills=kills)
                continue
            waits = re.match(r"rdc: WAITING (\S+)", last)
            if waits and any(waits[1] in gates for gates in self.gated.values()):
                self.make("approve", f"GATE={waits[1]}", "BY=alice")
            last = self.make("resume", "RERUN=1", kills=kills)
        return last


@pytest.mark.share(4)
@pytest.mark.parametrize("kills", [False, True], ids=["waiting", "killed"])
@pytest.mark.parametrize("seed", range(6))
def test_make_drives_a_specification_to_its_end(seed: int, kills: bool, tmp_path: Path) -> None:
    driven = Driven(tmp_path, seed)
    if kills:
        (tmp_path / "slow").touch()
    assert driven.drive(kills=kills) == "rdc: COMPLETE"
    (records,) = tmp_path.glob(".rdc/*/run-*")
    manifest = json.loads((records / "manifest.json").read_text(encoding="utf-8"))
    assert {step["status"] for step in manifest["steps"]} == {"completed"}
