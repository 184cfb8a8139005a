"""The front end for playbooks, as `compiler/frontends/base.py` has it."""

from __future__ import annotations

import re

from compiler.analyses.flow import flow_warnings
from compiler.diagnostic import Diagnostic, Severity
from compiler.frontends.base import Formatted, Job, Result
from compiler.frontends.playbook.check import check
from compiler.frontends.playbook.link import link
from compiler.frontends.playbook.lower import lower
from compiler.frontends.playbook.parse import parse
from compiler.frontends.playbook.wording import WORDING
from compiler.options import Options
from compiler.source import Source

__all__ = ["compile_document", "format_document", "recognises"]

_STEP = re.compile(r"^##\s+STEP\s+\d+:\s+\S", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Whether there is a step heading of a playbook."""
    return bool(_STEP.search(source.text))


def compile_document(job: Job) -> Result:
    """Parses, checks, links and lowers a playbook."""
    parsed = parse(job.source)
    found: list[Diagnostic] = [*parsed.diagnostics, *check(job.source, parsed)]
    linked = link(job.source, parsed.playbook, job.project, must_exist=job.link)
    found += linked.diagnostics
    sources = {job.source.name: job.source, **{file.name: file for file in linked.files.values()}}
    if any(item.severity is Severity.ERROR for item in found):
        return Result(None, tuple(found), sources, Options())
    lowered = lower(job.source, parsed.playbook, linked.files)
    found += flow_warnings(lowered.program, lowered.written, sources, WORDING)
    return Result(lowered.program, tuple(found), sources, Options(), ())


def format_document(job: Job) -> Formatted:
    """Not yet."""
    return Formatted(None)
