"""What the warnings from the graph say to authors of runbooks (V12)."""

from __future__ import annotations

from compiler.analyses.flow import Wording

WORDING = Wording(
    unreachable=("step {} is unreachable", "jump to it with a GOTO, or remove it"),
    no_path_out=(
        "a run that reaches step {} can never COMPLETE or STOP",
        "let one of its transitions, or one that follows, COMPLETE or STOP",
    ),
    never_completes=(
        "no run of this document can COMPLETE",
        "let some transition COMPLETE, or CONTINUE past the last step",
    ),
    never_fires=(
        "this transition can never fire: no outcome of the steps it waits for leads to it",
        "remove it, or let one of the step's children pass its outcome on (by having no transition for it)",
    ),
)
