"""Makefiles of specifications, run by GNU make: the line of steps, gates, hostile values, kills and resumes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from backends.base import Emission
from backends.registry import load
from compiler.driver import compile_file
from tests.support import warm
from tests.support.makefiles import PATIENCE, environment

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
    description: "Tell everybody: $(touch told) `touch told`"
    outputs: ["{output_folder}/tell it.md"]
    human_gate: required
"""
GATE = "notes:publish:tell it:hitl"
HOSTILE = ("$(shell touch x)", "'; touch x; '", '`touch x`"$(touch x)"', "@/etc/passwd", "--help # \\")


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
        """Run make to its end."""
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
        """Run make; the last line on standard output."""
        return (self.make(*words, **variables).stdout.splitlines() or [""])[-1]

    def records(self, name: str) -> Any:
        """What a file of the run's records holds."""
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
    assert not list(tmp_path.glob("[xt]")) + list(tmp_path.glob("told"))


@pytest.mark.share(2)
def test_values_of_the_command_line_are_texts(tmp_path: Path) -> None:
    place = Place(tmp_path)
    for value in HOSTILE:
        place.make(f"output_folder={value}", "EXECUTOR=false $(shell touch x)", f"whatever={value}")
        spec = place.records("manifest")["step_specs"][0]
        assert spec["outputs"] == [f"{value}/step-01.md"]
        assert not (tmp_path / "x").exists()


