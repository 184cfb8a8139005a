"""rdc for Python programs: check and compile documents, and start, watch and answer their runs.

The functions print nothing and don't change the folder, the signals or the environment of their process. They may be
called from several threads. What is wrong in a document is a diagnostic in the result. Other problems raise `Error`.
`docs/reference/api.md` describes them with examples.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from backends.registry import is_target, load, names
from compiler.diagnostics.issues import InvalidError
from compiler.diagnostics.model import Diagnostic, Severity, has_error, sort_key
from compiler.driver import Compilation, Opened, Settings, compile_opened, open_file
from compiler.frontends import FRONT_ENDS, all_options
from compiler.ir.program import Program
from compiler.ir.serialize import program_hash
from compiler.project.configuration import read_configuration
from compiler.project.project import open_project as project_of
from compiler.project.project import project_around
from compiler.rules.model import RuleResult
from compiler.scenarios.model import Scenario
from compiler.text.files import UnsavedFiles
from compiler.text.source import Source, Span
from compiler.text.suggestions import nearest_name
from rdc.output.target_options import check_tables
from rdc.runs.control import (
    StrPath,
    answer,
    check_end,
    differences,
    interrupt,
    is_running,
    open_run,
    run_of,
    runs,
    start,
    start_step,
    step,
)
from rdc.runs.model import UNFINISHED, Asks, Current, Entry, Error, FinishedStep, Run

__all__ = [
    "UNFINISHED",
    "Asks",
    "Checked",
    "Compiled",
    "Current",
    "Diagnostic",
    "Entry",
    "Error",
    "FinishedStep",
    "OutputFile",
    "Program",
    "Project",
    "Run",
    "ServedDocuments",
    "Settings",
    "Severity",
    "Source",
    "Span",
    "answer",
    "check",
    "check_end",
    "compile",
    "differences",
    "interrupt",
    "is_running",
    "open_project",
    "open_run",
    "program_hash",
    "run_of",
    "runs",
    "served",
    "start",
    "start_step",
    "step",
]

_NOTHING: Mapping[str, str] = MappingProxyType({})
_DEFAULTS = Settings()


class Checked(Struct, frozen=True):
    """A document after checking.

    Attributes:
        path: The path of the document.
        format: The name of its format, or "" if it is unknown.
        diagnostics: What is wrong, sorted by place.
        sources: The documents and configuration that the spans of diagnostics refer to, by path.
        program: The graph of the document, or None after an error.
        scenarios: The runs that the document describes for `rdc test`.
        facts: Returns the format's report for other tools, or is None.
        rules: The rules of the document with their proofs.
    """

    path: str
    format: str
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    program: Program | None
    scenarios: tuple[Scenario, ...] = ()
    facts: Callable[[], dict[str, object]] | None = None
    rules: tuple[RuleResult, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the document has no errors. It may have warnings and notes."""
        return not has_error(self.diagnostics)


class OutputFile(Struct, frozen=True):
    """A generated file: where it belongs, its content, and whether it is a program."""

    path: str
    data: bytes
    is_executable: bool = False


class Compiled(Struct, frozen=True):
    """The output for a document: the main file first, or no files after an error. `sources` are as in `Checked`."""

    path: str
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    files: tuple[OutputFile, ...]

    @property
    def ok(self) -> bool:
        """Whether it has output, without errors."""
        return not has_error(self.diagnostics)


class ServedDocuments(Struct, frozen=True):
    """The documents that a project serves to agents.

    Attributes:
        root: The project's root, without links.
        approved: The documents by path from the root, with their hashes in `rdc.lock`, or "" if they have none.
        output: How much of the commands' output agents get: `tail` or `none`.
        diagnostics: What is wrong in the configuration. With an error in `[mcp]`, no document is served.
    """

    root: str
    approved: Mapping[str, str]
    output: str
    diagnostics: tuple[Diagnostic, ...]


class Project(Struct, frozen=True):
    """A project.

    Attributes:
        root: The folder with `.git` or `rdc.toml`, without links.
        name: The project's name in its configuration, or "".
        documents: The paths of its documents, from the current folder.
        diagnostics: What is wrong in its configuration.
        sources: The configuration by its path in diagnostics.
    """

    root: str
    name: str
    documents: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]


def open_project(path: StrPath = ".") -> Project:
    """Return the project around a folder or file.

    Raises:
        Error: A folder of the project can't be read (`unreadable-folder`).
    """
    from rdc.documents import find, rules  # noqa: PLC0415 (see `compile`)

    place = os.path.realpath(path)
    project = project_around(place) if os.path.isdir(place) else project_of(place)
    configuration = read_configuration(project, all_options())
    _, wrong = rules.rules(configuration)
    try:
        documents = tuple(found.path for found in find.project_documents(project))
    except find.NoDocumentsError as error:
        raise Error("unreadable-folder", str(error), "check the path and your permissions") from None
    found = (*configuration.diagnostics, *wrong)
    return Project(project.root, configuration.name, documents, _sorted(found), configuration.sources)


