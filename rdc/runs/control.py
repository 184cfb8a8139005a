"""Starts, continues and answers runs. Each call is `rdc run` in a separate process and session."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, TypeVar

from compiler.diagnostics.model import Severity
from compiler.driver import Settings, compile_file
from rdc.runs.model import UNFINISHED, Error, Run

if TYPE_CHECKING:
    from rdc.runs.process import Ended, Running

StrPath = str | os.PathLike[str]
Result = TypeVar("Result")

_NOTHING: Mapping[str, str] = MappingProxyType({})

EXIT_REFUSED, EXIT_INTERNAL = 2, 70
"""The exit codes of `rdc run` after which nothing has happened."""

LOOK = "look at the run with `rdc.api.runs`"
"""The remedy of a refusal without one."""

CALLERS = frozenset({"--agent", "--agent-for", "--agent-model", "--executor", "--mock", "--tool"})
"""The options that decide who acts at a step, so `status` takes them too."""


def _module(name: str) -> ModuleType:
    """Return a module here whose imports take longer than those of `rdc.api`: only some calls need it."""
    return import_module(f"rdc.runs.{name}")


def runs(folder: StrPath = ".") -> tuple[Run, ...]:
    """Return the runs of a folder and of its project, by name. Nothing is changed.

    Raises:
        Error: The folder is missing (`unreadable-folder`).
    """
    base = os.fspath(folder) or os.curdir
    if not os.path.isdir(base):
        raise Error("unreadable-folder", f"{base} is not a folder", "check the path")
    return tuple(_module("status").runs_in(base))


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
    _refuse_another(options)
    own = (os.fspath(document), _named(name), os.fspath(folder)) if not isinstance(document, Run) else _parts(document)
    if not isinstance(document, Run):
        _open(*own, inputs, options)
    elif inputs:
        raise _unfinished(document.document)
    file, place, base = own
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
    _open(file, place, base, inputs, options)
    return _read(file, place, base, options)


def _open(file: str, place: Sequence[str], base: str, inputs: Mapping[str, str], options: Sequence[str]) -> None:
    if wrong := next((key for key in inputs if "=" in key), ""):
        raise Error("invalid-option", f"unknown input {wrong!a}", "see the document")
    if inputs and _read(file, place, base).state in UNFINISHED:
        raise _unfinished(file)
    # A value that starts with @ would name a file.
    given = [f"--input={key}={'@' * value.startswith('@')}{value}" for key, value in inputs.items()]
    _call([file, "open", *place, *given, *options], base)


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
        run: The run. If it has left `run.at`, the call is refused and changes nothing.
        options: See `step`.

    Raises:
        Error: As for `start`.
    """
    words = _step_words(run, run.at, options)
    process: Running = _started(lambda: _module("process").start_process(words, run.folder), run.folder)
    return process


def is_running(run: Run) -> bool:
    """Return whether a process has a run now. This is fast."""
    return _module("process").holder_of(run.directory) is not None


def interrupt(run: Run) -> None:
    """Interrupt the process that has a run, and the step that it runs, unless it runs at a terminal."""
    _module("process").interrupt_holder(run.directory)


def differences(run: Run) -> tuple[str, ...]:
    """Return which steps of the document differ from those of its run, as lines such as `steps changed: 3`."""
    file, place, base = _parts(run)
    ended = _started(lambda: _module("process").run_process([file, "status", *place, "--json"], base), base)
    facts = json.loads(ended.output) if ended.code == 0 else {}
    return tuple(facts.get("changes", ())) if facts.get("state") in UNFINISHED else ()


def answer(
    run: Run, reply: str, *, step: str = "", at: str = "", by: str = "", note: str = "", options: Sequence[str] = ()
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
        raise Error("refused", reason, remedy or LOOK)
    found = compile_file(os.path.normpath(document), Settings()).diagnostics
    if first := next((one for one in found if one.severity is Severity.ERROR), None):
        place = f"{first.path}:{first.span.line}" if first.span else first.path
        raise Error("invalid-document", f"{place}: {first.message}", first.help)
    last = ended.messages.rstrip().rpartition("\n")[2]
    raise Error("failed", f"rdc run ended with exit code {ended.code}: {last}", "report it with the document")


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
    """Return the options that choose a named run. A name such as -h would be an option itself."""
    if name.startswith("-"):
        problem = f"--as {name!a}: the name of a run starts with a letter or a digit"
        raise Error("invalid-option", problem, "choose another name")
    return ("--as", name) if name else ()


def _step_words(run: Run, at: str, options: Sequence[str]) -> list[str]:
    _refuse_another(options)
    file, place, _ = _parts(run)
    return [file, "step", run.step or at.partition(":")[2], f"--at={at}", *place, *options]


def _started(act: Callable[[], Result], folder: str) -> Result:
    try:
        return act()
    except (OSError, ValueError) as error:
        problem = f"cannot start rdc in {folder}: {error}"
        raise Error("not-started", problem, "check the folder and the arguments") from None


def _call(words: Sequence[str], folder: str, *, given: str = "", timeout: float | None = None) -> Ended:
    """Run `rdc run` with these words. Its outcome is then in the run's state."""
    ended: Ended = _started(lambda: _module("process").run_process(words, folder, given, timeout), folder)
    check_end(ended, os.path.join(folder, words[0]))
    return ended


def _read(file: str, place: Sequence[str], folder: str, options: Sequence[str] = ()) -> Run:
    """Return the run of a document, also if the document has changed. `options` may decide who acts."""
    words = [file, "status", *place, "--json", *_callers(options)]
    run: Run = _module("status").run_with(json.loads(_call(words, folder).output), file, place, folder)
    return run


def _callers(options: Sequence[str]) -> Iterator[str]:
    """Yield those options that decide who acts at a step, with their values."""
    words = iter(options)
    for word in words:
        name, equals, _ = word.partition("=")
        if name in CALLERS:
            yield from (word, *([] if equals else [next(words, "")]))
