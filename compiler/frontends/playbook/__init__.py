"""Describe the playbook format; `frontend.py` reads it (docs/formats/playbook.md)."""

from compiler.frontends.common.interface import Format
from compiler.frontends.common.names import OPERATING, SECRETS, STEPS

FORMAT = Format(
    name="playbook",
    noun="playbook",
    summary="playbooks for agents (Markdown with ## STEP n: headings)",
    suffixes=(".playbook.md",),
    names=("PLAYBOOK.md",),
    module="compiler.frontends.playbook.frontend",
    marks="compiler.frontends.playbook.marks",
    formatter="compiler.frontends.playbook.format",
    drafts="compiler.frontends.common.drafts",
    grammars=("playbook.lark",),
    options=(SECRETS, STEPS, *OPERATING),
)
