"""`rdc build`: compiles the documents of a project to the files that its configuration names."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

import click
from msgspec.structs import replace

from compiler.diagnostics.model import Diagnostic
from compiler.frontends import all_options
from compiler.project.configuration import read_configuration
from compiler.project.options import TargetOptions
from compiler.project.project import Project, project_around
from compiler.text.source import Source
from rdc.build.build import build
from rdc.build.records import FOLDER
from rdc.commands.common.reporter import Reporter, reporting_options
from rdc.documents.plan import BuildOptions, WorkerError
from rdc.report.report import renamed
from rdc.terminal.output import many, tell

_PATIENCE = 500  # in milliseconds; the longest single wait for a change


@click.command(name="build", context_settings={"show_default": True})
@click.option(
    "--check", is_flag=True, help="Write nothing; fail if a file is outdated, edited, missing or no longer needed."
)
@click.option("--prune", is_flag=True, help="Remove generated files that no longer have a document.")
@click.option("--approve", "approved", metavar="ITEM", multiple=True, help="Add a new item to rdc.lock.")
@click.option(
    "--take-pins", is_flag=True, help="Copy pins of actions that a bot changed in a workflow to the configuration."
)
@click.option("--watch", is_flag=True, help="Build again whenever a file changes.")
@click.option(
    "-j", "--jobs", type=click.IntRange(0, 256), default=0, metavar="N", help="How many processes; 0 for all cores."
)
@reporting_options
def command(
    reporter: Reporter, approved: tuple[str, ...], jobs: int, *, check: bool, prune: bool, take_pins: bool, watch: bool
) -> int:
    """Build the project: compile all changed documents.

    The `[[build]]` tables in the project's rdc.toml list the files. Only changed files are written. rdc.lock lists what
    the files may do and what they call. To add a new item to it, use --approve.

    Exit codes: 0 all files are up to date, 1 they are not, 2 usage error.
    """
    ci = os.environ.get("CI", "").lower() not in ("", "0", "false")
    _refuse(approved, ci=ci, check=check, takes=take_pins, others=prune or watch)
    here = os.path.realpath(".")
    root = project_around(here).root
    os.chdir(root)  # as git does, so that paths are relative to the root
    try:
        pins = _taken(root, here, reporter) if take_pins else ()
        if pins is None:
            return 1
        options = BuildOptions(check, prune, reporter.strict, tuple(dict.fromkeys(approved)), jobs, ci, pins)
        return _watched(root, here, options, reporter) if watch else _built(root, here, options, reporter)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise click.ClickException(f"cannot build: {error.filename}: {error.strerror}") from error


def _watched(root: str, here: str, options: BuildOptions, reporter: Reporter) -> int:
    """Build whenever a file changes, until an interrupt. Only the first build reports that all files are up to date."""
    with suppress(KeyboardInterrupt):
        for number, _ in enumerate(_changes(root)):
            if number == 0:
                _built(root, here, options, reporter)
                options = replace(options, approved=(), pins=())  # they are in the lock now, and no longer new
            else:
                _built_again(root, here, options, reporter)
    return 0


def _changes(root: str) -> Iterator[None]:
    """Yield at the start, once after watching has started, and then after each change."""
    from watchfiles import DefaultFilter, watch  # noqa: PLC0415 (slow to import)

    ours = (*DefaultFilter.ignore_dirs, FOLDER, ".rdc")  # builds and runs write there
    matters = DefaultFilter(ignore_dirs=ours, ignore_entity_patterns=(*DefaultFilter.ignore_entity_patterns, r"\.tmp$"))
    yield
    is_first = True
    for found in watch(root, watch_filter=matters, rust_timeout=_PATIENCE, yield_on_timeout=True):
        if found or is_first:
            yield
        is_first = False


def _built_again(root: str, here: str, options: BuildOptions, reporter: Reporter) -> None:
    """Build after a change. Errors don't end the wait for the next change, because the project may be half edited."""
    try:
        _built(root, here, options, reporter, idle=False)
    except click.ClickException as error:
        tell(f"rdc: {error.format_message()}")
    except BrokenPipeError:
        raise
    except OSError as error:
        tell(f"rdc: cannot build: {error.filename}: {error.strerror}")


def _refuse(approved: tuple[str, ...], *, ci: bool, check: bool, takes: bool, others: bool) -> None:
    if approved:
        from runtime_shim.operator.current import FOR_A_PERSON, is_by_agent  # noqa: PLC0415 (it imports the engine)

        if is_by_agent():
            raise click.UsageError(FOR_A_PERSON)
    if ci and (approved or takes):
        option = "--approve" if approved else "--take-pins"
        raise click.UsageError(f"{option} does not work in CI (the variable CI is set); use it on your machine")
    if check and (approved or takes or others):
        raise click.UsageError("--check excludes --approve, --take-pins, --prune and --watch; remove one of them")


def _taken(root: str, here: str, reporter: Reporter) -> tuple[str, ...] | None:
    """Copy the pins that a bot changed. Return their items for the lock, or None if some are not valid."""
    from rdc.build.pins import changed_pins, pinning, take  # noqa: PLC0415 (it imports tomlkit)

    configuration, target = read_configuration(Project(root), all_options()), pinning()
    actions = configuration.options.targets.get(target.name, TargetOptions()).values.get(target.pins_option, {})
    if configuration.diagnostics or not configuration.sources or not isinstance(actions, dict):
        return ()  # the build shows the reason
    chosen, wrong = changed_pins(root)
    if wrong:
        _show(wrong, {}, here, reporter)
        return None
    if chosen:
        (path,) = configuration.sources
        take(path, chosen)
        reporter.say(f"copied {many(len(chosen), 'pin')} to {os.path.relpath(path, here)}")
    return tuple(f"action {action}@{value}" for action, value in chosen.items())


def _built(root: str, here: str, options: BuildOptions, reporter: Reporter, *, idle: bool = True) -> int:
    """Build once. With `idle`, report if there was nothing to do."""
    try:
        outcome = build(root, options)
    except WorkerError:
        tell("rdc: a compiling process was killed, perhaps because memory ran out; try 'rdc build --jobs 1'")
        return 1
    if not outcome.has_rules:
        raise click.UsageError("this project builds nothing; add a `[[build]]` to rdc.toml, or run 'rdc init'")
    if outcome.unknown:
        raise click.UsageError(f"there is no new item '{outcome.unknown[0]}'; run 'rdc build' to list new items")
    is_failed = _show(outcome.diagnostics, outcome.sources, here, reporter)
    for path in outcome.written:
        reporter.say(f"wrote {os.path.relpath(path, here)}")
    for path in outcome.removed:
        reporter.say(f"removed {os.path.relpath(path, here)}")
    for message in outcome.left:
        reporter.say(f"{message}; to remove it, run 'rdc build --prune'")
    if idle and not (is_failed or outcome.written or outcome.removed):
        reporter.say(f"{many(outcome.total, 'file')} up to date")
    return int(is_failed)


def _show(found: Sequence[Diagnostic], sources: Mapping[str, Source], here: str, reporter: Reporter) -> bool:
    """Show the findings with paths relative to the person's folder. Return whether they make the command fail."""
    if not found and reporter.form == "text":
        return False
    if here != os.getcwd():
        found, sources = renamed(found, sources, partial(os.path.relpath, start=here))
    return reporter.report(found, sources)
