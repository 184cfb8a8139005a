"""Makefiles of specifications, run by GNU make: the line of steps, gates, files that are given, and resumes.

What goes for all Makefiles that call a program is in `test_calls.py`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.backends.make.loops import written
from tests.support.backend_programs import Made

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


def placed(folder: Path, document: str = DOCUMENT, **options: str) -> Made:
    return written(folder, "notes.stepspec.yaml", document, **options)


def records_of(made: Made, name: str) -> Any:
    (path,) = made.folder.glob(f".rdc/notes/run-*/{name}.json")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.share(2)
def test_make_does_the_line_of_steps_and_stops_at_a_gate(tmp_path: Path) -> None:
    place = placed(tmp_path)
    for refused in ("PROMPTED", "BREAK", "AGENT"):
        assert f"this Makefile does not take {refused}; " in place.end("output_folder=out", f"{refused}=1")
    first = place.make("output_folder=out")
    printed = first.stdout.decode()
    assert (first.returncode, printed.splitlines()[-1].partition(GATE)[0]) == (2, "rdc: WAITING ")
    assert b"Error 75" in first.stderr
    for reply in ("approved", "rejected"):
        assert f"to answer: make answer STEP='{GATE}' REPLY={reply}\n" in printed
    assert (place.read("log"), b"WAITING" in place.make("status").stdout) == (b"step-01\n", True)
    place.make("approve", f"GATE={GATE}", "BY=ana", "NOTE=fine $(shell touch x) 'really'")
    assert place.end("resume") == "rdc: COMPLETE"
    (approval,) = records_of(place, "approvals")
    assert (approval["approved_by"], approval["note"]) == ("ana", "fine $(shell touch x) 'really'")
    assert (place.read("log"), place.end("step-01")) == (b"step-01\ntell it\n", "rdc: step step-01 is completed")
    assert b"WorkflowCompleted" in place.make("timeline").stdout
    assert not list(tmp_path.glob("[xt]")) + list(tmp_path.glob("noticed"))


def test_what_a_document_says_stays_a_text(tmp_path: Path) -> None:
    hostile = "$(touch x)'\"`touch x`$(shell touch x)$x#\\\\"
    ids = [f"{hostile} {number}" for number in range(3)]
    specs = [{"id": one, "name": one, "description": one} for one in ids]
    place = placed(tmp_path, json.dumps({"config": {"executor": "true"}, "step_specs": specs}))
    assert place.end() == "rdc: COMPLETE"
    assert [step["step_id"] for step in records_of(place, "manifest")["steps"]] == ids
    assert not (tmp_path / "x").exists()


@pytest.mark.share(2)
def test_files_of_inputs_tools_and_answers(tmp_path: Path) -> None:
    tools = "    tools: [{name: count, required: true}]\n"
    document = DOCUMENT.replace("    human_gate: required\n", f"    human_gate: required\n{tools}")
    document = document.replace("step_specs:", "  tools: {count: {command: 'false'}}\nstep_specs:")
    place = placed(tmp_path, document)
    (tmp_path / "inputs").write_text("output_folder=out\n", encoding="utf-8")
    counts = "# who counts\n\ncount=cat > /dev/null; echo '\"3\"' | tee counted\n"
    (tmp_path / "tools").write_text(counts, encoding="utf-8")
    (tmp_path / "answers").write_text(f"{GATE} approved\n", encoding="utf-8")
    assert place.end("INPUTS=inputs", "TOOLS=tools", "ANSWERS=answers") == "rdc: COMPLETE"
    assert (tmp_path / "counted").exists()


def test_a_failing_step_stops_the_line_and_a_resume_goes_on(tmp_path: Path) -> None:
    place = placed(tmp_path)
    done = place.make("output_folder=out", "EXECUTOR=false")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (2, b"rdc: STOP step step-01 failed")
    assert b"Error 1" in done.stderr
    assert place.end("resume", "HUMAN=1") == "rdc: COMPLETE"


def test_another_makefile_includes_one(tmp_path: Path) -> None:
    place = placed(tmp_path, **{"state-dir": "state"})
    (tmp_path / "Makefile").rename(tmp_path / "notes.mk")
    (tmp_path / "Makefile").write_text("all: ; @echo mine $(output_folder)\ninclude notes.mk\n", encoding="utf-8")
    assert place.end() == "mine"
    assert b"to answer: make answer STEP=" in place.make("run", "output_folder=out").stdout
    assert (tmp_path / "state" / "notes" / "journal").exists()
