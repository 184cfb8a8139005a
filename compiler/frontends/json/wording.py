"""Warnings from the graph, in the words of authors of programs (V12)."""

from __future__ import annotations

from compiler.analyses.flow import Wording

WORDING = Wording(
    unreachable=("node {} is unreachable", "add an edge that leads to it, or remove it"),
    no_path_out=(
        "a run that reaches node {} can never end",
        "add a path from it to an `end` node",
    ),
    never_completes=(
        "no run of this program can complete",
        'add an edge that leads to an `end` node with "result": "complete"',
    ),
    never_fires=(
        "this edge is never taken: an earlier edge always matches, or no counter reaches this value",
        "remove it, or change its guard or an earlier one",
    ),
)
