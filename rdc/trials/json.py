"""Write the results of scenarios as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from compiler.ir.semantics import Machine
from rdc.paths.json import plain_path
from rdc.trials.result import Result, Status

VERSION = 1


def render(results: Sequence[Result]) -> str:
    """Return all results, each with its path up to the end or the error."""
    counts = Counter(result.status for result in results)
    rows = [
        {
            "document": result.document,
            "scenario": result.scenario.name,
            "description": result.scenario.description,
            "on": result.on,
            "status": result.status.value,
            "expected": result.scenario.ends,
            "ended": result.ended,
            "problem": result.problem,
            "seconds": round(result.seconds, 3),
            "path": plain_path(Machine(result.program), result.path),
        }
        for result in results
    ]
    summary = {status.value: counts[status] for status in Status}
    return json.dumps({"version": VERSION, "summary": summary, "results": rows}, indent=2)
