"""Write paths as JSON."""

import json
from collections.abc import Sequence
from typing import Any

from compiler.analyses.coverage import Coverage
from compiler.ir.paths import Path, Visit
from compiler.ir.program import Program
from compiler.ir.semantics import Machine
from compiler.scenarios.outcomes import write_outcomes

VERSION = 1


def write(program: Program, paths: Sequence[Path], *, complete: bool, found: Coverage | None = None) -> str:
    """Return paths as JSON. `complete` means that there are no others; `found` is their coverage."""
    machine = Machine(program)
    content: dict[str, Any] = {
        "version": VERSION,
        "name": program.name,
        "source": program.sources[0].path,
        "paths": [plain_path(machine, path) for path in paths],
        "complete": complete,
    }
    if found:
        content["coverage"] = _coverage(found, program)
    return json.dumps(content, indent=2)


def plain_path(machine: Machine, path: Path) -> dict[str, Any]:
    """Return a path as plain data. The result of an unfinished path is null, and so are outcomes after jumps."""
    end = machine.end(path.state)
    return {
        **({"inputs": dict(path.inputs)} if machine.program.inputs else {}),
        "outcomes": None if path.jumps else write_outcomes(path.visits, machine.program),
        "jumps": [{"after": count, "step": step} for count, step in path.jumps],
        "visits": [_visit(made) for made in path.visits],
        "at": path.state.node,
        "result": end.result.upper() if end else None,
        "message": str(end.message) if end else "",
    }


def _visit(made: Visit) -> dict[str, Any]:
    return {
        "step": made.step,
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
                "step": item.transition.step,
                "outcome": item.transition.outcome,
                "transition": item.transition.label,
                "places": [f"{origin.path}:{origin.span.line}" for origin in item.transition.origins],
                "outcomes": None if item.path is None else write_outcomes(item.path, program),
                "visits": None if item.path is None else len(item.path),
                "certain": item.is_certain,
            }
            for item in found.untaken
        ],
    }
