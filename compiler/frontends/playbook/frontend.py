"""The front end for playbooks, as `compiler/frontends/base.py` has it."""

from __future__ import annotations

import re

from compiler.analyses.flow import flow_warnings
from compiler.diagnostic import Diagnostic, Severity
from compiler.frontends.base import Formatted, Job, Result
from compiler.frontends.frontmatter import Block, read_block
from compiler.frontends.name_lists import SECRETS
from compiler.frontends.playbook import FORMAT
from compiler.frontends.playbook.check import check
from compiler.frontends.playbook.link import link
from compiler.frontends.playbook.lower import lower
from compiler.frontends.playbook.parse import parse
from compiler.frontends.playbook.scenarios import KEY, find_scenarios
from compiler.frontends.playbook.wording import WORDING
from compiler.options import Known, Level, Options, Place, read_options
from compiler.source import Source, beneath

__all__ = ["compile_document", "format_document", "recognises"]

_STEP = re.compile(r"^##\s+STEP\s+\d+:\s+\S", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Whether there is a step heading of a playbook."""
    return bool(_STEP.search(source.text))


def compile_document(job: Job) -> Result:
    """Parses, checks, links and lowers a playbook, and reads its scenarios."""
    source = job.source
    block, begin, found = read_block(source)
    options, mistakes = _options(block)
    parsed = parse(source, begin)
    linked = link(source, parsed.playbook, job.project, must_exist=job.link)
    found = [*found, *mistakes, *parsed.diagnostics, *check(source, parsed), *linked.diagnostics]
    sources = {source.name: source, **{file.name: file for file in linked.files.values()}}
    if any(item.severity is Severity.ERROR for item in found):
        return Result(None, tuple(found), sources, options)
    lowered = lower(source, parsed.playbook, linked.files, tuple(SECRETS.first(options.values) or {}))
    warnings = flow_warnings(lowered.program, lowered.written, sources, WORDING)
    found += (item for item in warnings if item.code != "RD401")  # that its branch never runs is said already
    written = block.as_written().get(KEY) if block and KEY in block.values else None
    spans = beneath(block.spans, KEY) if block else {}
    scenarios = find_scenarios(source, written, spans, lowered.program, job.project)
    found += scenarios.diagnostics
    if scenarios.file:
        sources[scenarios.file.name] = scenarios.file
    is_wrong = any(item.severity is Severity.ERROR for item in scenarios.diagnostics)
    program = None if is_wrong else lowered.program
    return Result(program, tuple(found), sources, options, scenarios.scenarios)


def _options(block: Block | None) -> tuple[Options, list[Diagnostic]]:
    """The options under `rdc` in the frontmatter."""
    if block is None or "rdc" not in block.values:
        return Options(), []
    place = Place("RD013", block.source.path, block.spans[("rdc",)])
    known = Known(FORMAT.options, Level.DOCUMENT)
    return read_options(block.values["rdc"], place, beneath(block.spans, "rdc"), known)


def format_document(job: Job) -> Formatted:
    """Not yet."""
    return Formatted(None)
