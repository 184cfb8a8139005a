"""rdc for Python programs: check and compile documents, and start, watch and answer their runs.

The functions print nothing and don't change the folder, the signals or the environment of their process. They may be
called from several threads. What is wrong in a document is a diagnostic in the result. Other problems raise `Error`.
`docs/reference/api.md` describes them with examples.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

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
from rdc.runs.model import Asks, Current, Entry, FinishedStep, Run

if TYPE_CHECKING:
    from rdc.runs.process import Ended, Running

__all__ = [
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

StrPath = str | os.PathLike[str]
Result = TypeVar("Result")

_NOTHING: Mapping[str, str] = MappingProxyType({})
_DEFAULTS = Settings()

EXIT_REFUSED, EXIT_INTERNAL = 2, 70
"""The exit codes of `rdc run` after which nothing has happened."""

UNFINISHED = frozenset({"ready", "running", "waiting", "interrupted"})
"""The states of runs that can continue."""

CALLERS = frozenset({"--agent", "--agent-for", "--agent-model", "--executor", "--mock", "--tool"})
"""The options that decide who acts at a step, so `status` takes them too."""


class Error(Exception):
    """A call that can't work. `code` names the reason, `message` has the details, and `remedy` is one thing to do."""

    def __init__(self, code: str, message: str, remedy: str) -> None:
        super().__init__(code, message, remedy)
        self.code, self.message, self.help = code, message, remedy

    def __str__(self) -> str:
        return f"{self.message}; {self.help}"


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


def runs(folder: StrPath = ".") -> tuple[Run, ...]:
    """Return the runs of a folder and of its project, by name. Nothing is changed.

    Raises:
        Error: The folder is missing (`unreadable-folder`).
    """
    from rdc.runs.status import runs_in  # noqa: PLC0415 (see `compile`)

    base = os.fspath(folder) or os.curdir
    if not os.path.isdir(base):
        raise Error("unreadable-folder", f"{base} is not a folder", "check the path")
    return tuple(runs_in(base))


def start(
    document: StrPath | Run,
    *,
    name: str = "",
    inputs: Mapping[str, str] = _NOTHING,
    options: Sequence[str] = (),
    folder: StrPath = ".",
    timeout: float | None = None,
) -> Run:
    """Start or continue a run, and return it when it waits, ends or is interrupted.

    It is a separate process without a terminal, so questions wait for `answer`. It continues if this process ends.

    Args:
        document: A document, as a path from `folder`, whose unfinished run continues if it has one. Or a run.
        name: The name of the document's run, if it has several.
        inputs: The inputs of a new run.
        options: More options of `rdc run FILE resume`, such as `--logs` or `--rerun-interrupted`. For a document, only
            options that a new run has too.
        folder: The folder where a new run executes its commands.
        timeout: After this time in seconds, return the run even if it is still running.

    Raises:
        Error: rdc refuses the call (`refused`), the document is missing or has errors (`no-document`,
            `invalid-document`), an unfinished run can't take inputs (`unfinished-run`), `options` choose another run
            (`invalid-option`), no process can start (`not-started`), or rdc itself failed (`failed`).
    """
    if isinstance(document, Run):
        file, place, base = _parts(document)
        if inputs:
            raise _unfinished(file)
    else:
        opened = open_run(document, name=name, inputs=inputs, options=options, folder=folder)
        file, place, base = _parts(opened)
    _refuse_another(options)
    _call([file, "resume", *place, *options], base, timeout=timeout)
    return _read(file, place, base, options)