def served(folder: StrPath = ".") -> ServedDocuments:
    """Return the served documents of the project around a folder, as `[mcp]` in its configuration names them.

    A document may start only if `program_hash` of its program is its approved hash.

    Raises:
        Error: A folder of the project or its lock can't be read (`unreadable-folder`).
    """
    from rdc.build.lock import served_documents  # noqa: PLC0415 (see `compile`)

    project = project_around(os.path.realpath(folder))
    configuration = read_configuration(project, all_options())
    named = configuration.served
    try:
        approved = served_documents(project.root, named.documents) if named.documents else {}
    except OSError as error:
        problem = f"cannot read {error.filename}: {error.strerror}"
        raise Error("unreadable-folder", problem, "check the path and your permissions") from None
    return ServedDocuments(project.root, approved, named.output, _sorted(configuration.diagnostics))


def check(document: StrPath, settings: Settings = _DEFAULTS, *, unsaved: Mapping[str, str] = _NOTHING) -> Checked:
    """Check a document and everything that it includes. Nothing in it is executed.

    Args:
        document: The path of the document, which may be missing.
        settings: How to read it: the format, the options of formats, and whether included documents must exist.
        unsaved: Content that replaces files or adds some, by path, such as the unsaved buffers of an editor.

    Raises:
        Error: The settings are wrong (`unknown-format`, `invalid-option`).
    """
    return checked(compile_opened(_opened(document, unsaved), _valid(settings)))


def checked(one: Compilation) -> Checked:
    """Return the result of checking a document that was compiled: the options of targets are checked too."""
    found = (*one.diagnostics, *one.kept(check_tables(one.tables, one.program)))
    return Checked(one.path, one.format, _sorted(found), one.sources, one.program, one.scenarios, one.facts, one.rules)


def compile(  # noqa: A001 (the name of the command)
    document: StrPath,
    target: str,
    options: Mapping[str, object] = _NOTHING,
    *,
    out: StrPath | None = None,
    settings: Settings = _DEFAULTS,
    unsaved: Mapping[str, str] = _NOTHING,
) -> Compiled:
    """Compile a document for a target, in memory.

    Args:
        document: The path of the document.
        target: The name of the target, such as `python`.
        options: Options of the target, which override those in the document and its project.
        out: The file or folder for the output. By default, it belongs next to the document.
        settings: See `check`.
        unsaved: See `check`.

    Raises:
        Error: The target is unknown (`unknown-target`), or an option or setting is wrong (`invalid-option`,
            `unknown-format`).
    """
    from rdc.documents.find import Found  # noqa: PLC0415 (only some functions need these, and pay for their import)
    from rdc.output import deliver, paths  # noqa: PLC0415 (as above)

    if not is_target(target):
        near = nearest_name(target, names())
        raise Error("unknown-target", f"unknown target '{target}'", f"use {near or ', '.join(names())}")
    backend, path = load(target), os.fspath(document)
    mains = paths.plan([Found(path)], None if out is None else os.fspath(out), backend.suffix)
    try:
        made, layout = deliver.compile_documents([_opened(path, unsaved)], mains, _valid(settings), backend, options)
    except InvalidError as error:
        raise Error("invalid-option", f"target {target}: {error}", f"see `rdc targets {target}`") from None
    found = _sorted((*made.diagnostics, *layout.findings))
    laid = [one for group in layout.groups for one in (group.main, *group.companions)]
    files = (OutputFile(one.output.path, one.data, one.executable) for one in laid)
    return Compiled(path, found, made.sources, () if has_error(found) else tuple(files))


def _sorted(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(sorted(dict.fromkeys(found), key=sort_key))


def _opened(document: StrPath, unsaved: Mapping[str, str]) -> Opened:
    path = os.fspath(document)
    if not unsaved:
        return open_file(path)
    disk = UnsavedFiles({os.path.realpath(name): content for name, content in unsaved.items()})
    project = replace(project_of(path), disk=disk)
    return Opened(path, project, project.locate(path).read())


def _valid(settings: Settings) -> Settings:
    """Return settings with the format's own name, which may be given as on the command line."""
    words = {form.word: form.name for form in FRONT_ENDS.values()}
    name = settings.front_end and words.get(settings.front_end, settings.front_end)
    if name and name not in FRONT_ENDS:
        raise Error("unknown-format", f"unknown format '{name}'", f"use {', '.join(words)}")
    known = {option.name: option for option in all_options()}
    for key, value in settings.options.items():
        if key not in known:
            raise Error("invalid-option", f"no format has the option '{key}'", f"use {', '.join(known)}")
        try:
            known[key].read(value, {})
        except InvalidError as error:
            raise Error("invalid-option", f"{key}: {error}", "see `rdc check --help`") from None
    return replace(settings, front_end=name)
