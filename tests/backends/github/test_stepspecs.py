"""Workflows of specifications: checked by linters, run by the second engine, attacked by their executors."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from backends.base import Emission
from backends.registry import load
from compiler.ir.program import Program
from tests.backends.github.continued import outcomes
from tests.backends.github.walking import Clean
from tests.conftest import ROOT
from tests.support import actions_engine as engine
from tests.support.cli import call
from tests.support.documents import program_at
from tests.support.github.compiling import LOADER, beside, program_of

pytestmark = pytest.mark.tool

PUBLISH = """
workflow: {module: notes, workflow: publish, phase: Release}
config:
  variables: {output_folder: public}
  executor: |
    mkdir -p public && echo "$RDC_STEP" >> public/log && echo "$RDC_STEP" > "public/$RDC_STEP.md"
    [ ! -e fail-$RDC_STEP ] && [ "$RDC_STEP" != broken ]
  tools:
    announce: {command: "cat > /dev/null; echo announced", risk: high}
step_specs:
  - {id: write, description: Write the notes, outputs: ["{output_folder}/write.md"]}
  - id: announce
    description: Tell everybody
    inputs: {artifacts: ["{output_folder}/log"]}
    outputs: ["{output_folder}/announce.md"]
    tools: [{name: announce, required: true}]
    human_gate: required
  - {id: end, description: Clean up}
"""


def compiled(folder: Path, document: str = PUBLISH) -> Program:
    (folder / "rdc.toml").touch()
    return program_of(folder, document, "notes.stepspec.yaml")


def emitted(program: Program, **options: Any) -> Emission:
    found = load("github").emit(program, options)
    assert found.text, found.diagnostics
    return found


def written(folder: Path, document: str = PUBLISH, **options: Any) -> str:
    return beside(folder, emitted(compiled(folder, document), **options))


class Place:
    """A repository with the workflow of a document, and its runs, whose artifacts stay."""

    def __init__(self, folder: Path, document: str = PUBLISH, **options: Any) -> None:
        self.folder, self.history = folder / "repository", folder / "history"
        self.folder.mkdir()
        self.workflow = written(self.folder, document, **options)

    def run(self, *decisions: str, number: int = 1, **inputs: str) -> engine.EngineRun:
        given: dict[str, Any] = {"environments": {"approval": decisions}, "run_id": number, "inputs": inputs}
        return engine.run(self.folder, self.workflow, history=self.history, **given)

    def artifacts(self, number: int = 1) -> Path:
        return self.history / str(number) / "artifacts"

    def records(self, name: str, number: int = 1) -> Any:
        *_, path = sorted(self.artifacts(number).glob(f"rdc-transcript*/run-*/{name}.json"))
        return json.loads(path.read_text(encoding="utf-8"))


EXAMPLES = sorted((ROOT / "examples" / "specifications").rglob("*.stepspec.*"))
HOSTILE = r"""
workflow: {module: "m ${{ x }}", workflow: "w'; $(touch x) `x`"}
config: {executor: "echo '${{ github.token }}' $(x)"}
step_specs:
  - id: "a'b ${{ github.token }} $(touch x)"
    name: "name: # ${{ y }}"
    description: "::warning::x\n##[error]y ${{ z }}"
    human_gate: required
    tools: [{name: "run: |", gate: "it's ${{ x }} || true"}, {name: other, gate: "]]> `x` $(x)", required: true}]
    outputs: ["{output_folder}/${{ x }}"]
  - {id: "x --help", human_gate: required, validation: "AST ${{ x }}"}
  - {id: "n;-n", human_gate: required}
