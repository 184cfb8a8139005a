"""Inputs, guardrails, validation and evidence (B2, B10, B11, B13)."""

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from runtime_shim.engine.state import State
from runtime_shim.stepspec import checks
from runtime_shim.stepspec.attempt import attempt_so_far
from runtime_shim.stepspec.checks import checked, guarded, rules_of, strings_in, whole_words
from runtime_shim.stepspec.evidence import (
    checked_evidence,
    evidence_of,
    in_utc,
    json_or_text,
    read_strictly,
    records_in,
    unfit_for,
    whole_evidence,
)
from tests.runtime_shim.stepspec.stages import EXECUTE, compiled, direct, found, stage

pytestmark = pytest.mark.process


def test_inputs_must_be_there(tmp_path: Path) -> None:
    place = compiled(tmp_path, stage("inputs", "in.md", "gone.md", "pipe", "../x", "docs/", "docs"), EXECUTE)
    (tmp_path / "in.md").write_text("fine")
    (tmp_path / "docs").mkdir()
    os.mkfifo(tmp_path / "pipe")
    result = place.run("run")
    assert result.code == 1
    for trouble in ("gone.md does not exist", "pipe is not a regular file", "../x is outside the project",
                    "docs is not a regular file"):  # fmt: skip
        assert f"input {trouble}" in result.err
    assert "docs/" not in result.err
    assert found(place, "draft/inputs") == [{}]


def test_guardrails_look_at_the_specification_and_at_files(tmp_path: Path) -> None:
    config = {"guardrails": {"input": {"blocklist": ["top  Secret"], "patterns": [r"[A-Z]{3}-\d+"]}}}
    place = compiled(
        tmp_path, stage("inputs", "in.md"), EXECUTE, config=config, inputs={"a": ["see ABC-12"]}, description="x"
    )
    (tmp_path / "in.md").write_text("It is TOP\n secret.")
    result = place.run("run")
    assert result.code == 1
    assert "input guardrails: blocklist: top  Secret in in.md; pattern: [A-Z]{3}-\\d+ in inputs.a[0]" in result.err
    report = found(place, "draft/inputs")[0]["guardrails"]
    assert (report["stage"], report["status"]) == ("input", "failed")
    assert report["checked_at"].endswith("Z")
    assert report["violations"] == [
        {"rule": "blocklist: top  Secret", "where": "in.md", "text": "TOP\n secret"},
        {"rule": r"pattern: [A-Z]{3}-\d+", "where": "inputs.a[0]", "text": "ABC-12"},
    ]


def test_whole_words() -> None:
    for rules, text, is_found in (
        ({"blocklist": ["ass"]}, "a class, assess", False),
        ({"blocklist": ["ass"]}, "an ASS.", True),
        ({"blocklist": ["a.b"]}, "acb", False),
        ({"blocklist": ["C++"]}, "in C++ or", True),
        ({"blocklist": [" "]}, "x y", False),
        ({"patterns": ["to+"]}, "tools", False),
        ({"patterns": ["to+"]}, "too", True),
        ({"patterns": ["to+"]}, "TOO", False),
        ({"patterns": ["(?i)to+"]}, "TOO", True),
        ({"patterns": ["(?x) to+ # o"]}, "too", True),
        ({"patterns": ["a|b"]}, "ab", False),
        ({"patterns": [r"(\w)\1"]}, "an oo", True),
    ):
        assert any(re.search(pattern, text) for _, pattern in rules_of(rules)) == is_found, (rules, text)


def output_patterns(pattern: str) -> dict[str, Any]:
    return {"config": {"guardrails": {"output": {"patterns": [pattern]}}}}


def test_search_ends_with_the_attempt(tmp_path: Path) -> None:
    """What it says then is that the attempt took too long, and not what it has not found."""
    (tmp_path / "a.md").write_text("a" * 60)
    config = {**output_patterns("(a+)+b")["config"], "executor": "true", "step_timeout_seconds": 1}
    place = compiled(tmp_path, EXECUTE, stage("guardrails"), outputs=["a.md"], config=config)
    began = time.monotonic()
    assert (place.run("run").code, place.records()[-1]["how"]) == (1, "the attempt took longer than 1.0 s")
    assert time.monotonic() - began < 20


