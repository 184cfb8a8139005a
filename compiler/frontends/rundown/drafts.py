"""Write draft scenarios for runbooks, which execute nothing, and read the file beside a runbook."""

from __future__ import annotations

import posixpath
import shlex
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from compiler.diagnostics.model import has_error
from compiler.frontends.common.drafts import Draft, comment, scalar
from compiler.frontends.common.interface import Job, Result
from compiler.frontends.common.scenarios import Found, around, beside, read_beside
from compiler.frontends.rundown.check.rules import check_scenarios
from compiler.frontends.rundown.declarations.frontmatter import read_file
from compiler.ir.paths import Path
from compiler.ir.program import Program, check_of
from compiler.ir.tasks import Ask, Verdict
from compiler.scenarios.model import Scenario
from compiler.text.source import Source

if TYPE_CHECKING:
    from compiler.frontends.rundown.syntax import Runbook
    from compiler.reading.yaml import Reading

_ANSWERS = {"pass": "yes", "fail": "no"}


def is_possible(program: Program, path: Path) -> bool:
    """Return whether a scenario can take a path: each step passes or fails, but agents always do their work."""
    works = {node.id for node in program.nodes if check_of(node)}
    return not any(made.step in works and made.outcome.word == Verdict.FAIL for made in path.visits)


def script(program: Program, draft: Draft, document: str) -> list[str]:
    """Return the commands of a run, each with its step as a comment."""
    nodes = program.index()
    name = posixpath.basename(document)
    begin = shlex.join(["rd", "run", "--prompted", f"./{name}" if name.startswith("-") else name])
    lines = [f"  - {scalar(begin)}"]
    for made in draft.path.visits:
        task = nodes[made.step].task
        if check_of(nodes[made.step]):
            continue
        is_question = isinstance(task, Ask) and task.question == "yes_no"
        word = _ANSWERS[made.outcome.word] if is_question else made.outcome.word
        values = list(made.outcome.values)
        if isinstance(task, Ask) and task.value and word == "pass":
            values.append((task.value.name, made.outcome.text))
        given = (part for name, value in values for part in ("--value", f"{name}={value}"))
        titled = made.step if made.title in ("", made.step) else f"{made.step} {made.title}"
        lines.append(f"  - {scalar(shlex.join(['rd', word, *given]))}{comment(titled)}")
    return ["commands:", *lines]


def read(source: Source, program: Program) -> tuple[Scenario, ...] | None:
    """Return the scenarios in a companion file, or None if it has errors."""
    document = program.sources[0].path

    def read_file_of(file: Source, reading: Reading) -> Found:
        return Found(*read_file(file, document, reading, around(file, reading), None))

    found = read_beside(source, read_file_of)
    return None if has_error(found.diagnostics) else found.scenarios


def with_scenarios(job: Job, result: Result, runbook: Runbook, stem: str) -> Result:
    """Return a result with the scenarios of the companion file, whose name starts with `stem`, and their problems."""
    found = beside(job, stem, runbook.scenarios, partial(_read_beside, job.source, runbook))
    return replace(
        result,
        program=None if has_error(found.diagnostics) else result.program,
        diagnostics=(*result.diagnostics, *found.diagnostics),
        sources={**result.sources, **({found.file.name: found.file} if found.file else {})},
        scenarios=(*result.scenarios, *found.scenarios),
    )


def _read_beside(source: Source, runbook: Runbook, file: Source, reading: Reading) -> Found:
    scenarios, found = read_file(file, source.name, reading, around(file, reading), runbook.declared)
    return Found(scenarios, [*found, *check_scenarios(file, replace(runbook, scenarios=scenarios))])
