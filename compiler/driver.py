"""Compile a path to a program, and collect all diagnostics for the document."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from compiler.analyses.warnings import commands_too_long
from compiler.diagnostics.model import Diagnostic, has_error, sort_key
from compiler.frontends import FRONT_ENDS, all_options, endings, recognize
from compiler.frontends.common.interface import Format, Formatted, Job, Result
from compiler.frontends.common.names import ENDING, LOGS, NOTIFY, RULES, name_of
from compiler.ir.program import Program
from compiler.ir.verify import verify
from compiler.project.configuration import read_configuration
from compiler.project.ignores import Ignores
from compiler.project.options import Level, Options, TargetOptions, merge
from compiler.project.project import Project, open_project
from compiler.rules.model import Applied, DeclaredRule, RuleResult
from compiler.scenarios.model import Scenario
from compiler.text.files import FileIssue, read_standard_input
from compiler.text.patterns import is_matched
from compiler.text.source import IGNORE, STANDARD_INPUT, Source

if TYPE_CHECKING:
    from compiler.frontends.common.marks import Marks


class Settings(Struct, frozen=True):
    """The user's settings on the command line.

    `options` has the options of formats by name, as strings; each document uses the options of its format. The document
    and the project decide about missing options.
    """

    front_end: str | None = None
    options: Mapping[str, str | tuple[str, ...]] = MappingProxyType({})
    link: bool = True


class Compilation(Struct, frozen=True):
    """The result of compiling one document. `program` is None after errors; `sources` are by path in diagnostics.

    `scenarios` are the named runs that the document describes.

    `tables` are the options of targets by target name, with the document's over the project's. Backends check whether
    they are valid and whether the targets exist.

    `ignores` decides which diagnostics are ignored, or is None. `diagnostics` has only the others.

    `format` is the name of the document's format, or "" if it is unknown. `facts` returns the format's report for other
    tools, if it has one. `scenario_file` is the same as in `Result`.

    `rules` are the rules of the document and of its project, with their proofs. `despite_rules` is the program even if
    one of them is broken or not proven, for commands that show the path.
    """

    path: str
    project: Project
    program: Program | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    tables: Mapping[str, TargetOptions]
    scenarios: tuple[Scenario, ...] = ()
    format: str = ""
    facts: Callable[[], dict[str, object]] | None = None
    ignores: Ignores | None = None
    scenario_file: str = ""
    rules: tuple[RuleResult, ...] = ()
    despite_rules: Program | None = None

    def kept(self, found: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
        """Return a target's diagnostics that neither the document nor its project ignores."""
        return self.ignores.kept(found) if self.ignores else found


class Opened(Struct, frozen=True):
    """A document to compile: its path for the user, its project, and its source or the reason for refusing it."""

    path: str
    project: Project
    source: Source | FileIssue


def open_file(path: str) -> Opened:
    """Return the document in a file, which may be missing."""
    project = open_project(path)
    return Opened(path, project, project.locate(path).read())


def open_standard_input() -> Opened:
    """Return the document on standard input, in the project of the current folder."""
    project = open_project(STANDARD_INPUT)
    return Opened(STANDARD_INPUT, project, read_standard_input(project.locate(STANDARD_INPUT).name))


def compile_file(path: str, settings: Settings | None = None) -> Compilation:
    """Compile a document with everything that it includes; never raises for a file's content or a missing file.

    Raises:
        KeyError: `settings.front_end` is not the name of a front end.
        ValueError: A value in `settings.options` is not valid for its option.
        InvalidProgramError: The program breaks rules, which is a bug in rdc.
    """
    return compile_opened(open_file(path), settings or Settings())


