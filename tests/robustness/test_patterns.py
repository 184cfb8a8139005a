"""Regular expressions that take very long to match: `rdc check` warns of them, and no run waits for them."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

from tests.robustness.size import limited
from tests.support.cli import call, document, environment

pytestmark = pytest.mark.process

SLOW = r"\d*" * 12
DIGITS = "1" * 60 + "x"
"""What takes years to be refused."""


def runbook(pattern: str, default: str = "") -> str:
    output = {"pattern": pattern, **({"default": default} if default else {})}
    return f'---\nrdc: {{inputs: {{N: {json.dumps(output)}}}}}\n---\n\n# A\n\n## 1. B\n\n```bash\necho "$N"\n```\n'


def test_a_default_that_takes_long_to_match_is_refused_soon_and_no_other_is_tried(tmp_path: Path) -> None:
    output = {f"n{number}": {"pattern": SLOW, "default": DIGITS} for number in range(40)}
    document(
        tmp_path,
        "a.runbook.md",
        f"---\nrdc: {json.dumps({'inputs': output})}\n---\n\n# A\n\n## 1. B\n\n```bash\ntrue\n```\n",
    )
    begun = time.monotonic()
    done = limited(tmp_path, "check", "a.runbook.md")
    assert done.returncode == 1
    assert done.stderr.count("matching it takes too long") == 1
    assert time.monotonic() - begun < 20


def test_a_value_that_takes_long_to_match_is_refused_soon(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", runbook(SLOW))
    assert call("compile", "a.runbook.md", "--to", "make", "-o", "Makefile", cwd=tmp_path).code == 0
    words = ["make", f"N={DIGITS}"]
    done = subprocess.run(
        words, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "matching it takes too long" in done.stdout


@pytest.mark.parametrize(
    ("pattern", "character"),
    [
        (r"\d+\d+", "0"),
        (r"\d+,?\d+", "0"),
        (r"[a-z]+.*", "a"),
        (r"(a+)(a+)", "a"),
        (r"x(?:y*|[a-c]{2,}[b-d]*)z", "b"),
        (r".{1,200}.{1,200}", " "),
    ],
)
def test_repetitions_in_a_row_that_overlap_are_warned_of(pattern: str, character: str, tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", runbook(pattern))
    found = call("check", "a.runbook.md", cwd=tmp_path)
    assert found.code == 0
    assert "RD136" in found.err
    assert f"both match {character!r}" in found.err


@pytest.mark.parametrize(
    "pattern", [r"v\d+\.\d+\.\d+", r"[^/]+/[^/]+", r"a+|a+", r"a*ba*", r"\d{4}-\d{2}", r"a?a?", r"[a-z][a-z0-9-]*"]
)
def test_others_are_fine(pattern: str, tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", runbook(pattern))
    assert "RD136" not in call("check", "a.runbook.md", cwd=tmp_path).err


def test_overlapping_repetitions_of_validations_and_guardrails_are_warned_of(tmp_path: Path) -> None:
    reads = "{keywords: [DONE], validation: 'a+a+'}"
    document(tmp_path, "a.workflow.yaml", f"name: a\nsteps: [{{name: b, prompt: c, report: {reads}, end: true}}]\n")
    guards = "{guardrails: {input: {patterns: ['a+a+']}}}"
    text = f"workflow: {{module: a, workflow: b}}\nconfig: {guards}\nstep_specs: [{{id: a}}]\n"
    document(tmp_path, "a.stepspec.yaml", text)
    for name in ("a.workflow.yaml", "a.stepspec.yaml"):
        assert "RD136" in call("check", name, cwd=tmp_path).err


@pytest.mark.share(3)
@pytest.mark.parametrize("pattern", ["a{1,99}" * 6 + "b", "(?i:a*)" * 5 + "b", "(a|a)" * 40 + "b"])
def test_a_scenario_with_a_validation_that_takes_long_ends_soon(pattern: str, tmp_path: Path) -> None:
    report = {"name": "r", "format": "text", "validation": pattern}
    steps = [{"name": "b", "prompt": "c", "report": report, "conditions": [{"keyword": "DONE", "goto": "b"}]}]
    document(tmp_path, "a.workflow.yaml", json.dumps({"name": "a", "steps": steps}))
    scenario = {"one": {"agents": {"b": "a" * 3000 + "\nDONE"}, "result": "STOP"}}
    document(tmp_path, "a.scenarios.yaml", json.dumps(scenario))
    done = limited(tmp_path, "test", "a.workflow.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
