"""Whatever a specification holds, rdc gives diagnostics or a program; formatting keeps its meaning, and is stable."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.diagnostics.model import Severity
from compiler.driver import Compilation, Formatting, Settings, compile_file, format_opened, open_file
from compiler.ir.verify import verify
from compiler.passes import optimize
from tests.compiler.frontends.rundown.test_any_text import check_findings, mutated
from tests.conftest import ROOT

# What specifications are made of, whole and broken, and what trips those who count lines and columns.
FRAGMENTS = (
    *("workflow: {module: m, workflow: w}", "step_specs:", "- id: one", "  - id: two", "  - {id: '{a}'}", "config: x"),
    *("config: {hitl: {policy: {required_phases: [a]}}}", "config: {max_retries: 2, runtime: {max_retries: 3}}"),
    *("config: {variables: {output_folder: out, a: ../b}}", "config: {tools: {x: {command: y, arguments: {type: z}}}}"),
    *("config: {guardrails: {input: {patterns: ['(']}}}", "    human_gate: required", "    human_gate: maybe"),
    *("    outputs: ['{output_folder}/x']", "    outputs: [x]", "    retries: {max: 1}", "    retries: {max: -1}"),
    *("    inputs: {artifacts: ['{output_folder}/y', ../z], telis_line: x}", "    inputs:", "    evidence: L1/L2"),
    *("    tools: [{name: readFile, args: {path: x}, risk: high, gate: one}]", "    tools:", "      - name: x"),
    *("    validation: AST", "    description: |\n      {a} lines\n\n", "    id: two", "scenarios: {a: 5}", "rdc: 5"),
    *("[", "{", "]", "}", '"', "'", "&a", "*a", "<<: *a", "? [x]", "---", "!!binary eA==", ".nan", "2020-01-01", "~"),
    *("", " ", "\t", "\r", "\r\n", "\v", "\x0c", "\x85", "\u2028", "\u202e", "\ufeff", "é", "🚀", "\ud7ff", "\\"),
)  # fmt: skip

_fragments = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=30)
_texts = st.text() | _fragments.map("\n".join) | _fragments.map("".join)
_whole = st.just("step_specs:\n  - id: zero")
_documents = _texts | st.tuples(_whole, _fragments.map("\n".join)).map("\n".join)
EXAMPLES = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("examples/specifications/*.stepspec.*"))]

_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_keys = st.sampled_from(["id", "name", "inputs", "outputs", "templates", "tools", "validation", "evidence", "retries"])
_steps = st.lists(st.dictionaries(_keys, _values, max_size=5), max_size=3)
_json = st.fixed_dictionaries({"step_specs": _steps}, optional={"config": _values, "workflow": _values}) | _steps


def made(data: bytes, name: str) -> tuple[Compilation, Formatting]:
    """What becomes of these bytes as a specification in a folder of its own, and its normal form."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rdc.toml").touch()
        path = Path(folder) / name
        path.write_bytes(data)
        return compile_file(str(path)), format_opened(open_file(str(path)), Settings())


def check(text: str, name: str = "main.stepspec.yaml") -> None:
    compiled, formatted = made(text.encode("utf-8", "surrogatepass"), name)
    check_findings(compiled.diagnostics, compiled.sources)
    has_errors = any(item.severity is Severity.ERROR for item in compiled.diagnostics)
    assert (compiled.program is None) == has_errors
    assert not formatted.result.defect
    if compiled.program is None:
        return
    verify(compiled.program)
    verify(optimize(compiled.program))
    assert formatted.result.text is not None
    again, stable = made(formatted.result.text.encode(), name)
    assert stable.result.text == formatted.result.text
    assert again.program is not None
    assert [node.task for node in again.program.nodes] == [node.task for node in compiled.program.nodes]
    assert again.program.stepspec == compiled.program.stepspec


@pytest.mark.share(4)
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(text=_documents)
def test_any_text(text: str) -> None:
    check(text)


@pytest.mark.share(4)
@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(value=_json)
def test_any_json(value: object) -> None:
    check(json.dumps(value), "main.stepspec.json")


@pytest.mark.share(4)
@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(text=st.sampled_from(EXAMPLES), number=st.integers(0, 10_000))
def test_any_example_with_errors(text: str, number: int) -> None:
    check(mutated(text, random.Random(number)))
