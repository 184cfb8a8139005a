"""The driver: from a path to a program, with everything that is to be said about the document on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from compiler.analyses.commands import commands_too_long
from compiler.diagnostic import Diagnostic, sort_key
from compiler.files import Refusal
from compiler.frontends import FRONT_ENDS, all_options, recognize
from compiler.frontends.base import Formatted, Job
from compiler.frontends.format import Format
from compiler.ir.program import Program
from compiler.options import Level, Options, Table, Wrong, merge
from compiler.project import Project, open_project, read_configuration
from compiler.scenarios import Scenario
from compiler.source import IGNORE, STANDARD_INPUT, Source

if TYPE_CHECKING:
    from compiler.suppression import Ignores


class Settings(Struct, frozen=True):
    """What the user asked for on the command line.

    `options` has options of formats, as words, by their names; a document is read with those that its format has. What
    is missing is left to the document and the project.
    """

    front_end: str | None = None
    options: Mapping[str, str | tuple[str, ...]] = MappingProxyType({})
    link: bool = True


class Compilation(Struct, frozen=True):
    """What became of one document. `program` is None if there are errors; `sources` are by the path in diagnostics.

    `scenarios` are the named runs that the document describes (S1).

    `tables` are the options of targets by the target's name, those of the project under those of the document. Whether
    they are right, and whether there are such targets, is for the backends to say.

    `ignores` says which findings are ignored, None if none are. `diagnostics` are without these.

    `format` is the name of the document's format, "" where that is not known, and `facts` makes what this format tells
    other tools of the document, if it tells something. `scenario_file` is as in `Result`.
    """

    path: str
    project: Project
    program: Program | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    tables: Mapping[str, Table]
    scenarios: tuple[Scenario, ...] = ()
    format: str = ""
    facts: Callable[[], dict[str, object]] | None = None
    ignores: Ignores | None = None
    scenario_file: str = ""

    def kept(self, found: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
        """Those of a target's findings that neither the document nor its project asks to ignore."""
        return self.ignores.kept(found) if self.ignores else found


class Opened(Struct, frozen=True):
    """A document that was asked for: what the user calls it, its project, and its source unless that is refused."""

    path: str
    project: Project
    source: Source | Refusal


def open_file(path: str) -> Opened:
    """The document in a file, which may be missing."""
    project = open_project(path)
    return Opened(path, project, project.locate(path).read())


def open_standard_input() -> Opened:
    """The document on standard input, in the project of the current folder."""
    project = open_project(STANDARD_INPUT)
    return Opened(STANDARD_INPUT, project, project.read_standard_input())


def compile_file(path: str, settings: Settings | None = None) -> Compilation:
    """Compiles a document and what it includes. Never raises for what stands in a file, or for one that is missing.

    Raises:
        KeyError: `settings.front_end` is not the name of a front end.
        ValueError: A word in `settings.options` is none that the option can have.
    """
    return compile_opened(open_file(path), settings or Settings())


def compile_opened(opened: Opened, settings: Settings) -> Compilation:
    """Compiles a document that was opened, as `compile_file` does."""
    begun = _begin(opened, settings)
    if begun.job is None or begun.form is None:
        return Compilation(opened.path, opened.project, None, begun.found, begun.sources, begun.configured.targets)
    result = begun.form.load().compile_document(begun.job)
    too_long = tuple(commands_too_long(result.program, result.sources)) if result.program else ()
    renamed = () if result.program or settings.front_end else _another_format(begun.job.source, begun.form)
    found = tuple(dict.fromkeys([*begun.found, *result.diagnostics, *too_long, *renamed]))
    program = None if begun.found or too_long or result.program is None else _read_by(result.program, settings)
    ignores = _ignores(begun, result.sources.values())
    if ignores:
        is_complete = program is not None and settings.link
        found = ignores.kept((*found, *ignores.useless(opened.path, found, is_complete=is_complete)))
    diagnostics = tuple(sorted(found, key=sort_key))
    read = {item.path: replace(item) for item in result.sources.values()}  # without the lines, which few need again
    sources = begun.sources | read
    tables = merge(result.options.targets, begun.configured.targets)
    told = (begun.form.name, result.facts, ignores, result.scenario_file)
    return Compilation(opened.path, opened.project, program, diagnostics, sources, tables, result.scenarios, *told)


class Formatting(Struct, frozen=True):
    """What formatting a document came to, and the sources by the path in its diagnostics."""

    opened: Opened
    result: Formatted
    sources: Mapping[str, Source]


