"""The wording of graph warnings for authors of runbooks (V12)."""

from __future__ import annotations

from compiler.analyses.flow import Wording

WORDING = Wording(
    unreachable=("step {} is unreachable", "add a GOTO to it, or remove it"),
    no_path_out=(
        "a run that reaches step {} can never COMPLETE or STOP",
        "add COMPLETE or STOP to one of its transitions, or to one of a later step",
    ),
    never_completes=(
        "no run of this document can COMPLETE",
        "add COMPLETE to a transition, or let the last step CONTINUE",
    ),
    never_fires=(
        "this transition never fires: no outcome of the step's children leads to it",
        "remove it, or remove the matching transition from one of the step's children to pass on its outcome",
    ),
)
