"""The front end for Rundown runbooks, with the interface in `compiler/frontends/common/interface.py`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module

from msgspec.structs import replace

from compiler.analyses.warnings import Wording, flow_warnings
from compiler.diagnostics.model import Diagnostic, has_error
from compiler.frontends.common.interface import Job, Result
from compiler.frontends.common.names import ENDING, stem
from compiler.frontends.rundown import FORMAT, PROSE, SHELL, TRANSITIONS
from compiler.frontends.rundown.check.rules import check
from compiler.frontends.rundown.declarations.frontmatter import STEPS
from compiler.frontends.rundown.declarations.steps import full_id, joined_tables
from compiler.frontends.rundown.link import link
from compiler.frontends.rundown.lower.document import lower
from compiler.frontends.rundown.lower.frames import Frame
from compiler.frontends.rundown.lower.settings import Effective, held_against, outline, with_settings
from compiler.frontends.rundown.lower.values import advise_unreachable, check_names, value_warnings
from compiler.frontends.rundown.parse.document import Parsed, parse
from compiler.frontends.rundown.parse.outline import OFFER, advise_prose, without_offer
from compiler.frontends.rundown.syntax import EVERY
from compiler.project.options import Options
from compiler.rules.model import DeclaredRule
from compiler.text.regex import Regex
from compiler.text.source import Source

WORDING = Wording(
    unreachable=("step {} is unreachable", "add a GOTO to it, or remove it"),
    no_path_out=(
        "a run that reaches step {} can never COMPLETE or STOP",
        "add COMPLETE or STOP to one of its transitions, or to one of a later step",
    ),
    never_completes=(
        "no run of this document can COMPLETE",
        "add COMPLETE to a transition, or let the last step CONTINUE",
    ),
    never_fires=(
        "this transition never fires: no outcome of the step's children leads to it",
        "remove it, or remove the matching transition from one of the step's children to pass on its outcome",
    ),
)


_STEP = Regex(r"^##[ \t]+(\d+([.:) ]|$)|\{N\})", re.MULTILINE)


def recognizes(source: Source) -> bool:
    """Return whether the source has a numbered or dynamic step header."""
    return bool(_STEP.search(source.text))


def compile_document(job: Job) -> Result:
    """Parse, check, link and lower a runbook with everything that it includes."""
    linked = link(job.source, partial(job.project.find, noun=FORMAT.noun), partial(_parse, job), job.link)
    job.source.release()  # from here on, the blocks would only take memory
    main = linked.documents.get(job.source.name)
    found = [*linked.diagnostics, *check_names(linked.documents)]
    settings: Mapping[str, Effective] = {}
    if main:
        settings, misplaced = held_against(outline(main, linked))
        reported = {(item.path, item.span) for item in found}
        found += [item for item in misplaced if (item.path, item.span) not in reported]
    if main is None or has_error(found):
        return Result(None, tuple(found), linked.sources, linked.options)
    lowered = lower(main, linked.documents)
    if isinstance(lowered, Diagnostic):
        return Result(None, (*found, lowered), linked.sources, linked.options)
    program, useless = with_settings(lowered.program, settings)
    options = _with_steps(linked.options, lowered.frames)
    warnings = flow_warnings(program, lowered.written, linked.sources, WORDING)
    found += useless
    found += advise_unreachable(warnings, linked.documents.values())
    if any(frame.document.runbook.declared.slots for frame in lowered.frames):
        found += value_warnings(program, lowered.frames)
    name, own = stem(job.source.name, ".md", ".runbook"), main.runbook.scenarios
    file = f"{name}{ENDING}" if name and "\\" not in name else ""
    result = Result(program, tuple(found), linked.sources, options, own, scenario_file=file)
    inclusions = {frame.scope: frame.document.source.name for frame in lowered.frames if frame.scope}
    result = replace(result, rules=tuple(_rules(lowered.frames)), labels=_labels(lowered.frames), inclusions=inclusions)
    if not file or job.project.find_below(job.source, file) is None:
        return result
    complete: Result = import_module(FORMAT.drafts).with_scenarios(job, result, main.runbook, name)  # few have one
    return complete


def _with_steps(options: Options, frames: Iterable[Frame]) -> Options:
    scoped = [(frame.scope, frame.document.runbook.declared.for_targets) for frame in frames]
    tables = [(inclusion, table) for inclusion, table in scoped if table]
    if not any(inclusion for inclusion, _ in tables):
        return options
    return replace(options, targets={**options.targets, STEPS: joined_tables(tables)})


def _rules(frames: Iterable[Frame]) -> Iterator[DeclaredRule]:
    """Yield the rules of all documents, once for each inclusion."""
    return (replace(rule, scope=frame.scope) for frame in frames for rule in frame.document.runbook.declared.rules)


def _labels(frames: Iterable[Frame]) -> dict[str, tuple[str, ...]]:
    """Return the labels by full id; all steps of the program have those of ""."""
    found: dict[str, tuple[str, ...]] = {}
    for frame in frames:
        for settings in frame.document.runbook.declared.steps:
            if settings.labels:
                name = full_id(frame.scope, settings.step)
                name = "" if name == EVERY else name
                found[name] = (*found.get(name, ()), *settings.labels)
    return found


def _parse(job: Job, source: Source) -> Parsed:
    given, default = TRANSITIONS.first(job.given), TRANSITIONS.first(job.configured)
    parsed = parse(source, given, default, PROSE.first(job.configured) or {})
    if parsed.runbook is None:
        return parsed
    runbook, configured = parsed.runbook, SHELL.first(job.configured)
    if configured and not runbook.declared.shell:
        runbook = replace(runbook, declared=replace(runbook.declared, shell=configured))
    found = parsed.diagnostics + check(source, runbook)
    return parsed._replace(runbook=runbook, diagnostics=_offered(job, source, advise_prose(source, runbook, found)))


def _offered(job: Job, source: Source, found: list[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics, with an offer to format only if formatting accepts the document."""
    if not any(OFFER in item.help for item in found):
        return found
    formatter = import_module(FORMAT.formatter)  # few documents need it
    return found if formatter.accepts(replace(job, source=source)) else list(without_offer(found))