def test_search_that_cannot_be_done_is_a_violation(tmp_path: Path) -> None:
    report = guarded(direct(tmp_path, stepspec=output_patterns("(")), "output", lambda: [("x", "a")])
    assert report.kept["guardrails"]["status"] == "failed"
    assert report.kept["guardrails"]["violations"][0]["rule"] == "unfinished search"
    unguarded = guarded(direct(tmp_path, stepspec={}), "input", lambda: 1 / 0)  # type: ignore[arg-type,return-value]
    assert unguarded.kept == {}, "nothing is read"


def test_files_that_cannot_be_read_pass_no_guardrail(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"x" * (16 * 1024 * 1024 + 1))
    place = compiled(tmp_path, EXECUTE, stage("guardrails"), outputs=["long"], config=output_patterns("x")["config"])
    result = place.run("run", "--executor", "true")
    assert (result.code, "output long is larger than 16,777,216 bytes" in result.err) == (1, True)


def test_json_of_others_is_read_strictly() -> None:
    assert read_strictly('{"a\\u0000": ["\\ud800"]}') == {"a\ufffd": ["\ufffd"]}
    for text in ("NaN", "1e999", "[" * 200 + "]" * 200, "[" * 9999, "{", ""):
        assert json_or_text(text) == text
    assert records_in({"a": 1}, "drrs") == records_in([{"a": 1}], "drrs") == [{"a": 1}]
    assert in_utc("9999-12-31T00:00:00Z", 90) == "9999-12-31T00:00:00Z"
    assert in_utc("2026-01-01T00:00:00.500+02:00") == "2025-12-31T22:00:00.500000Z"
    assert strings_in({"a": ["x", {"b": "y"}], "c": 1, "d": "z"}, "") == [("a[0]", "x"), ("a[1].b", "y"), ("d", "z")]
    assert whole_words("a") == r"(?<!\w)(?:a)(?!\w)"


def test_outputs_are_guarded_that_are_there(tmp_path: Path) -> None:
    place = compiled(
        tmp_path, EXECUTE, stage("guardrails"), outputs=["out/a.md", "gone.md"], retries=1,
        config={"guardrails": {"output": {"blocklist": ["TODO"]}},
                "executor": "mkdir -p out; if [ $RDC_ATTEMPT = 1 ]; then echo todo: x; fi > out/a.md"},
    )  # fmt: skip
    assert place.run("run").code == 0
    assert place.walk() == ["draft pass", "draft/guardrails fail", "draft pass", "draft/guardrails pass"]
    first, second = (record["guardrails"] for record in found(place, "draft/guardrails"))
    assert first["violations"] == [{"rule": "blocklist: TODO", "where": "out/a.md", "text": "todo"}]
    assert (first["stage"], second["status"], second["violations"]) == ("output", "passed", [])