def compile_opened(opened: Opened, settings: Settings) -> Compilation:
    """Compile an opened document, as `compile_file` does."""
    setup = _set_up(opened, settings)
    if setup.job is None or setup.form is None:
        return Compilation(opened.path, opened.project, None, setup.found, setup.sources, setup.configured.targets)
    result = setup.form.load().compile_document(setup.job)
    too_long = tuple(commands_too_long(result.program, result.sources)) if result.program else ()
    renamed = () if result.program or settings.front_end else _another_format(setup.job.source, setup.form)
    found = tuple(dict.fromkeys([*setup.found, *result.diagnostics, *too_long, *renamed]))
    tables = merge(result.options.targets, setup.configured.targets)
    program = None
    if result.program and not (setup.found or too_long):
        program = _identified(result.program, result.options.values, setup.job, setup.project)
        program = _read_by(program, settings)
    ruled = _with_rules(program, result, setup, tables)
    found, program = (*found, *ruled.diagnostics), ruled.program
    if program:
        verify(program)
    ignores = _ignores(setup, result.sources.values())
    if ignores:
        is_complete = program is not None and settings.link
        found = ignores.kept((*found, *ignores.useless(opened.path, found, is_complete=is_complete)))
    diagnostics = tuple(sorted(found, key=sort_key))
    read = {item.path: replace(item) for item in result.sources.values()}  # without the cached lines
    sources = setup.sources | read
    proved = None if has_error(ruled.diagnostics) else program
    rest = (setup.form.name, result.facts, ignores, result.scenario_file, ruled.results, program)
    return Compilation(opened.path, opened.project, proved, diagnostics, sources, tables, result.scenarios, *rest)


def _with_rules(program: Program | None, result: Result, setup: _Setup, tables: Mapping[str, TargetOptions]) -> Applied:
    """Return the program with the rules of the document and of its project; usually without any."""
    own = result.rules or RULES.first(result.options.values) or ()
    main = setup.job.source.name if setup.job else ""
    shared = [one for one in setup.rules if _is_for(one, main)]
    for scope, name in result.inclusions.items():  # for all documents, or for this one, a rule already guards all of it
        others = (one for one in setup.rules if _is_for(one, name) and not _is_for(one, main))
        shared += (replace(one, scope=scope) for one in others)
    if not (own or shared or (program and program.rules)):
        return Applied(program)
    from compiler.rules.apply import apply_rules  # noqa: PLC0415 (few documents have rules)

    settings = {name: table.values for name, table in tables.items()}
    return apply_rules(program, (*shared, *own), result.labels, settings, result.sources)


def _is_for(rule: DeclaredRule, name: str) -> bool:
    return not rule.patterns or is_matched(name, rule.patterns)


class Formatting(Struct, frozen=True):
    """The result of formatting a document, and the sources by path in its diagnostics."""

    opened: Opened
    result: Formatted
    sources: Mapping[str, Source]


def format_opened(opened: Opened, settings: Settings) -> Formatting:
    """Put an opened document into its normal form, without writing anything or reading other documents."""
    setup = _set_up(opened, settings)
    if setup.job is None or setup.form is None or setup.found:
        return Formatting(opened, Formatted(None, setup.found), setup.sources)
    formatted, ignores = setup.form.load_formatter().format_document(setup.job), _ignores(setup, ())
    kept = replace(formatted, diagnostics=ignores.kept(formatted.diagnostics)) if ignores else formatted
    return Formatting(opened, kept, setup.sources)


def marks_of(opened: Opened, settings: Settings) -> Marks:
    """Return the marks of an opened document in the order of their places, also after errors; never raises."""
    read = _set_up(opened, settings)
    return read.form.load_marks().marks_of(read.job) if read.job and read.form and read.form.marks else ()


def _ignores(setup: _Setup, others: Iterable[Source]) -> Ignores | None:
    """Return the ignored diagnostics of the project and documents, or None if they ignore nothing, as usual."""
    sources = {source.path: source for source in (*setup.sources.values(), *others)}
    if not setup.ignored and not any(IGNORE in source.text for source in sources.values()):
        return None
    is_markdown = setup.form is not None and setup.form.suffixes[0].endswith(".md")
    main = {setup.job.source.path} if setup.job and is_markdown else ()
    return Ignores.of(setup.ignored, sources.values(), frozenset(main))


