"""Walks for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from compiler.analyses.coverage import Coverage
from compiler.ir.program import Program
from compiler.ir.semantics import Machine
from compiler.ir.walks import Visit, Walk
from rdc.walks.outcomes import write_outcomes

VERSION = 1


def write(program: Program, walks: Sequence[Walk], *, complete: bool, found: Coverage | None = None) -> str:
    """The walks of a program; `complete` says whether there are no others, `found` what they cover."""
    machine = Machine(program)
    content: dict[str, Any] = {
        "version": VERSION,
        "name": program.name,
        "source": program.sources[0].path,
        "walks": [plain_walk(machine, walk) for walk in walks],
        "complete": complete,
    }
    if found:
        content["coverage"] = _coverage(found, program)
    return json.dumps(content, indent=2)


def plain_walk(machine: Machine, walk: Walk) -> dict[str, Any]:
    """A walk as plain data. Its result is null where it has no end, its outcomes where jumps led there."""
    end = machine.end(walk.state)
    return {
        **({"inputs": dict(walk.inputs)} if machine.program.inputs else {}),
        "outcomes": None if walk.jumps else write_outcomes(walk.visits, machine.program),
        "jumps": [{"after": count, "unit": unit} for count, unit in walk.jumps],
        "visits": [_visit(made) for made in walk.visits],
        "at": walk.state.node,
        "result": end.result.upper() if end else None,
        "message": str(end.message) if end else "",
    }


def _visit(made: Visit) -> dict[str, Any]:
    return {
        "unit": made.unit,
        "title": made.title,
        "attempt": made.attempt,
        "instances": dict(made.instances),
        "outcome": made.outcome.word,
        "transitions": [edge.label for edge in made.edges if edge.label],
    }


def _coverage(found: Coverage, program: Program) -> dict[str, Any]:
    return {
        "transitions": found.transitions,
        "untaken": [
            {
                "unit": item.transition.unit,
                "outcome": item.transition.outcome,
                "transition": item.transition.label,
                "places": [f"{origin.path}:{origin.span.line}" for origin in item.transition.origins],
                "outcomes": None if item.way is None else write_outcomes(item.way, program),
                "visits": None if item.way is None else len(item.way),
                "certain": item.is_certain,
            }
            for item in found.untaken
        ],
    }
