"""Describe the playbook format; `frontend.py` reads it (docs/formats/playbook.md)."""

from compiler.frontends.base import Format
from compiler.frontends.name_lists import SECRETS, STEPS

FORMAT = Format(
    name="playbook",
    noun="playbook",
    summary="playbooks for agents (Markdown with ## STEP n: headings)",
    suffixes=(".playbook.md",),
    names=("PLAYBOOK.md",),
    module="compiler.frontends.playbook.frontend",
    formatter="compiler.frontends.playbook.formatting",
    drafts="compiler.frontends.call_drafts",
    grammars=("playbook.lark",),
    options=(SECRETS, STEPS),
)
