"""The front end for playbooks, as `compiler/frontends/base.py` has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from compiler.analyses.flow import flow_warnings
from compiler.diagnostic import Diagnostic, Severity, sort_key
from compiler.frontends.base import Job, Result
from compiler.frontends.name_lists import SECRETS
from compiler.frontends.playbook.check import check, check_size
from compiler.frontends.playbook.formatting import format_document
from compiler.frontends.playbook.frontmatter import Frontmatter, read_frontmatter
from compiler.frontends.playbook.lines import recognises_lines
from compiler.frontends.playbook.link import link
from compiler.frontends.playbook.lower import lower
from compiler.frontends.playbook.parse import parse
from compiler.frontends.playbook.report import report
from compiler.frontends.playbook.syntax import Playbook
from compiler.frontends.playbook.wording import WORDING
from compiler.options import Options
from compiler.source import Source

__all__ = ["compile_document", "format_document", "recognises"]


def recognises(source: Source) -> bool:
    """Whether there are a title and a step (P0)."""
    return recognises_lines(source.lines)


class _Read(NamedTuple):
    """A document as it was read; `playbook` is None where nothing was."""

    playbook: Playbook | None
    frontmatter: Frontmatter
    found: tuple[Diagnostic, ...]


def _read(source: Source) -> _Read:
    found = list(check_size(source))
    if found:
        return _Read(None, Frontmatter(Options(), 1), tuple(found))
    frontmatter, found = read_frontmatter(source)
    parsed = parse(source, frontmatter.next_line)
    found += [*parsed.diagnostics, *check(source, parsed)]
    return _Read(parsed.playbook, frontmatter, tuple(sorted(found, key=sort_key)))


def compile_document(job: Job) -> Result:
    """Parses, checks and lowers a playbook with the files that its prompts name."""
    source = job.source
    read = _read(source)
    facts = partial(report, read.playbook, read.found)
    result = Result(None, read.found, {source.name: source}, read.frontmatter.options, facts=facts)
    if read.playbook is None or _has_errors(read.found):
        return result
    linked = link(source, read.playbook, job.project, must_exist=job.link)
    sources = {item.name: item for item in (source, *linked.files.values())}
    result = result._replace(diagnostics=(*read.found, *linked.diagnostics), sources=sources)
    if linked.diagnostics:
        return result
    lowered = lower(source, read.playbook, linked.files)
    secrets = tuple(SECRETS.first(read.frontmatter.options.values) or ())
    program = replace(lowered.program, secrets=secrets)
    warnings = flow_warnings(program, lowered.written, sources, WORDING)
    return result._replace(program=program, diagnostics=(*result.diagnostics, *warnings))


def _has_errors(found: Sequence[Diagnostic]) -> bool:
    return any(item.severity is Severity.ERROR for item in found)
