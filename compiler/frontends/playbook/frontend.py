"""The front end for playbooks, as `compiler/frontends/base.py` has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from compiler.analyses.flow import flow_warnings
from compiler.analyses.values import unread_inputs
from compiler.diagnostic import Diagnostic, has_error
from compiler.frontends.base import Job, Result
from compiler.frontends.call_result import completed
from compiler.frontends.name_lists import SECRETS
from compiler.frontends.naming import stem
from compiler.frontends.playbook.check import check_count
from compiler.frontends.playbook.formatting import format_document
from compiler.frontends.playbook.lines import recognises_lines
from compiler.frontends.playbook.link import link
from compiler.frontends.playbook.lower import lower
from compiler.frontends.playbook.reading import Read, read
from compiler.frontends.playbook.report import report
from compiler.frontends.playbook.syntax import Playbook, every_step
from compiler.frontends.playbook.wording import WORDING
from compiler.ir.program import Program
from compiler.source import Source

__all__ = ["compile_document", "format_document", "recognises"]


def recognises(source: Source) -> bool:
    """Whether there are a title and a step (P0)."""
    return recognises_lines(source.lines)


def compile_document(job: Job) -> Result:
    """Parses, checks, links and lowers a playbook, and reads its scenarios."""
    source = job.source
    made = read(source)
    playbook = made.parsed.playbook if made.parsed else None
    facts = partial(report, playbook, made.found)
    result = Result(None, made.found, {source.name: source}, made.frontmatter.options, facts=facts)
    return result if playbook is None or made.errors else _compiled(job, made, playbook, result)


def _compiled(job: Job, made: Read, playbook: Playbook, result: Result) -> Result:
    """The result for a playbook that is right in itself."""
    source, front = job.source, made.frontmatter
    if too_many := tuple(check_count(source, playbook)):
        return result._replace(diagnostics=(*result.diagnostics, *too_many))
    linked = link(source, playbook, job.project, must_exist=job.link)
    found = [*result.diagnostics, *linked.diagnostics]
    sources = {source.name: source, **{file.name: file for file in linked.files.values()}}
    if has_error(linked.diagnostics):
        return result._replace(diagnostics=tuple(found), sources=sources)
    lowered = lower(source, playbook, linked.files, tuple(SECRETS.first(front.options.values) or {}))
    warnings = flow_warnings(lowered.program, lowered.written, sources, WORDING)
    found += (item for item in warnings if item.code != "RD401")  # that its branch never runs is said already
    found += _unread(source, playbook, lowered.program)
    result = result._replace(diagnostics=tuple(found), sources=sources)
    name = stem(source.name, ".md", ".playbook")
    return completed(job, result, lowered.program, name, front.scenarios, front.spans)


def _unread(source: Source, playbook: Playbook, program: Program) -> Iterator[Diagnostic]:
    """A warning for each input that no step shows: an agent never hears of it. Prompts from elsewhere may use any."""
    if any(step.prompt and step.prompt.scheme != "variable" for step in every_step(playbook)):
        return
    unread = set(unread_inputs(program))
    for declared in playbook.inputs:
        if declared.name in unread:
            problem, remedy = (
                f"no step shows the input `{declared.name}`",
                "show it as `{{NAME}}` in a step, or remove it",
            )
            near = re.compile(rf"\$?\{{+\s*{re.escape(declared.name)}\b(?!\s*\}}\}})|\${re.escape(declared.name)}\b")
            for number, line in enumerate(source.lines, 1):
                if number > declared.span.line and (found := near.search(line)):
                    problem += f"; `{found[0]}` in line {number} is text"
                    break
            remedy = remedy.replace("NAME", declared.name)
            yield Diagnostic("RD410", source.path, declared.span, problem, remedy)