@pytest.mark.parametrize(
    ("name", "content", "status", "message"),
    [
        ("a.json", b'{"a": 1}', "passed", ""),
        ("a.json", b'\xef\xbb\xbf{"a": 1}', "passed", ""),
        ("a.json", b"{'a': 1}", "failed", "not JSON: Expecting property name"),
        ("a.json", b"[NaN]", "failed", "not JSON: NaN"),
        ("a.json", b"[" * 100_000, "failed", "not JSON"),
        ("a.json", b"\xff", "failed", "not UTF-8"),
        ("a.yaml", b"a: [1, 2]\n---\nb: 2", "passed", ""),
        ("a.yml", b"a: [1", "failed", "not YAML: "),
        ("a.yml", b"a: *gone", "failed", "not YAML: found undefined alias"),
        ("a.yml", b"a: !!python/object/apply:os.system ['touch ran']", "passed", ""),
        ("a.py", b"import nowhere\nprint(1)\n", "passed", ""),
        ("a.py", b"def f(:\n", "failed", "not Python: invalid syntax"),
        ("a.py", b"x = " + b"(" * 5000, "failed", "not Python: "),
        ("a.md", b"# Title", "skipped", "not a JSON, YAML or Python file"),
    ],
)
def test_files_parse(tmp_path: Path, name: str, content: bytes, status: str, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    report = checked(direct(tmp_path), "parses", name)
    assert (report["check"], report["path"], report["status"]) == ("parses", name, status), report
    assert report.get("message", "").startswith(message)
    assert not (tmp_path / "ran").exists()


def test_yaml_without_its_parser_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.yml").write_text("a: [1")
    monkeypatch.setattr(checks, "PARSE", checks.PARSE.replace("import yaml", "import yaml_that_nobody_has"))
    report = checked(direct(tmp_path), "parses", "a.yml")
    assert (report["status"], report["message"]) == ("skipped", "PyYAML is not installed")


@pytest.mark.parametrize(
    ("check", "name"),
    [("ast", "a.json"), ("types", "a.json"), ("lint", "a.json"), ("types", "a.YML"), ("lint", "a.YML")],
)
def test_the_checks_of_code_parse_data_too(tmp_path: Path, check: str, name: str) -> None:
    for text, status in {"[]": "passed", "[NaN": "failed"}.items():
        (tmp_path / name).write_text(text)
        assert checked(direct(tmp_path), check, name)["status"] == status
    (tmp_path / "a.md").touch()
    report = checked(direct(tmp_path), check, "a.md")
    assert (report["status"], report["message"]) == ("skipped", "not a JSON, YAML or Python file")


def test_checks_that_are_skipped_are_shown(tmp_path: Path) -> None:
    checking = stage("validation", "a.json", "b.md", checks=("exists", "ast", "types"))
    place = compiled(tmp_path, EXECUTE, checking, config={"executor": "echo [] > a.json; touch b.md"})
    result = place.run("run")
    assert result.code == 0, result.err
    skipped = [f"b.md: {check} was skipped: not a JSON, YAML or Python file" for check in ("ast", "types")]
    assert all(f"    {line}\n" in result.err for line in skipped)
    assert result.err.count("skipped") == len(skipped)
    assert json.loads(place.run("status", "--json").out)["finished"][-1]["remarks"] == skipped
    assert all(f"        {line}\n" in place.run("status").out for line in skipped)


def test_targets_are_in_the_project_and_outputs_where_the_run_started(tmp_path: Path) -> None:
    for marker in ("rdc.toml", "pyproject.toml", ".git", ""):
        root = tmp_path / (marker or "none")
        inner = root / "deep" / "er"
        inner.mkdir(parents=True)
        if marker:
            (root / marker).write_text("[tool.rdc]\n")
        (root / "lib.json").write_text("[]")
        validation = stage("validation", "lib.json", "out.json", checks=("exists", "parses"))
        place = compiled(inner, EXECUTE, validation, outputs=["out.json"], config={"executor": "echo {} > out.json"})
        result = place.run("run")
        assert result.code == (0 if marker else 1), result.err
        assert ("lib.json does not exist" in result.err) == (not marker)


def test_types_and_style_are_checked_without_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text("open('ran', 'w')\ndef plugin(version):\n    raise SystemExit\n")
    (tmp_path / "mypy.ini").write_text("[mypy]\nplugins = evil.py\n")
    (tmp_path / "a.py").write_text("import os\n\nx: int = 'a'\n")
    stages = direct(tmp_path)
    assert checked(stages, "ast", "a.py")["status"] == "passed"
    types = checked(stages, "types", "./a.py")
    assert (types["status"], "a.py:3: error: Incompatible types" in types["message"]) == ("failed", True)
    lint = checked(stages, "lint", "a.py")
    assert (lint["status"], "F401" in lint["message"]) == ("failed", True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "evil.py", "mypy.ini"]


def test_tools_that_pass_or_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "-a.py").write_text("")
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "ruff").write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/got\n')
    (fake / "ruff").chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake}:/usr/bin:/bin")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert checked(direct(tmp_path), "lint", "-a.py")["status"] == "passed"
    assert (tmp_path / "got").read_text().endswith(" -- -a.py\n")
    report = checked(direct(tmp_path), "types", "-a.py")
    assert (report["status"], report["message"]) == ("skipped", "mypy is not installed")


def test_validation_that_fails_is_tried_again(tmp_path: Path) -> None:
    place = compiled(
        tmp_path, EXECUTE, stage("validation", "a.json", "b.md", checks=("exists", "parses")), retries=1,
        config={"executor": "echo [ > a.json; [ $RDC_ATTEMPT = 1 ] || { echo [] > a.json; touch b.md; }"},
    )  # fmt: skip
    result = place.run("run")
    assert result.code == 0, result.err
    assert "validation: a.json: parses: not JSON: Expecting value" in result.err
    assert "; b.md does not exist" in result.err
    first, second = (record["validation"] for record in found(place, "draft/validation"))
    assert [(one["path"], one["check"], one["status"]) for one in first["checks"]] == [
        ("a.json", "exists", "passed"), ("a.json", "parses", "failed"), ("b.md", "exists", "failed"),
    ]  # fmt: skip
    assert second["status"] == "passed"


