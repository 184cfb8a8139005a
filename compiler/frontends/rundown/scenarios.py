"""Read the scenarios of a runbook in the file beside it."""

from functools import partial

from msgspec.structs import replace

from compiler.diagnostics.model import has_error
from compiler.frontends.common.interface import Job, Result
from compiler.frontends.common.scenarios import Found, around, beside
from compiler.frontends.rundown.check.rules import check_scenarios
from compiler.frontends.rundown.declarations.frontmatter import read_file
from compiler.frontends.rundown.syntax import Runbook
from compiler.reading.yaml import Reading
from compiler.text.source import Source


def with_scenarios(job: Job, result: Result, runbook: Runbook, stem: str) -> Result:
    """Return a result with the scenarios of the companion file, whose name starts with `stem`, and their problems."""
    found = beside(job, stem, runbook.scenarios, partial(_read, job.source, runbook))
    return replace(
        result,
        program=None if has_error(found.diagnostics) else result.program,
        diagnostics=(*result.diagnostics, *found.diagnostics),
        sources={**result.sources, **({found.file.name: found.file} if found.file else {})},
        scenarios=(*result.scenarios, *found.scenarios),
    )


def _read(source: Source, runbook: Runbook, file: Source, reading: Reading) -> Found:
    scenarios, found = read_file(file, source.name, reading, around(file, reading), runbook.declared)
    wrong = check_scenarios(file, replace(runbook, scenarios=scenarios))
    return Found(scenarios, [*found, *wrong])
