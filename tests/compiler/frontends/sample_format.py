"""A format for tests: YAML without a grammar, with options of its own. What it reads it tells in a finding."""

from typing import Any

from compiler.diagnostics.issues import InvalidError, OptionSource, OptionSources
from compiler.diagnostics.model import Diagnostic, Issue
from compiler.frontends.common.interface import Format, Formatted, Job, Result
from compiler.project.options import Known, Level, Option, Options, choice, read_options
from compiler.text.source import Source, below


def _limit(value: object, _: OptionSources) -> int:
    if isinstance(value, int | str) and str(value).isdecimal():
        return int(value)
    raise InvalidError(Issue((), f"`limit` is a number, not {value!r}", "write a number"))


VOICE = choice("voice", "How loud it is.", ("loud", "quiet"))
LIMIT = Option("limit", "How often it is said.", _limit, levels=(Level.COMMAND_LINE, Level.PROJECT))
OPTIONS: tuple[Option[Any], ...] = (VOICE, LIMIT)

FORMAT = Format("sample", "list of steps", "Lists of steps (YAML)", (".steps.yml",), __name__, options=OPTIONS)


def recognizes(source: Source) -> bool:
    """Whether it begins as such lists do."""
    return source.text.startswith("steps:")


def compile_document(job: Job) -> Result:
    """No program, but what the options are."""
    from compiler.reading.yaml import read_mapping  # noqa: PLC0415 (as a front end does)

    reading = read_mapping(job.source.text)
    values, spans = reading.values, reading.spans
    own, found = Options(), list[Diagnostic]()
    if "rdc" in values:
        place = OptionSource("RD013", job.source.path, spans["rdc",])
        own, found = read_options(values["rdc"], place, below(spans, "rdc"), Known(OPTIONS, Level.DOCUMENT))
    chosen = {option.name: option.first(job.given, own.values, job.configured) for option in OPTIONS}
    finding = Diagnostic("RD101", job.source.path, None, f"{chosen}", "this is a test")
    return Result(None, (*found, finding), {job.source.name: job.source}, own)


def format_document(job: Job) -> Formatted:
    """It stays as it is."""
    return Formatted(job.source.text)