"""


def test_what_a_document_says_stays_a_text_in_workflows(tmp_path: Path, clean: Clean) -> None:
    text = emitted(compiled(tmp_path, HOSTILE)).text or ""
    clean(text)
    workflow = yaml.load(text, LOADER)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert not any("${{" in step.get("run", "") for step in steps)
    wanted = (
        r"\$\{\{ ('\$\{\{'|(!?inputs|needs|steps|github\.(token|workflow|ref)|runner\.temp|!cancelled\(\))[^}]*) \}\}"
    )
    assert "${{" not in re.sub(wanted, "", text)
    assert workflow["jobs"]["part_1"]["steps"][-1]["name"] == "Save prompts and answers"


def test_the_tools_of_the_trade_find_nothing_in_workflows(clean: Clean) -> None:
    options: list[dict[str, Any]] = [
        {},
        {"executor": {"run": "./do.sh", "secrets": ["KEY"]}, "secrets": ["KEY"], "tools": {"announce": "./tool.sh"}},
        {"on": ["workflow_dispatch", "workflow_call"]},
        {"executor": "./do.sh", "environment": "production", "approval-environment": "board"},
    ]
    assert len(EXAMPLES) >= len(options)
    for path, given in zip(EXAMPLES, options, strict=False):
        clean(emitted(program_at(path), **{"executor": "./do.sh", **given}).text or "")


def test_no_expression_stands_in_a_script_and_secrets_stand_in_steps_that_need_them(tmp_path: Path) -> None:
    found = emitted(compiled(tmp_path), executor={"run": "./do.sh", "secrets": ["KEY"]}, secrets=["KEY", "OTHER"])
    workflow = yaml.load(found.text or "", LOADER)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert not any("${{" in step.get("run", "") for step in steps)
    having = {step["name"] for step in steps if "secrets." in str(step.get("env", ""))}
    assert having == {"write", "announce", "end", "Close the run"}
    assert "OTHER" not in str([job["steps"] for job in workflow["jobs"].values()])
    assert all("secrets." not in str(job.get("env", "")) for job in workflow["jobs"].values())
    assert workflow["permissions"] == {}


def test_each_step_is_a_native_one_with_its_comment_and_its_time(tmp_path: Path) -> None:
    document = PUBLISH.replace("human_gate: required", "retries: {max: 2, backoff_seconds: 30}")
    text = emitted(compiled(tmp_path, document)).text
    assert text
    assert "CALL: step announce\n" in text
    assert "timeout-minutes: 92 # limit of an attempt 30m × 3 + 2\n" in text  # two pauses of 30 s, and a minute
    called = r"# Tool announce: .*risk.*at most 30 s\n      # Executor:\n(?:      #   .*\n){2,}      - name: announce"
    assert re.search(called, text)
    assert re.search(r"calls the tool announce {.*\n            calls the executor, with up to 2 retries\n", text)


def test_a_step_that_a_person_would_do_is_refused(tmp_path: Path) -> None:
    program = compiled(tmp_path, "[{id: a, description: b}]")
    assert [one.code for one in load("github").emit(program, {}).diagnostics] == ["RD532"]
    assert load("github").emit(program, {"executor": "./do.sh"}).text


def test_a_step_that_may_take_longer_than_its_job_is_warned_of(tmp_path: Path) -> None:
    document = PUBLISH.replace("description: Clean up", "retries: {max: 20, backoff_seconds: 100}")
    found = emitted(compiled(tmp_path, document), **{"timeout-minutes": 20})
    assert [one.code for one in found.diagnostics] == ["RD537"] * 3 + ["RD527"]
    assert all("step_timeout_seconds" in one.help for one in found.diagnostics[:3])
    steps = [step for job in yaml.load(found.text or "", LOADER)["jobs"].values() for step in job["steps"]]
    assert {step["timeout-minutes"] for step in steps if "timeout-minutes" in step} == {20}


FAILS_AT_FIRST = PUBLISH.replace(
    '[ "$RDC_STEP" != broken ]', '{ [ "$RDC_STEP" != announce ] || [ "$GITHUB_RUN_ID" = 2 ]; }'
)


def test_a_run_goes_through_its_gates_fails_and_goes_on_in_another_run(tmp_path: Path) -> None:
    place = Place(tmp_path, FAILS_AT_FIRST)
    done = place.run("approved", "approved", output_folder="public")
    assert (outcomes(done)["write"], outcomes(done)["announce"]) == ("success", "failure")
    assert "gh workflow run workflow.yml --ref main -f resume=1" in done.summary
    approvals = place.records("approvals")
    assert [(one["gate_id"], one["approved_by"]) for one in approvals] == [
        ("notes:publish:announce:hitl", "octocat"),
        ("tool:announce:announce", "octocat"),
    ]
    again = place.run(number=2, resume="1")
    assert again.exit_code == 0, again.log
    assert {name: job.result for name, job in again.jobs.items() if name.startswith("approve")} == {
        "approve_notes_publish_announce_hitl": "skipped",
        "approve_tool_announce_announce": "skipped",
    }
    assert place.records("approvals", 2) == approvals
    assert [(step["step_id"], step["status"], step["attempts"]) for step in place.records("manifest", 2)["steps"]] == [
        ("write", "completed", 1),
        ("announce", "completed", 2),
        ("end", "completed", 1),
    ]
    assert again.summary.count("WorkflowCompleted") == 1
    outputs = place.artifacts(2) / "outputs" / "public"
    assert sorted(path.name for path in outputs.iterdir()) == ["announce.md", "write.md"]


FAILS = """
config:
  executor: |
    echo "$RDC_STEP" >> log; mkdir -p out && cp log out/log.md; [ "$RDC_STEP" != second ] || [ "$GITHUB_RUN_ID" = 2 ]
