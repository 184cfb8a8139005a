"""The front end for playbooks, with the interface in `compiler/frontends/base.py`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from compiler.analyses.flow import flow_warnings
from compiler.analyses.values import unread_inputs
from compiler.diagnostic import Diagnostic, has_error
from compiler.frontends.base import Job, Result
from compiler.frontends.call_result import completed
from compiler.frontends.name_lists import SECRETS
from compiler.frontends.naming import stem
from compiler.frontends.playbook.check import check_count
from compiler.frontends.playbook.lines import recognizes_lines
from compiler.frontends.playbook.link import link
from compiler.frontends.playbook.lower import lower
from compiler.frontends.playbook.reading import Read, read
from compiler.frontends.playbook.report import report
from compiler.frontends.playbook.syntax import Playbook, every_step
from compiler.frontends.playbook.wording import WORDING
from compiler.ir.program import Program
from compiler.regex import Regex
from compiler.source import Source


def recognizes(source: Source) -> bool:
    """Return whether the source has a title and a step (P0)."""
    return recognizes_lines(source.lines)


def compile_document(job: Job) -> Result:
    """Parse, check, link and lower a playbook, and read its scenarios."""
    source = job.source
    made = read(source)
    playbook = made.parsed.playbook if made.parsed else None
    facts = partial(report, playbook, made.found)
    result = Result(None, made.found, {source.name: source}, made.frontmatter.options, facts=facts)
    return result if playbook is None or made.errors else _compiled(job, made, playbook, result)


def _compiled(job: Job, made: Read, playbook: Playbook, result: Result) -> Result:
    """Return the result for a playbook without errors of its own."""
    source, front = job.source, made.frontmatter
    if too_many := tuple(check_count(source, playbook)):
        return replace(result, diagnostics=(*result.diagnostics, *too_many))
    linked = link(source, playbook, job.project, must_exist=job.link)
    found = [*result.diagnostics, *linked.diagnostics]
    sources = {source.name: source, **{file.name: file for file in linked.files.values()}}
    if has_error(linked.diagnostics):
        return replace(result, diagnostics=tuple(found), sources=sources)
    lowered = lower(source, playbook, linked.files, tuple(SECRETS.first(front.options.values) or {}))
    warnings = flow_warnings(lowered.program, lowered.written, sources, WORDING)
    found += (item for item in warnings if item.code != "RD401")  # a branch that never runs already has a warning
    found += _unread(source, playbook, lowered.program)
    result = replace(result, diagnostics=tuple(found), sources=sources)
    name = stem(source.name, ".md", ".playbook")
    return completed(job, result, lowered.program, name, front.scenarios, front.spans)


def _unread(source: Source, playbook: Playbook, program: Program) -> Iterator[Diagnostic]:
    """Warn about each input that no step shows, unless an external prompt may use it."""
    if any(step.prompt and step.prompt.scheme != "variable" for step in every_step(playbook)):
        return
    unread = set(unread_inputs(program))
    texts = _nearly_shown(source) if unread else {}
    for declared in playbook.inputs:
        if declared.name in unread:
            problem = f"no step shows the input `{declared.name}`"
            below = ((number, text) for number, text in texts.get(declared.name, ()) if number > declared.span.line)
            if near := next(below, None):
                problem += f"; `{near[1]}` in line {near[0]} is not a reference"
            remedy = f"show it as `{{{{{declared.name}}}}}` in a step, or remove it"
            yield Diagnostic("RD410", source.path, declared.span, problem, remedy)


NEARLY_SHOWN = Regex(r"\$?\{+\s*([^\W\d]\w*+)(?!\s*\}\})|\$([^\W\d]\w*+)")
"""Matches a string that looks like a reference but is not."""


def _nearly_shown(source: Source) -> dict[str, list[tuple[int, str]]]:
    """Return near-references with their line numbers, by name."""
    texts: dict[str, list[tuple[int, str]]] = {}
    for number, line in enumerate(source.lines, 1):
        for found in NEARLY_SHOWN.finditer(line):
            texts.setdefault(found[1] or found[2], []).append((number, found[0]))
    return texts
