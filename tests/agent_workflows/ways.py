"""The ways in which a workflow can be run: those of programs, each compared with the walk by the rules of workflows."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from compiler.diagnostic import Severity
from compiler.driver import compile_file
from compiler.ir.program import Program
from compiler.ir.serialise import to_json
from tests.agent_workflows.model import Told
from tests.agent_workflows.oracle import ANYTHING, Taken, walk
from tests.agent_workflows.render import document
from tests.equivalence.difference import same
from tests.programs.cases import Case
from tests.programs.trial import trial
from tests.programs.ways import NAMES, SEMANTICS, WAYS, missing
from tests.programs.ways import semantics as by_semantics

__all__ = ["NAMES", "missing", "try_way"]

NAME = "program.workflow.yaml"
"""The ways of programs look for its state under this name."""

STATES = {"python": "program", "make": "program.make"}
"""Where targets keep reports, in `.rdc`."""

_HEADING = re.compile(r"^## \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$", re.MULTILINE)


def compiled(told: Told) -> Program:
    """What rdc makes of a workflow; it must find no mistake in it."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        (folder / "rdc.toml").touch()
        (folder / NAME).write_bytes(document(told.flow).encode())
        found = compile_file(str(folder / NAME))
    errors = [item.message for item in found.diagnostics if item.severity is Severity.ERROR]
    same("the errors in the workflow", errors, [])
    assert found.program
    return found.program


def case_of(told: Told, program: Program) -> Case:
    """The program with what is given and replied, as the ways of programs take it."""
    given = {} if told.task is None else {"task": told.task}
    replies = {unit: list(found) for unit, found in told.replies.items()}
    return Case(json.loads(to_json(program)), given, {step.name: [ANYTHING] for step in told.flow.steps} | replies)


def try_way(name: str, told: Told) -> bool:
    """Run a workflow in one way; False if there is nothing to compare."""
    taken = walk(told)
    case = case_of(told, compiled(told))
    if taken.walk.end is None:
        return False
    if name == SEMANTICS:
        return by_semantics.compare(case, taken.walk)
    way = WAYS[name]
    if not way.takes(case, taken.walk):
        return False
    with trial(case, taken.walk, way.slow) as prepared:
        done = way.compare(prepared)
        if state := STATES.get(name.partition("-")[0]):
            _check_reports(taken, prepared.folder / ".rdc" / state / "reports")
        return done


def _check_reports(taken: Taken, folder: Path) -> None:
    """Each report has every answer once, under a heading with its date (W7)."""
    found = {path.stem: path.read_bytes().decode() for path in folder.glob("*.md")} if folder.is_dir() else {}
    same("the names of the reports", sorted(found), sorted(taken.reports))
    for name, answers in taken.reports.items():
        parts = [part.strip() for part in _HEADING.split(found[name])]
        same(f"the report {name}", parts, ["", *(answer.strip() for answer in answers)])