def format_opened(opened: Opened, settings: Settings) -> Formatting:
    """Puts a document that was opened into its normal form. Nothing is written, and no other document is read."""
    begun = _begin(opened, settings)
    if begun.job is None or begun.form is None or begun.found:
        return Formatting(opened, Formatted(None, begun.found), begun.sources)
    formatted, ignores = begun.form.load().format_document(begun.job), _ignores(begun, ())
    kept = replace(formatted, diagnostics=ignores.kept(formatted.diagnostics)) if ignores else formatted
    return Formatting(opened, kept, begun.sources)


def _ignores(begun: _Begun, others: Iterable[Source]) -> Ignores | None:
    """What the project and the documents ask to ignore; None if they ask for nothing, as most do."""
    sources = {source.path: source for source in (*begun.sources.values(), *others)}
    if not begun.ignored and not any(IGNORE in source.text for source in sources.values()):
        return None
    from compiler.suppression import Ignores  # noqa: PLC0415 (as the docstring says)

    is_markdown = begun.form is not None and begun.form.suffixes[0].endswith(".md")
    main = {begun.job.source.path} if begun.job and is_markdown else ()
    return Ignores.of(begun.ignored, sources.values(), frozenset(main))


class _Begun(Struct, frozen=True):
    """The job for a front end; without one, `found` says why. `configured` are the options of the project."""

    job: Job | None
    form: Format | None
    found: tuple[Diagnostic, ...]
    sources: dict[str, Source]
    configured: Options
    ignored: frozenset[str] = frozenset()


def _begin(opened: Opened, settings: Settings) -> _Begun:
    source = opened.source
    if isinstance(source, Refusal):
        refused = Diagnostic(source.code, opened.path, None, source.problem, source.remedy)
        return _Begun(None, None, (refused,), {}, Options())
    configuration = read_configuration(opened.project, all_options())
    configured, found = configuration.options, tuple(configuration.diagnostics)
    sources = configuration.sources | {source.path: source}
    form = FRONT_ENDS[settings.front_end] if settings.front_end else recognize(source)
    if form is None:
        return _Begun(None, None, (*found, _unknown_format(source)), sources, configured)
    given = _given(form, settings.options)
    job = Job(source, opened.project, given, configured.values, settings.link, configured.targets)
    return _Begun(job, form, found, sources, configured, configuration.ignored)


def _given(form: Format, words: Mapping[str, str | tuple[str, ...]]) -> dict[str, object]:
    """The options of the command line that a format has."""
    here = [option for option in form.options if option.name in words and Level.COMMAND_LINE in option.levels]
    given = {option.name: option.read(words[option.name], {}) for option in here}
    if wrong := next((value for value in given.values() if isinstance(value, Wrong)), None):
        raise ValueError(wrong.problem)
    return given


def _read_by(program: Program, settings: Settings) -> Program:
    """The program with the words by which its document was read, if the command line had any."""
    words = ["--from", FRONT_ENDS[settings.front_end].word] if settings.front_end else []
    for name, given in sorted(settings.options.items()):
        words += [word for value in ([given] if isinstance(given, str) else given) for word in (f"--{name}", value)]
    if not words:
        return program
    first, *others = program.sources
    told = replace(program, sources=(replace(first, read_by=tuple(words)), *others))
    told.analyses.update(program.analyses)  # none of them looks at sources
    return told


def _another_format(source: Source, named: Format) -> tuple[Diagnostic, ...]:
    """An error if the name of a document says one format, and its content reads like another."""
    if not named.has(source.path) or named.load().recognizes(source):
        return ()
    other = next((form for form in reversed(FRONT_ENDS.values()) if form.load().recognizes(source)), None)
    if other is None:
        return ()
    problem = f"by its name this is a {named.noun}, but its content reads like a {other.noun}"
    remedy = f"let the name end in {other.suffixes[0]}, or choose the format with --from {other.word}"
    return (Diagnostic("RD006", source.path, None, problem, remedy),)


def _unknown_format(source: Source) -> Diagnostic:
    suffixes = " or ".join(suffix for form in FRONT_ENDS.values() for suffix in form.suffixes)
    problem = "rdc cannot tell the format of this document"
    choose = f"choose the format with --from {'|'.join(form.word for form in FRONT_ENDS.values())}"
    remedy = choose if source.path == STANDARD_INPUT else f"let its name end in {suffixes}, or {choose}"
    return Diagnostic("RD005", source.path, None, problem, remedy)