def open_run(
    document: StrPath,
    *,
    name: str = "",
    inputs: Mapping[str, str] = _NOTHING,
    options: Sequence[str] = (),
    folder: StrPath = ".",
) -> Run:
    """Start a run of a document without running a step, or take up its unfinished run, and return it.

    Args:
        document: See `start`.
        name: See `start`.
        inputs: See `start`.
        options: More options of `rdc run FILE run`.
        folder: See `start`.

    Raises:
        Error: As for `start`.
    """
    _refuse_another(options)
    file, place, base = os.fspath(document), _named(name), os.fspath(folder)
    if inputs and _read(file, place, base).state in UNFINISHED:
        raise _unfinished(file)
    if wrong := next((key for key in inputs if "=" in key), ""):
        raise Error("invalid-option", f"there is no input {wrong!a}", "see the document")
    # A value that starts with @ would name a file.
    given = [f"--input={key}={'@' * value.startswith('@')}{value}" for key, value in inputs.items()]
    _call([file, "open", *place, *given, *options], base)
    return _read(file, place, base, options)


def run_of(document: StrPath | Run, *, name: str = "", options: Sequence[str] = (), folder: StrPath = ".") -> Run:
    """Return a document's run, or a run as it is now. If none has started, its state is `none`. Nothing is changed.

    If the document has changed since the run started, `current` is None.

    Args:
        document: See `start`.
        name: See `start`.
        options: Those of `rdc run FILE resume` that decide who acts at a step, such as `--tool`; others don't matter.
        folder: See `start`.

    Raises:
        Error: As for `start`.
    """
    if isinstance(document, Run):
        return _read(*_parts(document), options)
    return _read(os.fspath(document), _named(name), os.fspath(folder), options)


def step(run: Run, at: str, *, options: Sequence[str] = (), timeout: float | None = None) -> Run:
    """Run the current step of a run, and return the run. Its retries happen in this call, but no other step.

    Args:
        run: The run.
        at: The place where the run has to be: `run.at`. At another place, the call is refused and changes nothing.
        options: More options of `rdc run FILE resume`. After an interruption, they need a decision: `--assume WORD` or
            `--rerun-interrupted`.
        timeout: After this time in seconds, return the run even if the step is still running.

    Raises:
        Error: As for `start`.
    """
    file, place, base = _parts(run)
    _call(_step_words(run, at, options), base, timeout=timeout)
    return _read(file, place, base, options)


def start_step(run: Run, *, options: Sequence[str] = ()) -> Running:
    """Start to run the current step of a run, and return the process. It continues if this process ends.

    `ended()` of the process is None while it runs; pass the result to `check_end`.

    Args:
        run: The run. If it is no longer at `run.at`, the call is refused and changes nothing.
        options: See `step`.

    Raises:
        Error: As for `start`.
    """
    from rdc.runs.process import start_process  # noqa: PLC0415 (see `compile`)

    words = _step_words(run, run.at, options)
    return _started(lambda: start_process(words, run.folder), run.folder)


def is_running(run: Run) -> bool:
    """Return whether a process has a run now. This is fast."""
    from rdc.runs.process import holder_of  # noqa: PLC0415 (see `compile`)

    return holder_of(run.directory) is not None


def interrupt(run: Run) -> None:
    """Interrupt the process that has a run, and the step that it runs, unless it runs at a terminal."""
    from rdc.runs.process import interrupt_holder  # noqa: PLC0415 (see `compile`)

    interrupt_holder(run.directory)


def differences(run: Run) -> tuple[str, ...]:
    """Return which steps of the document differ from those of its run, as lines such as `steps changed: 3`."""
    from rdc.runs.process import run_process  # noqa: PLC0415 (see `compile`)

    file, place, base = _parts(run)
    ended = _started(lambda: run_process([file, "status", *place], base), base)
    lines = (line.removeprefix("rdc: ") for line in ended.messages.splitlines())
    return tuple(line for line in lines if line.startswith("steps ")) if ended.refusal else ()


