"""Step specifications as the soak takes them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tests.equivalence.drawn import Kind
from tests.stepspecs.random_runs import Case, drawn_case
from tests.support.process import ROOT

PLAIN: dict[str, Any] = {"human_gate": "optional", "tools": [], "evidence": "none", "retries": {"max": 0}}
"""What the parts of a step are made."""


def try_driver(_driver: str, case: Case) -> bool:
    """Drive the run of a case, with kills, in a process of its own."""
    command = [sys.executable, "-m", "tests.stepspecs.random_runs", "-"]
    given = json.dumps(asdict(case))
    done = subprocess.run(command, cwd=ROOT, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr[-8000:])
    return True


def smaller(case: Case) -> Iterator[Case]:
    """Cases with a step less, or a simpler one."""
    document = json.loads(case.document)
    steps = document["step_specs"]
    for place, step in enumerate(steps):
        others = [*steps[:place], *steps[place + 1 :]]
        simpler = [{**step, key: value} for key, value in PLAIN.items() if step[key] != value]
        for found in ([others] if others else []) + [[*steps[:place], one, *steps[place + 1 :]] for one in simpler]:
            yield Case(json.dumps({**document, "step_specs": found}), case.seed)


def shown(case: Case) -> str:
    """A case as a document, and as a value that a test can take."""
    return f"{json.dumps(json.loads(case.document), indent=1)}\n{case!r}\n"


KIND = Kind("specification", drawn_case, try_driver, smaller, shown, ("killed",))
