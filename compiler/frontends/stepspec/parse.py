"""From YAML or JSON to the models of a specification, with everything that is wrong in its form, and where (B1, B2)."""

from __future__ import annotations

from typing import NamedTuple

from compiler.diagnostic import Diagnostic
from compiler.frontends.data_text import BrokenDataError, Data, read_data
from compiler.frontends.modelled import texts_in, validated
from compiler.frontends.places import Places
from compiler.frontends.stepspec.messages import broken, flaw_findings, repeated
from compiler.frontends.stepspec.syntax import STEPS, Document
from compiler.source import Source
from compiler.yaml_nodes import may_repeat

LARGEST_SPECIFICATION = 1_000_000
"""In bytes: more takes longer to read than anybody waits."""

MOST_STEPS = 500


class Parsed(NamedTuple):
    """A specification as it was read, None if nothing of it can be used; what was wrong is left out of it, or empty."""

    document: Document | None
    data: Data | None
    places: Places
    diagnostics: list[Diagnostic]


def parse(source: Source) -> Parsed:
    """The specification in a source."""
    places = Places(source, {})
    if refused := _refused(source):
        return Parsed(None, None, places, [refused])
    try:
        data = read_data(source, STEPS)
    except BrokenDataError as error:
        return Parsed(None, None, places, [broken(source, error, "specification")])
    places = Places(source, data.spans)
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
        return Diagnostic("RD851", source.path, None, problem, "put long texts into files, and name these in `inputs`")
    return None


def _too_many(source: Source, data: Data) -> Diagnostic | None:
    steps = data.values.get(STEPS)
    count = len(steps) if isinstance(steps, list) else 0
    if count > MOST_STEPS:
        problem = f"the specification has {count:,} steps; the limit is {MOST_STEPS}"
        return Diagnostic("RD851", source.path, None, problem, "divide it into several specifications")
    size = sum(map(len, texts_in(data.values))) if may_repeat(source.text) else 0  # else it is no larger than the text
    if size > LARGEST_SPECIFICATION:
        problem = f"with its aliases the specification has {size:,} characters; the limit is {LARGEST_SPECIFICATION:,}"
        return Diagnostic("RD851", source.path, None, problem, "repeat less by aliases")
    return None