def answer(
    run: Run,
    reply: str,
    *,
    step: str = "",
    at: str = "",
    by: str = "",
    note: str = "",
    options: Sequence[str] = (),
) -> Run:
    """Answer the question of a waiting run, and return the run. `start` or `step` continues it.

    Args:
        run: The run.
        reply: One of the replies in `run.choices`, or any text if that is `-`.
        step: The step to answer, if several wait.
        at: The place where the run has to be. See `step`.
        by: Who answers. By default, this is the user of the process.
        note: The reason.
        options: See `run_of`.

    Raises:
        Error: As for `start`, for example because someone else has answered (`refused`).
    """
    file, place, base = _parts(run)
    waiting = {step for step, _ in run.choices}
    chosen = step or (waiting.pop() if len(waiting) == 1 else run.step)
    signed = [f"--{name}={value}" for name, value in (("at", at), ("by", by), ("note", note)) if value]
    _call([file, "answer", chosen, "-", *place, *signed], base, given=reply)
    return _read(file, place, base, options)


def check_end(ended: Ended, document: str) -> None:
    """Raise the `Error` of a process of `rdc run` that did nothing."""
    if ended.code not in (EXIT_REFUSED, EXIT_INTERNAL):
        return
    if ended.refusal:
        reason, _, remedy = ended.refusal.partition("; ")
        raise Error("refused", reason, remedy or "look at the run with `rdc.api.runs`")
    found = check(os.path.normpath(document)).diagnostics
    if first := next((one for one in found if one.severity is Severity.ERROR), None):
        place = f"{first.path}:{first.span.line}" if first.span else first.path
        raise Error("invalid-document", f"{place}: {first.message}", first.help)
    last = ended.messages.rstrip().rpartition("\n")[2]
    raise Error("failed", f"rdc run ended with exit code {ended.code}: {last}", "report it with the document")


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


def _parts(run: Run) -> tuple[str, tuple[str, ...], str]:
    """Return the document of a run, the options that choose it, and the folder of both."""
    if not run.document:
        remedy = f"run: {run.next[0]}" if run.next else "restore its document"
        raise Error("no-document", f"{run.name} has no document that rdc can run", remedy)
    return run.document, run.place, run.folder


def _refuse_another(options: Sequence[str]) -> None:
    if another := {word.partition("=")[0] for word in options} & {"--as", "--state-dir"}:
        raise Error("invalid-option", f"{min(another)} chooses another run", "use `name`, or a run from `runs`")


def _unfinished(file: str) -> Error:
    return Error("unfinished-run", f"{file} has an unfinished run with its own inputs", "start it without inputs")


def _named(name: str) -> tuple[str, ...]:
    """Return the options that choose a named run."""
    return ("--as", name) if name else ()


def _step_words(run: Run, at: str, options: Sequence[str]) -> list[str]:
    """Return the words that run the current step of a run."""
    _refuse_another(options)
    file, place, _ = _parts(run)
    return [file, "step", run.step or at.partition(":")[2], f"--at={at}", *place, *options]


def _started(act: Callable[[], Result], folder: str) -> Result:
    """Start a process and return what it gives."""
    try:
        return act()
    except (OSError, ValueError) as error:
        problem = f"cannot start rdc in {folder}: {error}"
        raise Error("not-started", problem, "check the folder and the arguments") from None


def _call(words: Sequence[str], folder: str, *, given: str = "", timeout: float | None = None) -> Ended:
    """Run `rdc run` with these words. Its outcome is then in the run's state."""
    from rdc.runs.process import run_process  # noqa: PLC0415 (see `compile`)

    ended = _started(lambda: run_process(words, folder, given, timeout), folder)
    check_end(ended, os.path.join(folder, words[0]))
    return ended


def _read(file: str, place: Sequence[str], folder: str, options: Sequence[str] = ()) -> Run:
    """Return the run of a document, also if the document has changed. `options` may decide who acts."""
    from rdc.runs.status import run_with  # noqa: PLC0415 (see `compile`)

    words = [file, "status", *place, "--json", "--adopt", *_callers(options)]
    return run_with(json.loads(_call(words, folder).output), file, place, folder)


def _callers(options: Sequence[str]) -> Iterator[str]:
    """Yield those options that decide who acts at a step, with their values."""
    words = iter(options)
    for word in words:
        name, equals, _ = word.partition("=")
        if name in CALLERS:
            yield from (word, *([] if equals else [next(words, "")]))
