"""Whatever stands in a workflow, rdc gives diagnostics or a program; formatting keeps its meaning, and is stable."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from compiler.diagnostics.model import Severity
from compiler.driver import Compilation, Formatting, Settings, compile_file, format_opened, open_file
from compiler.ir.verify import verify
from compiler.passes import optimize
from tests.compiler.frontends.rundown.test_any_text import check_findings, mutated
from tests.differential.generate.agent_workflow import document, random_workflow

# What workflows are made of, whole and broken, and what trips those who count lines and columns.
FRAGMENTS = (
    *("name: a", "description: |\n  two\n  lines", "steps:", "- name: one", "  - name: two"),
    *("    prompt: x", "    prompt: |\n      lines  \n\n", "    prompt: |+\n      keeps\n\n"),
    *("    prompt: >-\n      folds", "    agent: a", "    parallel:"),
    *("      - agent: a\n        prompt: b", "    check: any", "    check: maybe", "    human: yes"),
    *("    report: {name: r, format: f, validation: 'A|B'}", "    report:"),
    *("    report: {validation: '('}", "    conditions:", "      - {keyword: A, goto: one}"),
    *("      - keyword: YES", "        goto: end", "    end: true", "    next: two", "    next: end"),
    *("rdc: {max-steps: 3}", "rdc: {steps: {one: {timeout: 9}}}", "scenarios: {a: 5}"),
    *("scenarios: {a: {result: COMPLETE, agents: {one: x}}}", "&a", "*a", "<<: *a", "? [x]", ": y", "---"),
    *("...", "%YAML 1.1", "# comment", "  # indented  ", "[", "{", "]", "}", '"', "'", "|", ">"),
    *("!!binary eA==", "!!set {a, b}", "~", "5", "", " ", "\t", "\r", "\r\n", "\v", "\x0c", "\x1c"),
    *("\x85", "\u2028", "\u202e", "\ufeff", "é", "🚀", "\ud7ff", "\\", "\x00"),
)  # fmt: skip

_fragments = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=30)
_texts = st.text() | _fragments.map("\n".join) | _fragments.map("".join)
_whole = st.just("name: a\nsteps:\n  - name: one\n    prompt: x")
_workflows = _texts | st.tuples(_whole, _fragments.map("\n".join)).map("\n".join)


def made(data: bytes) -> tuple[Compilation, Formatting]:
    """What becomes of these bytes as a workflow in a folder of its own, and its normal form."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rdc.toml").touch()
        path = Path(folder) / "main.workflow.yaml"
        path.write_bytes(data)
        return compile_file(str(path)), format_opened(open_file(str(path)), Settings())


def check(data: bytes) -> None:
    compiled, formatted = made(data)
    check_findings(compiled.diagnostics, compiled.sources)
    has_errors = any(item.severity is Severity.ERROR for item in compiled.diagnostics)
    assert (compiled.program is None) == has_errors
    assert not formatted.result.defect
    if compiled.program is None:
        return
    verify(compiled.program)
    verify(optimize(compiled.program))
    assert formatted.result.text is not None
    again, stable = made(formatted.result.text.encode())
    assert stable.result.text == formatted.result.text
    assert again.program is not None
    assert [node.task for node in again.program.nodes] == [node.task for node in compiled.program.nodes]


@pytest.mark.share(4)
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(text=_workflows)
@example(text="name: a\nsteps:\n- name: one\n  prompt: |+\n    x  \n\n\n\n\n- name: two\n  prompt: x")
@example(text="name: a\nsteps: &a\n- name: one\n  prompt: *a")
def test_any_text(text: str) -> None:
    check(text.encode("utf-8", "surrogatepass"))


@pytest.mark.share(4)
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10_000), number=st.integers(0, 10_000))
def test_any_workflow_with_errors(seed: int, number: int) -> None:
    check(mutated(document(random_workflow(seed).flow), random.Random(number)).encode("utf-8", "surrogatepass"))
