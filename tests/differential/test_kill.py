"""A specification's program that is killed at random moments, many times: its records always keep to the rules."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.differential.stepspec import check_records, read_records
from tests.support.stepped import compiled_to

pytestmark = pytest.mark.process

STEPS = ("s0", "s1", "s2")
GATE = "m:w:s1:hitl"
MOST_CALLS = 40
EXECUTOR = """
echo "$RDC_STEP" >> executed
[ $(grep -c "$RDC_STEP" executed) -ne 2 ] || exit 1
sleep 0.05
echo "made by $RDC_STEP" > "out/$RDC_STEP.md"
"""
DOCUMENT = {
    "workflow": {"module": "m", "workflow": "w"},
    "config": {"variables": {"output_folder": "out"}, "executor": EXECUTOR},
    "step_specs": [
        {
            "id": step,
            "outputs": [f"{{output_folder}}/{step}.md"],
            "human_gate": "required" if step == "s1" else "optional",
            "tools": [{"name": "writeFile", "args": {"path": "{output_folder}/t.txt", "text": step}, "required": True}],
            "validation": "format",
            "evidence": "L1",
            "retries": {"max": 1, "backoff_seconds": 0},
        }
        for step in STEPS
    ],
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_to(tmp_path_factory.mktemp("compiled"), DOCUMENT)


def called(program: Path, folder: Path, seconds: float | None, *words: str) -> int:
    """The exit code of a call, which is killed after so many seconds."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, str(program), *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            return process.wait()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.share(8)
def test_a_run_survives_kills(compiled: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    (tmp_path / "out").mkdir()
    code = called(compiled, tmp_path, chance.uniform(0.05, 0.5), "run")
    records = None
    for number in range(MOST_CALLS):
        records = next(tmp_path.glob(".rdc/*/run-*"), None)
        if records is not None:
            check_records(read_records(records), {"s0": [], "s1": [GATE], "s2": []}, dict.fromkeys(STEPS, 2))
        if code == 0:
            break
        has_begun = any(journal.stat().st_size for journal in tmp_path.glob(".rdc/*/journal"))
        words = ["resume", "--rerun-interrupted"] if has_begun else ["run"]
        if code == 75:
            called(compiled, tmp_path, None, "approve", "--gate", GATE, "--by", "alice")
        code = called(compiled, tmp_path, chance.uniform(0.05, 0.6) if number < 12 else None, *words)
    assert code == 0, (tmp_path / "log").read_text(encoding="utf-8")
    assert records is not None
    manifest = json.loads((records / "manifest.json").read_text(encoding="utf-8"))
    assert [step["status"] for step in manifest["steps"]] == ["completed"] * 3
    executed = (tmp_path / "executed").read_text(encoding="utf-8").split()
    assert executed == sorted(executed), "no step is executed again once a later one has begun"
