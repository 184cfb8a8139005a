"""The wording of graph warnings for authors of playbooks (V12)."""

from __future__ import annotations

from compiler.analyses.flow import Wording

WORDING = Wording(
    unreachable=("step {} is unreachable", "fix the condition of its branch, or remove it"),
    no_path_out=("a run that reaches step {} can never end", "this is a defect in rdc; please report it"),
    never_completes=(
        "no run of this playbook can complete",
        "add a step that does not depend on a missing value",
    ),
    never_fires=(
        "this branch never runs: an earlier branch always does, or the input cannot have this value",
        "fix the condition, or remove the branch",
    ),
)
