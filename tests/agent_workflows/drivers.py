"""The drivers that run a workflow: those of programs, each compared with the path by the rules of workflows."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from compiler.diagnostics.model import Severity
from compiler.driver import compile_file
from compiler.ir.program import Program
from compiler.ir.serialize import to_json
from tests.agent_workflows.model import Told
from tests.agent_workflows.oracle import ANYTHING, Taken, walk
from tests.agent_workflows.render import document
from tests.equivalence.difference import same
from tests.equivalence.workers import RUN
from tests.programs.cases import Case
from tests.programs.drivers import DRIVERS, NAMES, SEMANTICS, missing
from tests.programs.drivers import semantics as by_semantics
from tests.programs.workspace import workspace

__all__ = ["NAMES", "missing", "try_driver"]

NAME = "program.workflow.yaml"
"""The drivers of programs look for its state under this name."""

KEEPING = {"python": "program", "make": "program", "dbos": f"program/{RUN}"}
"""The targets whose reports are in a folder of `.rdc`."""

_HEADING = re.compile(r"^## \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$", re.MULTILINE)


def compiled(told: Told) -> Program:
    """What rdc makes of a workflow; it must find no error in it."""
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
    """The program with what is given and replied, as the drivers of programs take it."""
    given = {} if told.task is None else {"task": told.task}
    replies = {node: list(found) for node, found in told.replies.items()}
    return Case(json.loads(to_json(program)), given, {step.name: [ANYTHING] for step in told.flow.steps} | replies)


def try_driver(name: str, told: Told) -> bool:
    """Run a workflow with one driver; False if there is nothing to compare."""
    taken = walk(told)
    case = case_of(told, compiled(told))
    if taken.trace.end is None:
        return False
    if name == SEMANTICS:
        return by_semantics.compare(case, taken.trace)
    driver = DRIVERS[name]
    if not driver.takes(case, taken.trace):
        return False
    with workspace(case, taken.trace, driver.slow) as prepared:
        done = driver.compare(prepared)
        if folder := KEEPING.get(name.partition("-")[0]):
            _check_reports(taken, prepared.folder / ".rdc" / folder / "reports")
        return done


def _check_reports(taken: Taken, folder: Path) -> None:
    """Each report has every answer once, under a heading with its date (W7)."""
    found = {path.stem: path.read_bytes().decode() for path in folder.glob("*.md")} if folder.is_dir() else {}
    same("the names of the reports", sorted(found), sorted(taken.reports))
    for name, answers in taken.reports.items():
        parts = [part.strip() for part in _HEADING.split(found[name])]
        same(f"the report {name}", parts, ["", *(answer.strip() for answer in answers)])
