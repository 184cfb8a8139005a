"""Whatever stands in a file, rdc gives diagnostics or a program, and never fails."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from compiler.diagnostics.model import Diagnostic, Severity
from compiler.driver import Compilation, Settings, compile_file
from compiler.frontends.rundown import Layout
from compiler.ir.program import Program
from compiler.ir.verify import verify
from compiler.passes import optimize
from compiler.text.source import Source, Span
from rdc.report.report import FORMATS, Report, render
from tests.conftest import ROOT
from tests.support import interpreters
from tests.support.warm.codes import code_of

ToPython = Callable[[Program], str]

EXAMPLES = sorted((ROOT / "examples").rglob("*.runbook.md"))

# What runbooks are made of, whole and broken, and what trips those who count lines and columns.
FRAGMENTS = (
    *("# Title", "## 1. Build", "## 2", "## {N}. Item {N}", "## Recover", "## 1.1", "##", "## NEXT", f"## {9**40}"),
    *("### 1.1 Part", "### 1.{n}", "### {N}.{n} Both", "### Recover.1", "### .", "#### Deep", "Title\n===", "A\n---"),
    *("```bash\ntrue\n```", "```", "~~~sh prompt\nfalse\n~~~", "```json {x}\n{}\n```", "    indented", "> ## 1. A"),
    *("- PASS: CONTINUE", "- FAIL: RETRY 2 GOTO Recover", '- YES: COMPLETE "done"', "- NO: STOP", "- PASS: GOTO NEXT"),
    *("- PASS ALL: GOTO {N}.1", "- FAIL: RETRY RETRY", "- PASS: GOTO", "- PASS CONTINUE", '- FAIL ANY: STOP "open'),
    *("* PASS: GOTO 1.{n}", "- lint.runbook.md", "- ../x.runbook.md", "- main.runbook.md", "- /etc/passwd.runbook.md"),
    *("---", "---\nname: x\n---", "---\nrdc: {transitions: after-header}\n---", "---\n[\n---", "---\na: &a [*a]\n---"),
    *('---\na: "\u2028"\nrdc: {t: {b: [c, {d: }]}, e: 1}\n---', "---\nrdc: &r {t: *r, <<: *r}\n---"),
    *("- PASS", "1. PASS: STOP", "<!--", "-->", "", " ", "\t", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028"),
    *("\u202e", "\ufeff", "é", "🚀", "\ud7ff", "{N} ${n}", "\\"),
)  # fmt: skip

_fragments = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=25)
_texts = st.text() | _fragments.map("\n".join) | _fragments.map("\n\n".join) | _fragments.map("".join)


def compiled(data: bytes, layout: Layout | None = None, *, link: bool = True) -> Compilation:
    """What becomes of these bytes as a runbook in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rdc.toml").touch()
        path = Path(folder) / "main.runbook.md"
        path.write_bytes(data)
        return compile_file(str(path), Settings("rundown", {"transitions": layout} if layout else {}, link))


def check(compilation: Compilation, to_python: ToPython) -> None:
    """What must hold of every compilation."""
    has_errors = any(found.severity is Severity.ERROR for found in compilation.diagnostics)
    assert has_errors == (compilation.program is None)
    check_findings(compilation.diagnostics, compilation.sources)
    if compilation.program:
        verify(compilation.program)
        verify(optimize(compilation.program))
        code_of(to_python(compilation.program).encode(), "program.py", interpreters.kept_code())


def check_findings(diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> None:
    """What must hold of all findings together: each says something, at a place that is there, in every format."""
    for found in diagnostics:
        assert found.message.strip()
        assert found.help.strip()
        places = [(found.path, found.span), *((near.path, near.span) for near in found.related)]
        for path, span in places:
            if span:
                assert_inside(span, sources[path])
    for form in FORMATS:
        rendered = render(Report.of(diagnostics, sources), form)
        rendered.encode()
        if form in ("json", "sarif"):
            json.loads(rendered)
        assert all(found.code in rendered for found in diagnostics)


def assert_inside(span: Span, source: Source) -> None:
    """A span begins before it ends, at lines and columns that are there; the end of a line can be pointed at."""
    start, end = (span.line, span.column), (span.end_line, span.end_column)
    assert (1, 1) <= start <= end, span
    assert end[0] <= len(source.lines), span
    first, last = source.lines[start[0] - 1], source.lines[end[0] - 1]
    assert start[1] <= len(first) + 1, (span, first)
    assert end[1] <= max(len(last) + 1, start[1] + 1), (span, last)


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(text=_texts, layout=st.sampled_from([None, "after-body", "after-header"]), link=st.booleans())
@example(text="", layout=None, link=True)
@example(text="\ufeff---\r\nname: x\r\n---\r\n\r\n## 1. A\r\n\r\n- PASS: GOTO 7\r\n", layout=None, link=True)
def test_any_text(text: str, layout: Layout | None, link: bool, to_python: ToPython) -> None:
    check(compiled(text.encode("utf-8", "surrogatepass"), layout, link=link), to_python)


@settings(max_examples=150)
@given(data=st.binary() | st.tuples(_texts, st.binary(max_size=4)).map(lambda both: both[0].encode() + both[1]))
def test_any_bytes(data: bytes, to_python: ToPython) -> None:
    check(compiled(data), to_python)


@settings(max_examples=100)
@given(data=st.binary(max_size=200))
def test_any_bytes_in_a_file_of_any_name(data: bytes, to_python: ToPython) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notes.txt"
        path.write_bytes(data)
        check(compile_file(str(path)), to_python)


def mutated(text: str, moves: random.Random, fragments: Sequence[str] = FRAGMENTS) -> str:
    """A document with a few lines deleted, doubled or swapped, and characters put in or taken out."""
    lines = text.split("\n")
    for _ in range(moves.randint(1, 4)):
        here, there = moves.randrange(len(lines)), moves.randrange(len(lines))
        match moves.randrange(6):
            case 0:
                del lines[here]
            case 1:
                lines.insert(there, lines[here])
            case 2:
                lines[here], lines[there] = lines[there], lines[here]
            case 3:
                place = moves.randint(0, len(lines[here]))
                lines[here] = lines[here][:place] + moves.choice('#-`:.{}Nn 1"\t\\é🚀\r\x00') + lines[here][place:]
            case 4:
                lines[here] = lines[here][: moves.randint(0, len(lines[here]))]
            case _:
                lines.insert(there, moves.choice(fragments))
        lines = lines or [""]
    return "\n".join(lines)


@pytest.mark.share(5)
@pytest.mark.parametrize("document", EXAMPLES, ids=lambda path: path.name.removesuffix(".runbook.md"))
def test_examples_with_errors(document: Path, to_python: ToPython) -> None:
    text = document.read_text(encoding="utf-8")
    check(compiled(text.encode(), link=False), to_python)
    moves = random.Random(document.name)
    for _ in range(25):
        check(compiled(mutated(text, moves).encode(), link=False), to_python)