class _Setup(Struct, frozen=True):
    """The job for a front end, or the reasons in `found`; `configured` are the project's options.

    `rules` are the project's rules.
    """

    job: Job | None
    form: Format | None
    found: tuple[Diagnostic, ...]
    sources: dict[str, Source]
    configured: Options
    ignored: frozenset[str] = frozenset()
    project: str = ""
    rules: tuple[DeclaredRule, ...] = ()


def _set_up(opened: Opened, settings: Settings) -> _Setup:
    source = opened.source
    if isinstance(source, FileIssue):
        refused = Diagnostic(source.code, opened.path, None, source.message, source.help)
        return _Setup(None, None, (refused,), {}, Options())
    configuration = read_configuration(opened.project, all_options())
    configured, found = configuration.options, tuple(configuration.diagnostics)
    sources = configuration.sources | {source.path: source}
    form = FRONT_ENDS[settings.front_end] if settings.front_end else recognize(source)
    if form is None:
        return _Setup(None, None, (*found, _unknown_format(source)), sources, configured)
    words = settings.options
    options = (option for option in form.options if option.name in words and Level.COMMAND_LINE in option.levels)
    given = {option.name: option.read(words[option.name], {}) for option in options}
    job = Job(source, opened.project, given, configured.values, settings.link, configured.targets)
    names = configuration.name, configuration.rules
    return _Setup(job, form, found, sources, configured, configuration.ignored, *names)


def _identified(program: Program, own: Mapping[str, object], job: Job, project: str) -> Program:
    """Return the program with its names (R4), and with the document's settings for runs, or the project's."""
    logs, notify = LOGS.first(own, job.configured), NOTIFY.first(own, job.configured)
    program = program.with_(logs=program.logs if logs is None else logs, notify=notify or program.notify)

    def exists(name: str) -> bool:
        is_file = job.source.path != STANDARD_INPUT
        return is_file and job.project.disk.exists(os.path.join(job.project.root, name))

    return program.with_(name=name_of(job.source.name, endings(), exists), project=project)


def _read_by(program: Program, settings: Settings) -> Program:
    words = ["--from", FRONT_ENDS[settings.front_end].word] if settings.front_end else []
    for name, given in sorted(settings.options.items()):
        words += [word for value in ([given] if isinstance(given, str) else given) for word in (f"--{name}", value)]
    if not words:
        return program
    first, *others = program.sources
    return program.with_(sources=(replace(first, read_by=tuple(words)), *others))


def _another_format(source: Source, named: Format) -> tuple[Diagnostic, ...]:
    if not named.has(source.path) or named.load().recognizes(source):
        return ()
    other = next((form for form in reversed(FRONT_ENDS.values()) if form.load().recognizes(source)), None)
    if other is None:
        return ()
    problem = f"the file name is that of a {named.noun}, but the content looks like a {other.noun}"
    remedy = f"end the file name with {other.suffixes[0]}, or choose the format with --from {other.word}"
    return (Diagnostic("RD006", source.path, None, problem, remedy),)


def _unknown_format(source: Source) -> Diagnostic:
    suffixes = " or ".join(suffix for form in FRONT_ENDS.values() for suffix in form.suffixes)
    if source.name.endswith(ENDING):
        remedy = "check or test that document; rdc reads both files"
        return Diagnostic("RD005", source.path, None, "this file has the scenarios of the document beside it", remedy)
    problem = "rdc does not recognize the format of this document"
    choose = f"choose the format with --from {'|'.join(form.word for form in FRONT_ENDS.values())}"
    remedy = choose if source.path == STANDARD_INPUT else f"end the file name with {suffixes}, or {choose}"
    return Diagnostic("RD005", source.path, None, problem, remedy)
