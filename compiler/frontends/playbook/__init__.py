"""Playbooks: docs/formats/playbook.md. This says what the format is; `frontend.py` is what reads it."""

from compiler.frontends.format import Format

FORMAT = Format(
    name="playbook",
    noun="playbook",
    summary="playbooks for agents (Markdown with ## STEP n: headings)",
    suffixes=(".playbook.md",),
    module="compiler.frontends.playbook.frontend",
    grammars=("playbook.lark",),
)
