"""Step specifications on the command line: check, schema, fmt, trace, test, diff and compile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import ROOT, call, spawn

PLAN = """step_specs:
  - id: write
    outputs: ["{output_folder}/notes.md"]
    retries: {max: 1}
  - id: publish
    phase: Release
"""
POLICY = "hitl: {policy: {required_phases: [Release]}}\n"
NAME = "a.stepspec.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rdc.toml").touch()
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "runtime.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / NAME).write_text(PLAN, encoding="utf-8")
    return tmp_path


def test_findings_as_json_have_their_places(folder: Path) -> None:
    (folder / NAME).write_text(PLAN.replace("max", "mxa"), encoding="utf-8")
    (found,) = json.loads(call("check", NAME, "--format", "json", cwd=folder).out)["diagnostics"]
    assert (found["code"], found["line"], found["column"], found["end_column"]) == ("RD853", 4, 15, 21)


def test_findings_in_the_configuration_stand_in_its_file(folder: Path) -> None:
    (folder / "config" / "runtime.yaml").write_text("max_retries: -1\n", encoding="utf-8")
    said = call("check", NAME, cwd=folder)
    assert said.code == 1
    assert said.err.startswith("config/runtime.yaml:1:1: error[RD855]")


def test_specifications_of_a_folder_are_found_and_the_format_is_taken(folder: Path) -> None:
    (folder / "b.yaml").write_text("[]\n", encoding="utf-8")
    assert call("check", ".", cwd=folder).code == 0
    assert "[RD854]" in call("check", "b.yaml", "--from", "stepspec", cwd=folder).err


def test_the_schema_is_that_of_the_documentation(tmp_path: Path) -> None:
    schema = json.loads(call("schema", "step-specs", cwd=tmp_path).out)
    assert schema == json.loads((ROOT / "docs" / "step-specs.schema.json").read_text(encoding="utf-8"))
    assert schema["$defs"]["StepSpec"]["required"] == ["id"]
    assert all("description" in value for part in schema["$defs"].values() for value in part["properties"].values())


def test_output_is_stale_when_the_policy_has_changed(folder: Path) -> None:
    compile_it = ("compile", NAME, "--to", "python", "-o", "a.py")
    assert call(*compile_it, cwd=folder).code == 0
    assert call(*compile_it, "--check", cwd=folder).code == 0
    (folder / "config" / "runtime.yaml").write_text(f"# A remark.\n{POLICY}", encoding="utf-8")
    assert "[RD512]" in call(*compile_it, "--check", cwd=folder).err


def test_a_trace_follows_the_attempts(folder: Path) -> None:
    said = call("trace", NAME, "--outcomes", "write=fail,pass", cwd=folder).out
    lines = [(line.split()[0], line.split()[-1]) for line in said.splitlines()[1:]]
    assert lines == [
        *(("write", "FAIL"), ("write", "PASS"), ("write/validation", "PASS"), ("write/outputs", "PASS")),
        *(("a:a:publish:hitl", "APPROVED"), ("publish", "PASS"), ("=>", "COMPLETE")),
    ]


def test_versions_are_compared(folder: Path) -> None:
    (folder / "b.stepspec.yaml").write_text(PLAN.replace("max: 1", "max: 3"), encoding="utf-8")
    said = call("diff", NAME, "b.stepspec.yaml", cwd=folder)
    assert "write" in said.out


def test_a_specification_is_formatted(folder: Path) -> None:
    (folder / NAME).write_text(PLAN.replace("\n", " \n"), encoding="utf-8")
    assert call("fmt", "--check", NAME, cwd=folder).code == 1
    assert call("fmt", NAME, cwd=folder).code == 0
    assert (folder / NAME).read_text(encoding="utf-8") == PLAN
    (folder / "b.stepspec.json").write_text('[ {"id":"a"} ]', encoding="utf-8")
    assert call("fmt", "b.stepspec.json", cwd=folder).code == 0
    assert (folder / "b.stepspec.json").read_text(encoding="utf-8") == '[ {"id":"a"} ]'


def test_scenarios_are_played(folder: Path) -> None:
    scenarios = """scenarios:
  good: {inputs: {output_folder: x}, answers: {"a:a:publish:hitl": approved}, result: COMPLETE}
  again: {inputs: {output_folder: x}, answers: {write: [fail, fail]}, result: STOP}
  nobody approves: {inputs: {output_folder: x}, result: COMPLETE}
  unknown: {inputs: {output_folder: x}, answers: {writ: fail}, result: COMPLETE}
"""
    (folder / NAME).write_text(PLAN + scenarios, encoding="utf-8")
    said = call("test", NAME, cwd=folder)
    assert said.code == 1
    lines = [line.split()[0] for line in said.out.splitlines() if line[:1].isupper()]
    assert lines == ["PASSED", "PASSED", "FAILED", "FAILED"]
    assert "the run waits at step a:a:publish:hitl" in said.out


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "specifications").glob("*.stepspec.*")), ids=str)
def test_the_examples_are_right(path: Path) -> None:
    shown = path.relative_to(ROOT).as_posix()
    checked = call("check", shown, cwd=ROOT)
    assert (checked.code, "warning" in checked.err) == (0, False), checked.err
    tried = call("test", shown, cwd=ROOT)
    assert (tried.code, "passed" in tried.out + tried.err) == (0, True), tried.out + tried.err


def test_placeholders_are_given_when_compiling(folder: Path) -> None:
    told = call("compile", NAME, "--to", "dot", "-o", "-", "--var", "output_folder=site=1", cwd=folder)
    assert "default site=1" in told.out
    assert "NAME=VALUE" in call("check", NAME, "--var", "output_folder", cwd=folder).err


def test_a_run_says_how_to_go_on_with_the_values_it_was_given(folder: Path) -> None:
    words = ("--var", "output_folder=out", NAME, "--executor", "mkdir -p out; touch out/notes.md")
    said = spawn("run", *words, cwd=folder)
    assert said.code == 75
    assert f"rdc run --var output_folder=out {NAME} resume" in said.err
