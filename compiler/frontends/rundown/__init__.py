"""Describe the Rundown runbook format; `frontend.py` reads it (docs/formats/rundown.md)."""

from compiler.frontends.base import Format
from compiler.frontends.rundown.options import OPTIONS

FORMAT = Format(
    name="rundown",
    noun="runbook",
    summary="Rundown runbooks (Markdown with ## steps)",
    suffixes=(".runbook.md",),
    module="compiler.frontends.rundown.frontend",
    formatter="compiler.frontends.rundown.formatting",
    drafts="compiler.frontends.rundown.drafts",
    grammars=("rundown.lark", "rundown_line.lark"),
    options=OPTIONS,
)
