"""The front end for agent workflows. See `compiler/frontends/common/interface.py`."""

import re
from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from compiler.diagnostics.issues import OptionSource
from compiler.diagnostics.model import has_error, sort_key
from compiler.frontends.agent_workflow import MAX_STEPS, OPTIONS
from compiler.frontends.agent_workflow.check import check, unlisted_agents
from compiler.frontends.agent_workflow.lower import ENDINGS, lower
from compiler.frontends.agent_workflow.parse import Parsed, parse
from compiler.frontends.common.interface import Job, Result, formatted
from compiler.frontends.common.limits import Limits, limits_of, with_limits
from compiler.frontends.common.names import SECRETS, stem
from compiler.frontends.common.scenarios import completed, options_of
from compiler.project.options import merge
from compiler.reading.validate import LARGEST
from compiler.reading.yaml import UnreadableError, read_mapping
from compiler.text.regex import Regex
from compiler.text.source import Source, below

_STEPS = Regex(r"""^["']?steps["']?[ \t]*:|\A\s*\{""", re.MULTILINE)
_NAME = Regex(r"^name[ \t]*:", re.MULTILINE)
_TASK = Regex(r"^[ \t]+(?:-[ \t]+)?(?:prompt|parallel)[ \t]*:", re.MULTILINE)

format_document = partial(formatted, parse=parse)


def recognizes(source: Source) -> bool:
    """Return whether a source has a name and a step with work (W1); invalid YAML is recognized by its lines."""
    text = "\n".join(source.lines)
    if not _STEPS.search(text) or len(text) > LARGEST:
        return False
    try:
        values = read_mapping(text).values
    except UnreadableError:
        return bool(_NAME.search(text) and _TASK.search(text))
    steps = values.get("steps") if "name" in values else None
    found = (step for step in (steps if isinstance(steps, list) else ()) if isinstance(step, dict))
    return any("name" in step and ("prompt" in step or "parallel" in step) for step in found)


def compile_document(job: Job) -> Result:
    """Parse, check and lower a workflow, and read its scenarios."""
    parsed = parse(job.source)
    reading = parsed.reading
    options, found = options_of(job.source, reading, OPTIONS)
    found += parsed.diagnostics
    sources = {job.source.name: job.source}
    if parsed.workflow is None or reading is None:
        return Result(None, tuple(found), sources, options)
    found += check(parsed.workflow, reading.as_written, parsed.places)
    found += unlisted_agents(parsed.workflow, parsed.places, merge(options.targets, job.tables))
    found = sorted(dict.fromkeys(found), key=sort_key)
    result = Result(None, tuple(found), sources, options)
    if has_error(found):
        return result
    secrets, limit = tuple(SECRETS.first(options.values) or {}), MAX_STEPS.first(options.values, job.configured)
    program, useless = with_limits(lower(parsed.workflow, parsed.places, secrets, limit), _limits(parsed))
    result = replace(result, diagnostics=(*result.diagnostics, *useless))
    content, spans = reading.as_written.get("scenarios"), below(reading.spans, "scenarios")
    return completed(job, result, program, stem(job.source.name, *ENDINGS), content, spans)


def _limits(parsed: Parsed) -> Iterator[Limits]:
    """Yield the limits that steps have beside their other keys."""
    for number, step in enumerate(parsed.workflow.steps if parsed.workflow else ()):
        if step.max_visits:
            span = parsed.places.at(("steps", number, "max_visits"))
            place = OptionSource("RD013", parsed.places.source.path, span)
            yield limits_of(step.name, step.model_dump(), place.around({}), "max_visits")