NOW = "2026-01-31T12:00:00.123456Z"
SPEC = {"id": "draft", "name": "n", "description": "Do it", "outputs": ["a", "b"]}


def test_evidence_is_derived_and_completed() -> None:
    assert whole_evidence([], SPEC, "L2", NOW, {"ev-draft-1"}) == [
        {"id": "ev-draft-2", "claim": "Do it", "level": "L2", "source": "draft", "date": NOW,
         "valid_until": "2026-05-01T12:00:00.123456Z", "congruence": "CL1", "reliability": 0, "wlnk": 0,
         "carrier_ref": "a"}
    ]  # fmt: skip
    assert whole_evidence([], SPEC, "", NOW, ()) == []
    (bare,) = whole_evidence([], {"id": "s", "description": "", "name": None}, "L0", NOW, ())
    assert (bare["claim"], bare["carrier_ref"]) == ("s", None)
    given = [{"reliability": 0.5, "congruence": "CL2"}, {"id": "ev-draft-1", "wlnk": 0.3, "more": "x"},
             {"date": "2026-01-01", "level": "L0", "congruence": "CL3", "reliability": 1}]  # fmt: skip
    first, second, third = whole_evidence(given, SPEC, "L1", NOW, ())
    assert (first["id"], first["wlnk"], first["level"]) == ("ev-draft-2", 0.4, "L1")
    assert (second["id"], second["wlnk"], second["more"]) == ("ev-draft-1", 0.3, "x")
    assert (third["id"], third["wlnk"], third["date"]) == ("ev-draft-3", 1, "2026-01-01T00:00:00Z")
    assert third["valid_until"] == "2026-04-01T00:00:00Z"
    named = whole_evidence([{"carrier_ref": "b"}, {"carrier_ref": "a"}], SPEC, "L1", NOW, ())
    assert [one["carrier_ref"] for one in named] == ["b", "a"]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (3, "expected an object, or a list of objects"),
        ([{}, []], "expected an object, or a list of objects"),
        ([{}] * 1001, "more than 1000"),
        ({"level": "L3"}, "evidence 1: level: expected L0, L1 or L2"),
        ({"level": []}, "evidence 1: level: expected"),
        ([{}, {"congruence": "CL4"}], "evidence 2: congruence: expected CL1, CL2 or CL3"),
        ({"reliability": 1.1}, "reliability: expected a number from 0 to 1"),
        ({"reliability": True}, "reliability: expected a number"),
        ({"wlnk": "0.5"}, "wlnk: expected a number"),
        ({"claim": " "}, "claim: expected a string"),
        ({"id": 3}, "id: expected a string"),
        ({"date": "yesterday"}, "date: expected a date and time"),
        ({"valid_until": "2026-02-30T00:00:00Z"}, "valid_until: expected a date"),
        ({"id": "old"}, "the id old is already used"),
        ([{"id": "a"}, {"id": "a"}], "the id a is already used"),
    ],
)
def test_wrong_evidence_is_refused(given: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        checked_evidence(given, {"old"})


def test_outputs_are_linked_to_their_evidence(tmp_path: Path) -> None:
    evidence = '[{"carrier_ref": "a"}, {"claim": "both"}, {"carrier_ref": "a", "level": "L2"}]'
    place = compiled(
        tmp_path, EXECUTE, stage("outputs", "a", "b", subject="L1"), outputs=["a", "b"],
        config={"executor": f"""echo A > a; echo B > b; echo '{evidence}' > "$RDC_EVIDENCE_FILE" """},
    )  # fmt: skip
    result = place.run("run")
    assert result.code == 0, result.err
    record = found(place, "draft/outputs")[0]
    assert [one["evidence_ids"] for one in record["artifacts"]] == [
        ["ev-draft-1", "ev-draft-3"], ["ev-draft-1", "ev-draft-2", "ev-draft-3"],
    ]  # fmt: skip
    assert [one["carrier_ref"] for one in record["evidence"]] == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("carriers", "linked"),
    [
        ([""], ["0", "0"]),
        (["a"], ["0", "0"]),
        (["", "a"], ["1", "01"]),
        (["a", "b"], ["0", "1"]),
        (["a", ""], ["0", "01"]),
        (["b", "b"], ["01", "01"]),
    ],
)
def test_evidence_is_linked_to_all_outputs_that_no_other_record_names(carriers: list[str], linked: list[str]) -> None:
    given = [{"carrier_ref": each} if each else {"claim": "x"} for each in carriers]
    whole = [{"id": str(number)} for number in range(len(given))]
    assert ["".join(evidence_of(path, given, whole)) for path in ("a", "b")] == linked


