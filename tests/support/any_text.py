"""What must hold of any text as a document: rdc gives diagnostics or a program, and never fails."""

import json
import random
from collections.abc import Callable, Mapping, Sequence

from hypothesis import strategies as st

from compiler.diagnostics.model import Diagnostic, Severity
from compiler.driver import Compilation
from compiler.ir.program import Program
from compiler.ir.verify import verify
from compiler.passes import optimize
from compiler.text.source import Source, Span
from rdc.report.report import FORMATS, Report, render
from tests.support import interpreters
from tests.support.warm.codes import code_of

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


def texts(fragments: Sequence[str], whole: str = "") -> st.SearchStrategy[str]:
    """Any text, and the fragments of a format in any order, some behind the beginning of a whole document."""
    some = st.lists(st.sampled_from(fragments) | st.text(max_size=8), max_size=30)
    found = st.text() | some.map("\n".join) | some.map("\n\n".join) | some.map("".join)
    return found | some.map(lambda parts: "\n".join([whole, *parts])) if whole else found


def check(compilation: Compilation, to_python: Callable[[Program], str]) -> None:
    """What must hold of every compilation, and of the Python program that comes of it."""
    check_compilation(compilation)
    if compilation.program:
        code_of(to_python(compilation.program).encode(), "program.py", interpreters.kept_code())


def check_compilation(compilation: Compilation) -> None:
    """The same without a target: errors or a program that is whole."""
    has_errors = any(found.severity is Severity.ERROR for found in compilation.diagnostics)
    assert has_errors == (compilation.program is None)
    check_findings(compilation.diagnostics, compilation.sources)
    if compilation.program:
        verify(compilation.program)
        verify(optimize(compilation.program))


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
