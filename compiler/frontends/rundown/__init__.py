"""Rundown runbooks: docs/formats/rundown.md. This says what the format is; `frontend.py` is what reads it."""

from compiler.frontends.format import Format
from compiler.frontends.rundown.options import OPTIONS

FORMAT = Format(
    name="rundown",
    noun="runbook",
    summary="Rundown runbooks (Markdown with ## steps)",
    suffixes=(".runbook.md",),
    module="compiler.frontends.rundown.frontend",
    drafts="compiler.frontends.rundown.drafts",
    grammars=("rundown.lark", "rundown_line.lark"),
    options=OPTIONS,
)
