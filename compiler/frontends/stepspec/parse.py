"""Parse YAML or JSON into the models of a specification, with a diagnostic for each error of form (B1, B2)."""

from __future__ import annotations

from typing import NamedTuple

from compiler.diagnostic import Diagnostic
from compiler.frontends.data_text import BrokenDataError, Data, read_data
from compiler.frontends.modeled import texts_in, validated
from compiler.frontends.stepspec.messages import broken, flaw_findings, repeated
from compiler.frontends.stepspec.syntax import STEPS, Document
from compiler.issues import SourceMap
from compiler.source import Source, may_repeat

LARGEST_SPECIFICATION = 1_000_000
"""In bytes. Larger files take too long to read."""

MOST_STEPS = 500


class Parsed(NamedTuple):
    """A specification as it was read, without the parts that have errors. `document` is None if nothing is usable."""

    document: Document | None
    data: Data | None
    places: SourceMap
    diagnostics: list[Diagnostic]


def parse(source: Source) -> Parsed:
    """Parse the specification in a source."""
    places = SourceMap(source, {})
    if refused := _refused(source):
        return Parsed(None, None, places, [refused])
    try:
        data = read_data(source, STEPS)
    except BrokenDataError as error:
        return Parsed(None, None, places, [broken(source, error, "specification")])
    places = SourceMap(source, data.spans)
    twice = repeated(source, data)
    if too_many := _too_many(source, data):
        return Parsed(None, data, places, [*twice, too_many])
    document, flaws = validated(Document, data.values, {STEPS: []})
    return Parsed(document, data, places, [*twice, *flaw_findings(places, data.values, flaws, Document)])


def _refused(source: Source) -> Diagnostic | None:
    if not source.text.strip():
        return Diagnostic("RD854", source.path, None, "the specification is empty", "write `step_specs` with a step")
    if (size := len(source.data)) > LARGEST_SPECIFICATION:
        problem = f"the specification has {size:,} bytes; the limit is {LARGEST_SPECIFICATION:,}"
        return Diagnostic(
            "RD851", source.path, None, problem, "move long text into files, and name the files in `inputs`"
        )
    return None


def _too_many(source: Source, data: Data) -> Diagnostic | None:
    steps = data.values.get(STEPS)
    count = len(steps) if isinstance(steps, list) else 0
    if count > MOST_STEPS:
        problem = f"the specification has {count:,} steps; the limit is {MOST_STEPS}"
        return Diagnostic("RD851", source.path, None, problem, "split it into several specifications")
    size = sum(map(len, texts_in(data.values))) if may_repeat(source.text) else 0  # otherwise not larger than the file
    if size > LARGEST_SPECIFICATION:
        problem = f"the specification with its aliases has {size:,} characters; the limit is {LARGEST_SPECIFICATION:,}"
        return Diagnostic("RD851", source.path, None, problem, "use fewer aliases")
    return None
