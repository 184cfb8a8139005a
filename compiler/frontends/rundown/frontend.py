"""The front end for Rundown runbooks, as `compiler/frontends/base.py` has it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial

from msgspec.structs import replace

from compiler.analyses.flow import flow_warnings
from compiler.diagnostic import Diagnostic, has_error
from compiler.frontends.base import Formatted, Job, Result
from compiler.frontends.rundown import FORMAT
from compiler.frontends.rundown.beyond.applied import held_against, with_settings
from compiler.frontends.rundown.beyond.nesting import check_names
from compiler.frontends.rundown.beyond.outline import Outline, outline
from compiler.frontends.rundown.beyond.settings import joined_tables
from compiler.frontends.rundown.beyond.unread import value_warnings
from compiler.frontends.rundown.check import check
from compiler.frontends.rundown.frontmatter import STEPS
from compiler.frontends.rundown.link import link
from compiler.frontends.rundown.lower import lower
from compiler.frontends.rundown.names import Frame
from compiler.frontends.rundown.options import DEFAULT_LAYOUT, PROSE, SHELL, TRANSITIONS
from compiler.frontends.rundown.parse import Parsed, parse
from compiler.frontends.rundown.prose import advise_prose
from compiler.frontends.rundown.unreachable import advise_unreachable
from compiler.frontends.rundown.wording import WORDING
from compiler.options import Options
from compiler.regex import Regex
from compiler.source import Source

_STEP = Regex(r"^##[ \t]+(\d+([.:) ]|$)|\{N\})", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Whether there is a numbered or dynamic step header."""
    return bool(_STEP.search(source.text))


def format_document(job: Job) -> Formatted:
    """The normal form of a document, proved to mean the same."""
    from compiler.frontends.rundown import formatting  # noqa: PLC0415 (`rdc check` does without)

    return formatting.format_document(job)


def compile_document(job: Job) -> Result:
    """Parses, checks, links and lowers a runbook with everything that it includes."""
    linked = link(job.source, partial(job.project.find, noun=FORMAT.noun), partial(_parse, job), job.link)
    main = linked.documents.get(job.source.name)
    settings, misplaced = held_against(outline(main, linked) if main else Outline())
    found = [*linked.diagnostics, *check_names(linked.documents)]
    told = {(item.path, item.span) for item in found}
    found += [item for item in misplaced if (item.path, item.span) not in told]
    if main is None or has_error(found):
        return Result(None, tuple(found), linked.sources, linked.options)
    lowered = lower(main, linked.documents)
    if isinstance(lowered, Diagnostic):
        return Result(None, (*found, lowered), linked.sources, linked.options)
    program = with_settings(lowered.program, settings)
    options = _with_steps(linked.options, lowered.frames)
    warnings = flow_warnings(program, lowered.written, linked.sources, WORDING)
    found += advise_unreachable(warnings, linked.documents.values())
    found += value_warnings(program, lowered.frames)
    return Result(program, tuple(found), linked.sources, options, main.runbook.scenarios)


def _with_steps(options: Options, frames: Iterable[Frame]) -> Options:
    """The options, with what nested runbooks say of their steps for targets."""
    said = [(frame.scope, frame.document.runbook.declared.for_targets) for frame in frames]
    tables = [(inclusion, table) for inclusion, table in said if table]
    if not any(inclusion for inclusion, _ in tables):
        return options
    return replace(options, targets={**options.targets, STEPS: joined_tables(tables)})


def _parse(job: Job, source: Source) -> Parsed:
    default = TRANSITIONS.first(job.configured) or DEFAULT_LAYOUT
    parsed = parse(source, TRANSITIONS.first(job.given), default, PROSE.first(job.configured) or {})
    if parsed.runbook is None:
        return parsed
    runbook, configured = parsed.runbook, SHELL.first(job.configured)
    if configured and not runbook.declared.shell:
        runbook = replace(runbook, declared=replace(runbook.declared, shell=configured))
    found = parsed.diagnostics + check(source, runbook)
    return parsed._replace(runbook=runbook, diagnostics=advise_prose(source, runbook, found))