def test_a_value_with_an_at_sign_names_no_file(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (tmp_path / "secret").write_text("mine\n", encoding="utf-8")
    for value in ("@secret", "@@secret", "@"):
        place.make(f"output_folder={value}")
        assert place.records("manifest")["step_specs"][0]["outputs"] == [f"{value}/step-01.md"]


def test_what_a_document_says_stays_a_text(tmp_path: Path) -> None:
    hostile = "$(touch x)'\"`touch x`$(shell touch x)$x#\\\\"
    ids = [f"{hostile} {number}" for number in range(3)]
    specs = [{"id": one, "name": one, "description": one} for one in ids]
    place = Place(tmp_path, json.dumps({"config": {"executor": "true"}, "step_specs": specs}))
    assert place.last() == "rdc: COMPLETE"
    assert [step["step_id"] for step in place.records("manifest")["steps"]] == ids
    assert not (tmp_path / "x").exists()


def test_nobody_else_is_given_what_make_was_given(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.make("output_folder=out", "EXECUTOR=env > seen; mkdir -p out; touch out/step-01.md")
    seen = (tmp_path / "seen").read_text(encoding="utf-8")
    assert "RDC_STEP=step-01" in seen
    assert not re.search(r"^(output_folder|EXECUTOR|RDC_GIVEN|RDC_SCRIPT|RDC_MAKE|MAKE\w+)=", seen, re.MULTILINE)


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


def test_a_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (tmp_path / "slow").touch()
    words, quiet = ["make", "output_folder=out"], subprocess.DEVNULL
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment({}), stdin=quiet, stdout=quiet, start_new_session=True
    ) as process:
        until = time.monotonic() + PATIENCE
        while not (tmp_path / "log").exists() and time.monotonic() < until:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
    (tmp_path / "slow").unlink()
    status = place.make("status").stdout
    assert "make resume RERUN=1" in status
    assert "WAITING" in place.last("resume", "RERUN=1")
    assert (tmp_path / "log").read_text() == "step-01\nstep-01\n"


def test_another_program_is_not_called(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with (tmp_path / "rdc" / "notes.py").open("a", encoding="utf-8") as file:
        file.write("print('changed')\n")
    done = place.make("output_folder=out")
    assert done.returncode == 2
    assert "is not the program that belongs to this Makefile" in done.stdout
    assert not (tmp_path / ".rdc").exists()
    (tmp_path / "rdc" / "notes.py").unlink()
    assert "cannot read" in place.make("status").stdout


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert place.last("approve") == "rdc: error: GATE is missing; for help, run: make help"
    assert place.last("answer", "STEP=a") == "rdc: error: REPLY is missing; for help, run: make help"
    assert "output_folder" in place.last()
    assert {"make approve", "GATE=ID", "make timeline"} < {" ".join(line.split()[:2]) for line in told(place)} | {
        line.split()[0] for line in told(place) if line
    }
    shown = place.make("-n", "run", "step-01", "step-tell-it").stdout.splitlines()
    called = [line for line in shown if line.startswith("python3")]
    assert called == [f"python3 ./rdc/notes.py {words}" for words in ("run", "step step-01", "step tell%20it")]


def told(place: Place) -> list[str]:
    """What `make help` says."""
    return [line.strip() for line in place.make("help").stdout.splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("given", "verb"),
    [
        ("PROMPTED=1", []), ("PROMPTED=0", ["resume"]), ("BREAK=step-01", ["step-01"]),
        ("AGENT=x", ["status"]),
    ],
)  # fmt: skip
def test_what_a_specification_cannot_do_is_refused(given: str, verb: list[str], tmp_path: Path) -> None:
    place = Place(tmp_path)
    name = given.partition("=")[0]
    told_so = f"rdc: error: this Makefile does not take {name}; leave it out, or set it in make's environment"
    assert place.last(*verb, *(["output_folder=out"] * (not verb)), given) == told_so
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / ".rdc").exists()


def test_what_operators_ask_for_is_there(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert "WAITING" in place.last("output_folder=out", "AS=eu-west", "NOTIFY=cat >> told")
    assert (tmp_path / ".rdc" / "notes@eu-west" / "journal").exists()
    assert '"event": "run_waiting"' in (tmp_path / "told").read_text(encoding="utf-8")
    place.make("approve", f"GATE={GATE}", "AS=eu-west")
    assert place.last("resume", "AS=eu-west") == "rdc: COMPLETE"


def test_the_environment_is_not_refused(tmp_path: Path) -> None:
    place = Place(tmp_path)
    made = place.make("output_folder=out", AS="as", PROMPTED="1", EXPIRE="1h")
    assert "does not take" not in made.stdout
    assert (tmp_path / "out" / "step-01.md").exists()


def test_an_input_may_have_a_name_that_other_makefiles_give_a_meaning(tmp_path: Path) -> None:
    place = Place(tmp_path, DOCUMENT.replace("Write the notes", "Write the notes of {BREAK}"))
    assert "does not take" not in place.make("BREAK=today", "output_folder=out").stdout
    assert (tmp_path / "out" / "step-01.md").exists()


def test_each_step_has_a_target_of_its_own(tmp_path: Path) -> None:
    ids = ["run", "step-run", "step-step-run", "a b", "step-a-b", "step-c", "c"]
    document = {"config": {"executor": 'echo "$RDC_STEP" >> log'}, "step_specs": [{"id": one} for one in ids]}
    place = Place(tmp_path, json.dumps(document))
    targets = re.findall(r"^(step-[^ ]*): ;", place.found.text or "", re.MULTILINE)
    assert len(set(targets)) == len(ids)
    assert place.make("open").returncode == 0
    for number, target in enumerate(targets, 1):
        assert place.make(target).returncode == 0
        assert (tmp_path / "log").read_text().splitlines() == ids[:number]
    assert place.last("resume") == "rdc: COMPLETE"
    assert (tmp_path / "log").read_text().splitlines() == ids


def test_another_makefile_includes_one(tmp_path: Path) -> None:
    place = Place(tmp_path, **{"state-dir": "state"})
    (tmp_path / "Makefile").rename(tmp_path / "notes.mk")
    (tmp_path / "Makefile").write_text("all: ; @echo mine $(output_folder)\ninclude notes.mk\n", encoding="utf-8")
    assert place.last() == "mine"
    done = place.make("run", "output_folder=out")
    assert "to answer: make answer STEP=" in done.stdout
    assert (tmp_path / "state" / "notes" / "journal").exists()


@pytest.mark.parametrize("name", ["EXECUTOR", "GATE", "MAKEFLAGS", "RDC", "RDC_STATE", "PATH"])
def test_an_input_with_a_name_of_make_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "rdc.toml").touch()
    path = tmp_path / "a.stepspec.yaml"
    path.write_text(f'[{{id: a, outputs: ["{{output_folder}}/{{{name}}}"]}}]', encoding="utf-8")
    program = compile_file(str(path)).program
    assert program
    assert "RD530" in {one.code for one in load("make").emit(program, {}).diagnostics}
