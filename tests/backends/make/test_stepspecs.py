"""Makefiles of specifications, run by GNU make: the line of steps, gates, files that are given, and resumes.

What goes for all Makefiles that call a program is in `test_calls.py`.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import pytest

from backends.base import Emission
from backends.registry import load
from compiler.driver import compile_file
from tests.differential.stepspec import check_records, read_records
from tests.support import warm
from tests.support.makefiles import PATIENCE, environment, kill_all, lay
from tests.support.stepspec_drives import MOST_CALLS, drive_of

pytestmark = pytest.mark.process

DOCUMENT = """
workflow: {module: notes, workflow: publish}
config:
  executor: echo "$RDC_STEP" >> log; mkdir -p out; echo done > "out/$RDC_STEP.md"; [ ! -e slow ] || sleep 30
step_specs:
  - id: step-01
    name: write
    description: Write the notes
    outputs: ["{output_folder}/step-01.md"]
  - id: tell it
    description: "Tell everybody: $(touch noticed) `touch noticed`"
    outputs: ["{output_folder}/tell it.md"]
    human_gate: required
"""
GATE = "notes:publish:tell it:hitl"


class Place:
    """A folder with the Makefile of a document, and the program beside it."""

    def __init__(self, folder: Path, document: str = DOCUMENT, **options: str) -> None:
        self.folder = folder
        (folder / "rdc.toml").touch()
        (folder / "notes.stepspec.yaml").write_text(document, encoding="utf-8")
        self.found = emitted(folder / "notes.stepspec.yaml", **options)
        (folder / "Makefile").write_text(self.found.text or "", encoding="utf-8")
        for companion in self.found.companions:
            (folder / companion.path).parent.mkdir(exist_ok=True)
            (folder / companion.path).write_text(companion.text, encoding="utf-8")

    def make(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["make", *words],
            cwd=self.folder,
            env=warm.forking(environment(variables)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def last(self, *words: str, **variables: str) -> str:
        return (self.make(*words, **variables).stdout.splitlines() or [""])[-1]

    def records(self, name: str) -> Any:
        (path,) = self.folder.glob(f".rdc/notes/run-*/{name}.json")
        return json.loads(path.read_text(encoding="utf-8"))


def emitted(path: Path, **options: str) -> Emission:
    program = compile_file(str(path)).program
    assert program
    found = load("make").emit(program, options)
    assert found.text, found.diagnostics
    return found


@pytest.mark.share(2)
def test_make_does_the_line_of_steps_and_stops_at_a_gate(tmp_path: Path) -> None:
    place = Place(tmp_path)
    first = place.make("output_folder=out")
    assert (first.returncode, first.stdout.splitlines()[-1].partition(GATE)[0]) == (2, "rdc: WAITING ")
    assert "Error 75" in first.stderr
    for reply in ("approved", "rejected"):
        assert f"to answer: make answer STEP='{GATE}' REPLY={reply}\n" in first.stdout
    assert (tmp_path / "log").read_text() == "step-01\n"
    assert "WAITING" in place.make("status").stdout
    place.make("approve", f"GATE={GATE}", "BY=ana", "NOTE=fine $(shell touch x) 'really'")
    assert place.last("resume") == "rdc: COMPLETE"
    (approval,) = place.records("approvals")
    assert (approval["approved_by"], approval["note"]) == ("ana", "fine $(shell touch x) 'really'")
    assert (tmp_path / "log").read_text() == "step-01\ntell it\n"
    assert place.last("step-01") == "rdc: step step-01 is completed"
    assert "WorkflowCompleted" in place.make("timeline").stdout
    assert not list(tmp_path.glob("[xt]")) + list(tmp_path.glob("noticed"))


def test_what_a_document_says_stays_a_text(tmp_path: Path) -> None:
    hostile = "$(touch x)'\"`touch x`$(shell touch x)$x#\\\\"
    ids = [f"{hostile} {number}" for number in range(3)]
    specs = [{"id": one, "name": one, "description": one} for one in ids]
    place = Place(tmp_path, json.dumps({"config": {"executor": "true"}, "step_specs": specs}))
    assert place.last() == "rdc: COMPLETE"
    assert [step["step_id"] for step in place.records("manifest")["steps"]] == ids
    assert not (tmp_path / "x").exists()


@pytest.mark.share(2)
def test_files_of_inputs_tools_and_answers(tmp_path: Path) -> None:
    tools = "    tools: [{name: count, required: true}]\n"
    document = DOCUMENT.replace("    human_gate: required\n", f"    human_gate: required\n{tools}")
    document = document.replace("step_specs:", "  tools: {count: {command: 'false'}}\nstep_specs:")
    place = Place(tmp_path, document)
    (tmp_path / "inputs").write_text("output_folder=out\n", encoding="utf-8")
    (tmp_path / "tools").write_text(
        "# who counts\n\ncount=cat > /dev/null; echo '\"3\"' | tee counted\n", encoding="utf-8"
    )
    (tmp_path / "answers").write_text(f"{GATE} approved\n", encoding="utf-8")
    assert place.last("INPUTS=inputs", "TOOLS=tools", "ANSWERS=answers") == "rdc: COMPLETE"
    assert (tmp_path / "counted").exists()


def test_a_file_of_answers_that_changed_approves_no_gate_in_make(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (tmp_path / "answers").touch()
    assert "WAITING" in place.last("output_folder=out", "ANSWERS=answers")
    (tmp_path / "answers").write_text(f"{GATE} approved\n", encoding="utf-8")
    done = place.make("resume", "ANSWERS=answers")
    assert "answers has changed since this run first used it, so it decides no gate" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("rdc: WAITING")


def test_a_failing_step_stops_the_line_and_a_resume_goes_on(tmp_path: Path) -> None:
    place = Place(tmp_path)
    done = place.make("output_folder=out", "EXECUTOR=false")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (2, "rdc: STOP step step-01 failed")
    assert "Error 1" in done.stderr
    assert place.last("resume", "HUMAN=1") == "rdc: COMPLETE"


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert place.last("approve") == "rdc: error: GATE is missing; for help, run: make help"
    assert place.last("answer", "STEP=a") == "rdc: error: REPLY is missing; for help, run: make help"
    assert "output_folder" in place.last()
    assert {"make approve", "GATE=ID", "make timeline"} < {" ".join(line.split()[:2]) for line in help_of(place)} | {
        line.split()[0] for line in help_of(place) if line
    }
    shown = place.make("-n", "run", "step-01", "step-tell-it").stdout.splitlines()
    called = [line for line in shown if line.startswith("python3")]
    assert called == [f"python3 ./rdc/notes.py {words}" for words in ("run", "step step-01", "step tell%20it")]


def help_of(place: Place) -> list[str]:
    return [line.strip() for line in place.make("help").stdout.splitlines() if line.strip()]


def test_what_a_specification_cannot_do_is_refused(tmp_path: Path) -> None:
    place = Place(tmp_path)
    for given, *verb in (("PROMPTED=1",), ("BREAK=step-01", "step-01"), ("AGENT=x", "status")):
        name = given.partition("=")[0]
        refused = f"rdc: error: this Makefile does not take {name}; leave it out, or set it in make's environment"
        assert place.last(*verb, *(["output_folder=out"] * (not verb)), given) == refused
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / ".rdc").exists()


def test_what_operators_ask_for_is_there(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert "WAITING" in place.last("output_folder=out", "AS=eu-west", "NOTIFY=cat >> noticed")
    assert (tmp_path / ".rdc" / "notes@eu-west" / "journal").exists()
    assert '"event": "run_waiting"' in (tmp_path / "noticed").read_text(encoding="utf-8")
    place.make("approve", f"GATE={GATE}", "AS=eu-west")
    assert place.last("resume", "AS=eu-west") == "rdc: COMPLETE"


def test_each_step_has_a_target_of_its_own(tmp_path: Path) -> None:
    ids = ["run", "step-run", "a b", "step-a-b", "c"]
    document = {"config": {"executor": 'echo "$RDC_STEP" >> log'}, "step_specs": [{"id": one} for one in ids]}
    place = Place(tmp_path, json.dumps(document))
    targets = re.findall(r"^(step-[^ ]*): ;", place.found.text or "", re.MULTILINE)
    assert len(set(targets)) == len(ids)
    shown = place.make("-n", *targets).stdout.splitlines()
    called = [line.rpartition(" step ")[2] for line in shown if line.startswith("python3")]
    assert called == [quote(one) for one in ids]


def test_another_makefile_includes_one(tmp_path: Path) -> None:
    place = Place(tmp_path, **{"state-dir": "state"})
    (tmp_path / "Makefile").rename(tmp_path / "notes.mk")
    (tmp_path / "Makefile").write_text("all: ; @echo mine $(output_folder)\ninclude notes.mk\n", encoding="utf-8")
    assert place.last() == "mine"
    done = place.make("run", "output_folder=out")
    assert "to answer: make answer STEP=" in done.stdout
    assert (tmp_path / "state" / "notes" / "journal").exists()


# --- Random specifications --------------------------------------------------------------------------------------------


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


@pytest.mark.share(6)
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
