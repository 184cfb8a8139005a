"""Random specifications driven by make: to their end, with gates approved one by one, and killed on the way."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from backends.registry import load
from tests.stepspecs.invariants import check_records, read_records
from tests.stepspecs.random_runs import document
from tests.support import warm
from tests.support.makefiles import PATIENCE, environment, kill_all
from tests.support.specifications import program_of, table_of

MOST_CALLS = 40
EXECUTOR = """
[ ! -e slow ] || { echo $$ > began; sleep 0.2; }
echo "$RDC_STEP" >> log; n=$(grep -c . log); mkdir -p out; : > out/first.md; echo done > "out/$RDC_STEP.md"
[ $((n % 4)) != 3 ]
"""


class Driven:
    """A folder with the Makefile of a random specification."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.chance = folder, Random(seed)
        told: dict[str, Any] = document(Random(seed))
        told["config"] |= {"executor": EXECUTOR}
        told["config"].pop("guardrails", None)
        for step in told["step_specs"]:
            step["evidence"] = "none"
        emission = load("make").emit(program_of(told, folder), {})
        (folder / "Makefile").write_text(emission.text or "", encoding="utf-8")
        for companion in emission.companions:
            (folder / companion.path).parent.mkdir(exist_ok=True)
            (folder / companion.path).write_text(companion.text, encoding="utf-8")
        nodes = table_of(told, folder)["nodes"].items()
        gates = [(node["step"], name) for name, node in nodes if node["task"] == "gate"]
        self.most = {step["id"]: step["retries"]["max"] + 1 for step in told["step_specs"]}
        self.gated = {step: [gate for owner, gate in gates if owner == step] for step in self.most}

    def make(self, *words: str, kills: bool = False) -> str:
        """Call make, maybe kill it; the last line that it said."""
        process = subprocess.Popen(
            ["make", *words], cwd=self.folder, env=environment({}) if kills else warm.forking(environment({})),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        if kills and self.chance.random() < 0.5:
            time.sleep(self.chance.uniform(0, 0.5))
            kill_all(process.pid)
        said, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode in {0, 2, -signal.SIGKILL}
        for found in self.folder.glob(".rdc/*/run-*"):
            check_records(read_records(found), self.gated, self.most)
        return (said.splitlines() or [""])[-1]

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
