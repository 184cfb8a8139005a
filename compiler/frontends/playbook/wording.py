"""What the warnings from the graph say to authors of playbooks (V12)."""

from __future__ import annotations

from compiler.analyses.flow import Wording

WORDING = Wording(
    unreachable=("step {} is unreachable", "correct the condition of the branch that it stands in, or remove it"),
    no_path_out=("a run that reaches step {} can never end", "this is an error in rdc: please report it"),
    never_completes=(
        "no run of this playbook can complete",
        "let a step follow that does not depend on a missing value",
    ),
    never_fires=(
        "this branch never runs: a branch before it always does, or the input can have no such value",
        "correct the condition, or remove the branch",
    ),
)