step_specs:
  - {id: first, outputs: ["{output_folder}/log.md"]}
  - {id: second, validation: Format validation, inputs: {validation_targets: [log]}}
"""


def test_another_program_than_that_of_the_workflow_is_not_run(tmp_path: Path) -> None:
    place = Place(tmp_path, FAILS)
    program = place.folder / ".github" / "rdc" / "notes.py"
    program.write_text(program.read_text(encoding="utf-8") + "#\n", encoding="utf-8")
    done = place.run(output_folder="out")
    assert done.exit_code != 0
    assert "notes.py is missing or was changed" in done.log
    assert outcomes(done)["first"] == "skipped"


@pytest.mark.soak
def test_what_an_input_says_stays_a_text(tmp_path: Path) -> None:
    place = Place(tmp_path, FAILS)
    assert place.run(output_folder="@/etc/$(touch hacked)'\"`${{ github.token }}").exit_code != 0
    assert not list(tmp_path.rglob("hacked"))
    spec = place.records("manifest")["step_specs"][0]
    assert spec["outputs"] == ["@/etc/$(touch hacked)'\"`${{ github.token }}/log.md"]


def test_values_of_secrets_come_into_no_record(tmp_path: Path) -> None:
    document = FAILS.replace("step_specs:", '  tools: {tell: {command: \'echo "\\"$KEY\\""\'}}\nstep_specs:')
    document = document.replace("{id: first,", "{id: first, tools: [{name: tell, required: true}],")
    program = Place(tmp_path, document, secrets=["KEY"]).folder / ".github" / "rdc" / "notes.py"
    env = {"PATH": os.environ["PATH"], "KEY": "a-very-secret-value", "RDC_SECRETS": "KEY", "GITHUB_RUN_ID": "2"}
    words = [sys.executable, str(program), "run", "--input", "output_folder=out"]
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (found,) = tmp_path.rglob("tool_results.json")
    assert json.loads(found.read_text(encoding="utf-8"))[0]["result"] == "***"
    assert not [path for path in (tmp_path / ".rdc").rglob("*") if path.is_file() and b"a-very" in path.read_bytes()]


GATED = r"""
workflow: {module: notes, workflow: publish, phase: Release}
config:
  variables: {output_folder: public}
  executor: |
    echo "$RDC_STEP" >> "$FOLDER/done"
    [ "$RDC_STEP" != write ] || [ ! -e "$FOLDER/attack.sh" ] || sh "$FOLDER/attack.sh"
step_specs:
  - {id: write, description: Write the notes}
  - {id: announce, description: Tell everybody, human_gate: required}
  - {id: end, description: Clean up}
"""
FAKE_PROGRAM = """
import os, subprocess, sys
open(os.environ["FOLDER"] + "/called", "a").close()
real = [sys.executable, os.environ["FOLDER"] + "/real.py"]
if sys.argv[1] == "status":
    for words in ("step announce", "approve --gate notes:publish:announce:hitl --by ceo", "step announce"):
        subprocess.run([*real, *words.split()], stdin=subprocess.DEVNULL, stdout=2)
