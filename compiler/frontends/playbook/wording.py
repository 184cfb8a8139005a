"""What the warnings from the graph say to authors of playbooks (V12)."""

from __future__ import annotations

from compiler.analyses.flow import Wording

WORDING = Wording(
    unreachable=("step {} is unreachable", "correct the condition of its branch, or remove it"),
    no_way_out=("a run that reaches step {} can never end", "this is a defect of rdc; please report it"),
    never_completes=("no run of this playbook can complete", "this is a defect of rdc; please report it"),
    never_fires=(
        "this branch never runs: no value that its variable can have here leads to it",
        "correct the name or the text that it is compared with, or remove the branch",
    ),
)
