"""`rdc build`: the documents of a project become the files that its configuration names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from rdc.commands.reporter import Reporter, reporting_options
from rdc.terminal import tell
from rdc.words import many

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compiler.diagnostic import Diagnostic
    from compiler.source import Source
    from rdc.building.build import Wishes


@click.command(name="build")
@click.option("--check", is_flag=True, help="Write nothing; fail if a file is stale, edited, missing or left over.")
@click.option("--prune", is_flag=True, help="Remove generated files that no document becomes any more.")
@click.option("--approve", "approved", metavar="ITEM", multiple=True, help="Let a new item into rdc.lock.")
@click.option(
    "--take-pins", is_flag=True, help="Take pins of actions that a bot changed in a workflow into the configuration."
)
@click.option("--watch", is_flag=True, help="Build again whenever a file changes.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(0, 256),
    default=0,
    metavar="N",
    help="How many processes to use; 0 for all cores.",
)
@reporting_options
def command(
    reporter: Reporter, approved: tuple[str, ...], jobs: int, *, check: bool, prune: bool, take_pins: bool, watch: bool
) -> int:
    """Build the project: compile all documents that changed.

    The `[[build]]` tables in the rdc.toml of the project around the current folder say what is built. Only what changed
    is written. rdc.lock lists what the files may do and what they call; a new item there needs --approve.

    Exit code 0 if all files are as they should be, 1 if not, 2 for a usage error.
    """
    from rdc.building.build import Wishes  # noqa: PLC0415 (the compiler is slow to import)

    ci = os.environ.get("CI", "").lower() not in ("", "0", "false")
    _refuse(approved, ci=ci, check=check, takes=take_pins, others=prune or watch)
    here, root = os.path.realpath("."), _root()
    os.chdir(root)  # as git does, so that paths of documents and of files lead from there
    try:
        pins = _taken(root, here, reporter) if take_pins else ()
        if pins is None:
            return 1
        wishes = Wishes(check, prune, reporter.strict, tuple(dict.fromkeys(approved)), jobs, ci, pins)
        return _watched(root, here, wishes, reporter) if watch else _built(root, here, wishes, reporter)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise click.ClickException(f"cannot build: {error.filename}: {error.strerror}") from error


def _watched(root: str, here: str, wishes: Wishes, reporter: Reporter) -> int:
    """Build whenever a file changes, until the person interrupts; only the first build says that all is up to date."""
    from msgspec.structs import replace  # noqa: PLC0415 (only to watch, as below)

    from rdc.building.watching import changes  # noqa: PLC0415

    try:
        for number, _ in enumerate(changes(root)):
            if number == 0:
                _built(root, here, wishes, reporter)
                wishes = replace(wishes, approved=(), pins=())  # they are in the lock, and no longer new
            else:
                _built_again(root, here, wishes, reporter)
    except KeyboardInterrupt:
        return 0
    return 0


def _built_again(root: str, here: str, wishes: Wishes, reporter: Reporter) -> None:
    """Build after a change. The project may be between two states, so no error ends the wait for the next change."""
    try:
        _built(root, here, wishes, reporter, idle=False)
    except click.ClickException as error:
        tell(f"rdc: {error.format_message()}")
    except BrokenPipeError:
        raise
    except OSError as error:
        tell(f"rdc: cannot build: {error.filename}: {error.strerror}")


def _refuse(approved: tuple[str, ...], *, ci: bool, check: bool, takes: bool, others: bool) -> None:
    reason = None
    if ci and (approved or takes):
        option = "--approve" if approved else "--take-pins"
        reason = f"{option} is for people: where the variable CI is set, rdc.lock is only compared"
    elif check and (approved or takes or others):
        reason = "--check writes nothing, so don't combine it with --approve, --take-pins, --prune or --watch"
    if reason:
        raise click.UsageError(reason, click.get_current_context())


def _root() -> str:
    """The root of the project around the current folder."""
    from compiler.project import project_around  # noqa: PLC0415 (the compiler is slow to import)

    return project_around(os.path.realpath(".")).root


def _taken(root: str, here: str, reporter: Reporter) -> tuple[str, ...] | None:
    """Take the pins that a bot changed; gives their items for the lock, None if some cannot be taken."""
    from compiler.frontends import all_options  # noqa: PLC0415 (only for pins, as below)
    from compiler.options import Table  # noqa: PLC0415
    from compiler.project import Project, read_configuration  # noqa: PLC0415
    from rdc.building.pins import changed_pins, take  # noqa: PLC0415

    configuration = read_configuration(Project(root), all_options())
    actions = configuration.options.targets.get("github", Table()).values.get("actions", {})
    if configuration.diagnostics or not configuration.sources or not isinstance(actions, dict):
        return ()  # the build shows why
    chosen, wrong = changed_pins(root)
    if wrong:
        _show(wrong, {}, here, reporter)
        return None
    if chosen:
        (path,) = configuration.sources
        take(path, chosen)
        reporter.say(f"took {many(len(chosen), 'pin')} into {os.path.relpath(path, here)}")
    return tuple(f"action {action}@{value}" for action, value in chosen.items())


def _built(root: str, here: str, wishes: Wishes, reporter: Reporter, *, idle: bool = True) -> int:
    """Build once; with `idle` say so if there was nothing to do."""
    from rdc.building.build import WorkerError, build  # noqa: PLC0415 (the compiler is slow to import)

    try:
        outcome = build(root, wishes)
    except WorkerError:
        tell("rdc: a process that compiled documents was killed; is memory short? Try rdc build --jobs 1")
        return 1
    if not outcome.has_rules:
        message = "this project builds nothing: add a `[[build]]` to rdc.toml, or let `rdc init` write one"
        raise click.UsageError(message, click.get_current_context())
    if outcome.unknown:
        message = f"no file has the new item '{outcome.unknown[0]}'; run rdc build to see what is new"
        raise click.UsageError(message, click.get_current_context())
    is_failed = _show(outcome.diagnostics, outcome.sources, here, reporter)
    for path in outcome.written:
        reporter.say(f"wrote {os.path.relpath(path, here)}")
    for path in outcome.removed:
        reporter.say(f"removed {os.path.relpath(path, here)}")
    for message in outcome.left:
        reporter.say(f"{message}; rdc build --prune removes it")
    if idle and not (is_failed or outcome.written or outcome.removed):
        reporter.say(f"{many(outcome.total, 'file')} up to date")
    return int(is_failed)


def _show(found: Sequence[Diagnostic], sources: Mapping[str, Source], here: str, reporter: Reporter) -> bool:
    """Show the findings with paths from the person's folder; gives whether they make the command fail."""
    if not found and reporter.form == "text":
        return False
    from rdc.building.paths import rebased  # noqa: PLC0415 (often there are no findings)

    report = reporter.gather(*rebased(found, sources, here))
    reporter.show(report)
    return reporter.fails(report)
