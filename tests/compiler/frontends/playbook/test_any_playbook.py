"""Whatever stands in a playbook, rdc gives diagnostics or a program; formatting keeps its meaning, and is stable."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from compiler.diagnostics.model import Severity
from compiler.driver import Compilation, Formatting, Settings, compile_file, format_opened, open_file
from compiler.frontends.playbook.check.rules import read
from compiler.ir.verify import verify
from compiler.passes import optimize
from compiler.text.source import Source
from tests.compiler.frontends.rundown.test_any_text import check_findings, mutated
from tests.conformance.test_playbook import playbook

# What playbooks are made of, whole and broken, and what trips those who count lines and columns.
FRAGMENTS = (
    *("# Title", "#  ", "#", "## STEP 1: One"),
    *("## STEP 2:  Two ", "##  STEP 07: x", "## STEP 1:   ", f"## STEP {9**40}: x"),
    *("## step 1: x", "## SYSTEM", "## system prompt", "## INPUTS"),
    *("## Artifacts", "## OUTPUT", "## Notes", "##", "##  "),
    *("### STEP 1a: Sub", "### STEP 2b: {{a}}", "### STEP 1aa: x"),
    *("### Other", "- `a` (text)", "- `b` (enum: x, , y): z"),
    *("- `a` (number: ten)", "- `c` ( )", "- c (text)", "* x", "-", "type: json", "type: {{a}}", "Type: {{ a", "type:"),
    *("@output(a)", '@output( b : enum , "x","y" , extract: "f" )', "@output(a b)"),
    *("@output(", "@output()", "@x(y)", "@"),
    *('@elicit(input, "q {{a}}")', '@elicit(SELECT, "q", "x",\'no\', "y")'),
    *("@elicit(confirm)", "@elicit(odd)", "@elicit(select)"),
    *("@prompt(file:a.md)", "@prompt(file:../a.md)", "@prompt(file:/etc/passwd)", "@prompt({{a}})", "@prompt(mcp:s/n)"),
    *("@prompt(x:y)", "@prompt( )", '@tool(c, t, {"x": "{{a}}"})'),
    *("@tool(c, t)", "@tool(c)", "@tool(,,)", "@tool(c, t, [)"),
    *('```if a == "x"```', ' ```if  b!="" ``` ', '```elif a != "y"```', "```else```"),
    *("```endif```", "```if a```", "```", "~~~"),
    *("{{a}}", "{{b:text:dflt}}", "{{ a }}", "{{1}}", "{{__elicit_step_1}}"),
    *("{{", "}}", "text", "  indented", "| a | b |"),
    *("---", "---\nrdc: {secrets: [A]}\n---"),
    *("---\n[\n---", "---\nscenarios: {x: {result: STOP}}\n---", "---\na: &a [*a]\n---"),
    *("", " ", "\t", "\r", "\r\n", "\v", "\f", "\x1c"),
    *("\x85", "\u2028", "\u202e", "\ufeff", "é", "🚀", "\ud7ff", "\\", "\0"),
)  # fmt: skip

_fragments = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=30)
_texts = st.text() | _fragments.map("\n".join) | _fragments.map("\n\n".join) | _fragments.map("".join)
_playbooks = _texts | st.tuples(st.just("# T\n## STEP 1: One"), _fragments.map("\n".join)).map("\n".join)


def made(data: bytes) -> tuple[Compilation, Formatting]:
    """What becomes of these bytes as a playbook in a folder of its own, and its normal form."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rdc.toml").touch()
        (Path(folder) / "a.md").write_text("The prompt of a file, {{a}}.", encoding="utf-8")
        path = Path(folder) / "main.playbook.md"
        path.write_bytes(data)
        return compile_file(str(path)), format_opened(open_file(str(path)), Settings())


def examine(data: bytes) -> None:
    """What must hold of every playbook."""
    compilation, formatting = made(data)
    has_errors = any(found.severity is Severity.ERROR for found in compilation.diagnostics)
    assert has_errors == (compilation.program is None)
    check_findings(compilation.diagnostics, compilation.sources)
    if compilation.program:
        verify(compilation.program)
        verify(optimize(compilation.program))
    assert not formatting.result.defect
    if compilation.facts:
        compilation.facts()
    text, before = formatting.result.text, formatting.opened.source
    if text is None or not isinstance(before, Source):
        return
    again = made(before.encode(text))[1].result
    assert again.text == text, "a second formatting changes nothing"
    assert again.renumbered == ()
    kept = {"RD709", "RD717"}  # what formatting fixes
    codes = [item.code for item in read(before).found if item.code not in kept]
    after = Source(before.path, before.name, text, before.sha256, before.has_mark)
    assert [item.code for item in read(after).found if item.code not in kept] == codes


@settings(max_examples=500, suppress_health_check=[HealthCheck.too_slow])
@given(text=_playbooks)
@example(text="\ufeff---\r\nname: x\r\n---\r\n# A\r\n\r\n## STEP 1: A\r\n\r\nx\r\n")
@example(text="# A\n## STEP 1: A\n---\nx\n---\n")
@example(text="\n---\na: b\n---\n# A\n## STEP 1: A\n")
def test_any_text(text: str) -> None:
    examine(text.encode("utf-8", "surrogatepass"))


@settings(max_examples=60)
@given(data=st.binary() | st.tuples(_texts, st.binary(max_size=4)).map(lambda both: both[0].encode() + both[1]))
def test_any_bytes(data: bytes) -> None:
    examine(data)


@pytest.mark.share(2)
@pytest.mark.parametrize("block", range(4))
def test_random_playbooks_with_errors(block: int) -> None:
    for seed in range(block, 100, 4):
        text, moves = playbook(seed), random.Random(seed)
        examine(text.encode())
        for _ in range(2):
            examine(mutated(text, moves, FRAGMENTS).encode())
