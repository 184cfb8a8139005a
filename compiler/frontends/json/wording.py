"""What the warnings from the graph say to authors of programs (V12)."""

from __future__ import annotations

from compiler.analyses.flow import Wording

WORDING = Wording(
    unreachable=("node {} is unreachable", "let an edge lead to it, or remove it"),
    no_path_out=(
        "a run that reaches node {} can never end",
        "let one of its edges, or one that follows, lead to a node of the kind `end`",
    ),
    never_completes=(
        "no run of this program can complete",
        'let an edge lead to a node of the kind `end` with "result": "complete"',
    ),
    never_fires=(
        "this edge can never be taken: an edge before it always is, or no counter has such a value here",
        "remove it, or change its guard or those of the edges before it",
    ),
)
