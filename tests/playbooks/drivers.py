"""The drivers that run a playbook: those of programs, each compared with the path by the rules of playbooks."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from compiler.diagnostics.model import Severity
from compiler.driver import compile_file
from compiler.ir.program import Program
from compiler.ir.serialize import to_json
from tests.equivalence.difference import same
from tests.equivalence.workers import RUN
from tests.playbooks.model import Told
from tests.playbooks.oracle import ANYTHING, Taken, places, walk
from tests.playbooks.render import document, row
from tests.programs.cases import Case, Json
from tests.programs.drivers import DRIVERS, NAMES, SEMANTICS, missing
from tests.programs.drivers import semantics as by_semantics
from tests.programs.workspace import workspace

__all__ = ["NAMES", "missing", "try_driver"]

NAME = "program.playbook.md"
"""The drivers of programs look for its state under this name."""

KEEPING = {"python": "program", "dbos": f"program/{RUN}"}
"""The targets that leave an artifact in a folder of `.rdc`."""


def compiled(told: Told) -> Program:
    """What rdc makes of a playbook; it must find no error in it."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        (folder / "rdc.toml").touch()
        (folder / NAME).write_bytes(document(told.book).encode())
        for path, text in told.book.files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(row(text).encode())
        found = compile_file(str(folder / NAME))
    errors = [item.message for item in found.diagnostics if item.severity is Severity.ERROR]
    same("the errors in the playbook", errors, [])
    assert found.program
    return found.program


def case_of(told: Told, program: Program) -> Case:
    """The program with what is given and replied, as the drivers of programs take it."""
    steps = [name for place in places(told.book) for name in (place.id, f"{place.id}/elicit", f"{place.id}/prompt")]
    replies: dict[str, list[Json]] = {step: [told.replies.get(step, ANYTHING)] for step in steps}
    return Case(json.loads(to_json(program)), told.inputs, replies)


def try_driver(name: str, told: Told) -> bool:
    """Run a playbook with one driver; False if there is nothing to compare."""
    taken = walk(told)
    case = case_of(told, compiled(told))
    if name == SEMANTICS:
        return by_semantics.compare(case, taken.trace)
    driver = DRIVERS[name]
    if not driver.takes(case, taken.trace):
        return False
    with workspace(case, taken.trace, driver.slow) as prepared:
        done = driver.compare(prepared)
        if folder := KEEPING.get(name.partition("-")[0]):
            _check_artifact(told, taken, prepared.folder / ".rdc" / folder)
        return done


def _check_artifact(told: Told, taken: Taken, folder: Path) -> None:
    """The last output is in the file that the playbook leaves (P22)."""
    if told.book.artifact and taken.trace.end and taken.trace.end[0] == "COMPLETE":
        found = [path for path in folder.glob("program.*") if path.is_file()]
        texts = [path.read_bytes().decode("utf-8", "surrogateescape").rstrip("\n") for path in found]
        same("the artifact", texts, [] if taken.last is None else [taken.last.rstrip("\n")])
