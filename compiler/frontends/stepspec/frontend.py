"""The front end for step specifications. See `compiler/frontends/common/interface.py`."""

import re
from functools import partial

from msgspec.structs import replace

from compiler.diagnostics.model import has_error, sort_key
from compiler.frontends.common.interface import Job, Result, formatted
from compiler.frontends.common.names import SECRETS, safe_name, stem
from compiler.frontends.common.scenarios import completed, options_of
from compiler.frontends.stepspec import FORMAT, OPTIONS, VARIABLES
from compiler.frontends.stepspec.check import check
from compiler.frontends.stepspec.lower import Meaning, lower
from compiler.frontends.stepspec.parse import configuration_of, parse
from compiler.frontends.stepspec.syntax import STEPS, StepSpec, called, with_values
from compiler.reading.data import BrokenDataError, read_data
from compiler.reading.validate import LARGEST
from compiler.text.regex import Regex
from compiler.text.source import Source, below

ENDINGS = (".yaml", ".yml", ".json", ".stepspec")
_NAMED = Regex(r"""step_specs["']?[ \t]*:""")
_OF_THE_DOCUMENT = Regex(r"""^[ \t{]*["']?step_specs["']?[ \t]*:""", re.MULTILINE)
_LIST = Regex(r"\A\s*\[|^-[ \t]", re.MULTILINE)
_ID = Regex(r"""\bid["']?[ \t]*:""")
_KEYS = frozenset(StepSpec.model_fields) - {"id", "name", "description", "inputs", "outputs", "tools"}
"""Step keys that no other format has."""

format_document = partial(formatted, parse=parse)


def recognizes(source: Source) -> bool:
    """Return whether a source has `step_specs` or lists steps (B1); invalid documents are recognized by their lines."""
    text = "\n".join(source.lines)
    is_named, is_list = _NAMED.search(text), _LIST.search(text) and _ID.search(text)
    if len(text) > LARGEST or not (is_named or is_list):
        return False
    has_line = _OF_THE_DOCUMENT.search(text) is not None
    try:
        values = read_data(source, STEPS).values
    except BrokenDataError:
        return has_line
    if has_line or text.lstrip().startswith("{"):
        return STEPS in values
    steps = values.get(STEPS)
    found = (item for item in (steps if isinstance(steps, list) else ()) if isinstance(item, dict))
    return any("id" in item and not _KEYS.isdisjoint(item) for item in found)


def compile_document(job: Job) -> Result:
    """Parse, check and lower a specification, and read its configuration and scenarios."""
    parsed = parse(job.source)
    data = parsed.data
    options, found = options_of(job.source, data, OPTIONS)
    found += parsed.diagnostics
    sources = {job.source.name: job.source}
    if parsed.document is None or data is None:
        return Result(None, tuple(found), sources, options)
    configured = configuration_of(job, data, parsed.places)
    given = VARIABLES.first(job.given) or {}
    filled = [with_values(settings, given) for settings in (configured.runtime, configured.own)]
    configured = replace(configured, runtime=filled[0], own=filled[1])
    sources |= {file.name: file for file in configured.files}
    file = stem(job.source.name, *ENDINGS)
    name = called(parsed.document, file if file.isprintable() else safe_name(file, FORMAT.noun))
    found += [*configured.diagnostics, *check(parsed, configured, name, is_linked=job.link)]
    found = sorted(dict.fromkeys(found), key=sort_key)
    result = Result(None, tuple(found), sources, options)
    if has_error(found):
        return result
    meaning = Meaning(parsed.document, name, configured.runtime, tuple(sources.values()))
    program = lower(meaning, parsed.places, tuple(SECRETS.first(options.values) or {}))
    content = None if data.values.get("scenarios") is None else data.as_written["scenarios"]
    return completed(job, result, program, file, content, below(data.spans, "scenarios"))