sys.exit(subprocess.run([*real, *sys.argv[1:]]).returncode)
"""
ATTACKS = {
    "the program is replaced": (
        'for file in .github/rdc/*.py; do cp "$file" "$FOLDER/real.py"; chmod u+w "$file"; '
        'cat "$FOLDER/fake.py" > "$file"; done'
    ),
    "the program is removed and written again": (
        'for file in .github/rdc/*.py; do cp "$file" "$FOLDER/real.py"; rm -f "$file"; '
        'cp "$FOLDER/fake.py" "$file"; done'
    ),
    "later steps get another program by a file that it names or finds": (
        'cp .github/rdc/notes.py "$FOLDER/real.py"; { echo "RDC=$FOLDER/fake.py" >> "$GITHUB_ENV"; } 2> /dev/null; '
        'for file in "$RUNNER_TEMP"/*env*; do '
        'for name in RDC PYTHONSTARTUP PYTHONPATH RDC_FILE; do echo "$name=$FOLDER/fake.py" >> "$file"; done; done'
    ),
}


def attacked_run(
    folder: Path, document: str, *decisions: str, attack: str = ""
) -> tuple[engine.EngineRun, list[str], Path]:
    """Run a workflow whose executor attacks; return the run, the steps whose executor was called, and its traces."""
    repository, outside = folder / "repository", folder / "outside"
    repository.mkdir()
    (outside / "bin").mkdir(parents=True)
    workflow = written(repository, document)
    (outside / "fake.py").write_text(FAKE_PROGRAM, encoding="utf-8")
    (outside / "attack.sh").write_text(attack, encoding="utf-8")
    (outside / "bin" / "python3").write_text(f'#!/bin/sh\nenv >> "$FOLDER/fake"\nexec "{sys.executable}" "$@"\n')
    (outside / "bin" / "python3").chmod(0o755)
    env = {"FOLDER": str(outside), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    environments = {"approval": decisions} if decisions else {}
    done = engine.run(repository, workflow, history=folder / "history", env=env, environments=environments)
    steps = outside / "done"
    return done, steps.read_text(encoding="utf-8").split() if steps.exists() else [], outside


def test_nothing_runs_where_nobody_would_be_asked(tmp_path: Path) -> None:
    done, steps, _ = attacked_run(tmp_path, GATED)
    assert (done.conclusion == "success", steps) == (False, []), done.log
    assert 'Give the environment "approval" required reviewers.' in done.log


@pytest.mark.parametrize(
    "attack",
    [pytest.param(each, id=name, marks=[pytest.mark.soak] * ("again" in name)) for name, each in ATTACKS.items()],
)
def test_no_program_of_an_executor_gets_a_run_past_a_gate(attack: str, tmp_path: Path) -> None:
    """Also where the run seems to wait at no gate, so that nobody is asked: the job is skipped."""
    done, steps, outside = attacked_run(tmp_path, GATED, "rejected", attack=attack)
    assert (outside / "real.py").exists()
    assert not (outside / "called").exists()
    assert steps == ["write"]
    (gate,) = (job.result for name, job in done.jobs.items() if name.startswith("approve"))
    assert gate == "success" or done.jobs["part_2"].result == "skipped"
    assert done.jobs["part_2"].result != "success"
    assert done.conclusion != "success"


FILES = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")
ATTACKING = """
workflow: {module: notes, workflow: publish, phase: Release}
config:
  executor: |
    echo "$RDC_STEP" >> "$FOLDER/done"
    env >> "$FOLDER/executor"
    [ "$RDC_STEP" != write ] || sh "$FOLDER/attack.sh"
  tools:
    look: {command: "cat > /dev/null; env >> \\"$FOLDER/tool\\"; echo {}", risk: low}
step_specs:
  - {id: write, description: Write the notes, tools: [{name: look, required: true}]}
  - {id: announce, description: Tell everybody, human_gate: required}
  - {id: end, description: Clean up}
"""


def names(path: Path) -> set[str]:
    return {line.partition("=")[0] for line in path.read_text(encoding="utf-8").splitlines()}


COMMANDS = ["error title=rdc::", "warning::", "notice::", "add-mask::"]


@pytest.mark.soak
def test_executors_and_tools_tell_the_runner_nothing_and_do_not_know_where_it_listens(tmp_path: Path) -> None:
    """Nor do they add a folder to the path of later steps, which would call a program there with the job's token."""
    lines = "; ".join(f"echo '::{command}forged'" for command in COMMANDS)
    by_name = '{ echo "$FOLDER/bin" >> "$GITHUB_PATH"; } 2> /dev/null'
    found = 'for file in "$RUNNER_TEMP"/*path*; do [ ! -f "$file" ] || echo "$FOLDER/bin" >> "$file"; done'
    attack = f"{lines}; echo 'this is forged'; {by_name}; {found}"
    done, _, outside = attacked_run(tmp_path, ATTACKING, "approved", attack=attack)
    assert done.conclusion == "success", done.log
    for kind in ("executor", "tool"):
        known = names(outside / kind)
        assert not known & {*FILES, "GITHUB_TOKEN"}
        assert not [name for name in known if name.startswith("ACTIONS_")]
        assert {"GITHUB_SHA", "RDC_STEP"} <= known, "what says where the run is, they know"
    assert all(f"::{command}forged" in done.log for command in COMMANDS)
    assert "this is forged" in done.log
    assert "forged" not in str([job.annotations for job in done.jobs.values()])
    assert not (outside / "fake").exists() or "TOKEN" not in names(outside / "fake")


def test_agents_of_a_python_program_are_not_told_where_the_runner_listens(tmp_path: Path) -> None:
    (tmp_path / "a.playbook.md").write_text("# A\n\n## STEP 1: B\n\nSay it.\n", encoding="utf-8")
    assert call("compile", "a.playbook.md", "--to", "python", "-o", "a.py", cwd=tmp_path).code == 0
    env = {**os.environ, **{name: str(tmp_path / name) for name in (*FILES, "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN")}}
    words = [sys.executable, "a.py", "run", "--agent", "env > agent; echo said"]
    subprocess.run(words, cwd=tmp_path, env={**env, "GITHUB_SHA": "b"}, check=True, capture_output=True)
    assert not names(tmp_path / "agent") & {*FILES, "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN"}
    assert "GITHUB_SHA" in names(tmp_path / "agent")
