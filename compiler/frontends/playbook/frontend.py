"""The front end for playbooks, as `compiler/frontends/base.py` has it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from compiler.analyses.flow import flow_warnings
from compiler.frontends.base import Job, Result
from compiler.frontends.name_lists import SECRETS
from compiler.frontends.playbook.formatting import format_document
from compiler.frontends.playbook.lines import recognises_lines
from compiler.frontends.playbook.link import link
from compiler.frontends.playbook.lower import lower
from compiler.frontends.playbook.reading import read
from compiler.frontends.playbook.report import report
from compiler.frontends.playbook.wording import WORDING
from compiler.source import Source

__all__ = ["compile_document", "format_document", "recognises"]


def recognises(source: Source) -> bool:
    """Whether there are a title and a step (P0)."""
    return recognises_lines(source.lines)


def compile_document(job: Job) -> Result:
    """Parses, checks and lowers a playbook with the files that its prompts name."""
    source = job.source
    parsed, frontmatter, found = made = read(source)
    facts = partial(report, parsed and parsed.playbook, found)
    result = Result(None, found, {source.name: source}, frontmatter.options, facts=facts)
    if parsed is None or made.errors:
        return result
    linked = link(source, parsed.playbook, job.project, must_exist=job.link)
    sources = {item.name: item for item in (source, *linked.files.values())}
    result = result._replace(diagnostics=(*found, *linked.diagnostics), sources=sources)
    if linked.diagnostics:
        return result
    lowered = lower(source, parsed.playbook, linked.files)
    secrets = tuple(SECRETS.first(frontmatter.options.values) or ())
    program = replace(lowered.program, secrets=secrets)
    warnings = flow_warnings(program, lowered.written, sources, WORDING)
    return result._replace(program=program, diagnostics=(*result.diagnostics, *warnings))