def test_evidence_fits_its_step() -> None:
    for one, problem in (
        ({"level": "L0"}, "the level L0 is below L1"),
        ({"level": "L1"}, ""),
        ({"level": "L2"}, ""),
        ({"carrier_ref": "a"}, ""),
        ({"carrier_ref": "./a"}, "the carrier_ref ./a is not an output"),
        ({"carrier_ref": "https://elsewhere"}, "is not an output"),
        ({"date": "2026-01-01", "valid_until": "2025-12-31"}, "valid_until 2025-12-31 is before the date"),
        ({"date": "2026-01-01T10:00:00Z", "valid_until": "2026-01-01T11:59:59+02:00"}, "is before the date"),
        ({"date": "2026-01-01T10:00:00Z", "valid_until": "2026-01-01"}, ""),
        ({"date": "2026-01-01", "valid_until": "2026-01-01"}, ""),
        ({"valid_until": "2026-01-30"}, "is before the date"),
        ({"valid_until": "2026-01-31"}, ""),
        ({"date": "2020-01-01"}, ""),
    ):
        found = unfit_for({**SPEC, "evidence": "L1"}, one, NOW)
        assert (problem in found, bool(problem)) == (True, bool(found)), (one, found)
        assert unfit_for({"id": "s", "evidence": "none", "outputs": []}, one, NOW) == ""


@pytest.mark.parametrize(
    ("outputs", "executor", "problem"),
    [
        ([], "true", "evidence L1 is about an output, but the step has none"),
        (["a"], "ln -s /etc/passwd a", "output a is outside the project"),
    ],
)
def test_a_level_needs_an_output_in_the_project(
    tmp_path: Path, outputs: list[str], executor: str, problem: str
) -> None:
    outputs_stage = stage("outputs", *outputs, subject="L1")
    place = compiled(tmp_path, EXECUTE, outputs_stage, evidence="L1", config={"executor": executor})
    result = place.run("run")
    assert (result.code, found(place, "draft/outputs"), problem in result.err) == (1, [{}], True)


def test_attempt_has_what_rises_to_where_it_stands() -> None:
    kinds = {"i": ("inputs", 0), "a": ("tool", 0), "b": ("tool", 1), "x": ("execute", 0), "g": ("guardrails", 0)}
    steps = {name: {"step": "s", "stage": kind, "place": place} for name, (kind, place) in kinds.items()}
    steps["old"] = {"step": "r", "stage": "outputs", "place": 0}
    state = State([{"node": "x", "registers": {}, "program": "", "nodes": {}, "name": "", "source": "", "kind": "begin",
                    "condition": "running", "steps": []}])  # fmt: skip
    for names, expected in {"": "", "old i a b": "i a b", "i a b x g i b": "i b", "i a i a": "i a"}.items():
        state.finished = [{"node": name} for name in names.split()]
        assert [record["node"] for record in attempt_so_far(steps, state)] == expected.split()


def test_paths_and_specification_are_filled_in(tmp_path: Path) -> None:
    """A value is data: a quote in it does not end a string, and what looks like a placeholder stays."""
    folder = 'o"{folder}\\'
    place = compiled(
        tmp_path, stage("inputs", "{folder}/in"), EXECUTE, stage("outputs", "{folder}/out"), slots={"folder": folder},
        outputs=["{folder}/out"], config={"executor": "cat > request; cd o*/ && cp in out"},
    )  # fmt: skip
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "in").write_text("x")
    result = place.run("run")
    assert result.code == 0, result.err
    assert found(place, "draft/outputs")[0]["artifacts"][0]["path"] == f"{folder}/out"
    assert json.loads(place.text("request"))["step"]["outputs"] == [f"{folder}/out"]
    assert f"check the inputs: {folder}/in" in place.run("run", "--dry-run").out
