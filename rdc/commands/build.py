"""`rdc build`: the documents of a project become the files that its configuration names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from rdc.commands.reporter import Reporter, reporting_options
from rdc.words import many

if TYPE_CHECKING:
    from rdc.building.build import Outcome, Wishes


@click.command(name="build")
@click.option("--check", is_flag=True, help="Write nothing; fail if a file is stale, edited, missing or left over.")
@click.option("--prune", is_flag=True, help="Remove generated files that no document becomes any more.")
@click.option("--approve", "approved", metavar="ITEM", multiple=True, help="Let a new item into rdc.lock.")
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
def command(reporter: Reporter, approved: tuple[str, ...], jobs: int, *, check: bool, prune: bool, watch: bool) -> int:
    """Build the project around the current folder.

    Compiles the documents that the `[[build]]` tables of rdc.toml name, and writes only what changed. What the files
    may do and what they call is listed in rdc.lock; a new item there needs --approve.

    Exit code 0 if all files are as they should be, 1 if not, 2 for wrong use.
    """
    from rdc.building.build import Wishes  # noqa: PLC0415 (the compiler is slow to import)

    ci = os.environ.get("CI", "").lower() not in ("", "0", "false")
    _refuse(approved, ci=ci, check=check, prune=prune, watch=watch)
    wishes = Wishes(check, prune, reporter.strict, tuple(dict.fromkeys(approved)), jobs, ci)
    root = _root()
    if not watch:
        return _built(root, wishes, reporter)
    from rdc.building.watching import changes  # noqa: PLC0415 (only to watch)

    for _ in changes(root):
        _built(root, wishes, reporter)
    return 0


def _refuse(approved: tuple[str, ...], *, ci: bool, check: bool, prune: bool, watch: bool) -> None:
    reason = None
    if approved and ci:
        reason = "--approve is for people; in CI (the variable CI is set) the build only compares"
    elif check and (prune or approved or watch):
        reason = "--check writes nothing, so it goes with none of --approve, --prune and --watch"
    if reason:
        raise click.UsageError(reason, click.get_current_context())


def _root() -> str:
    """The root of the project around the current folder."""
    from compiler.project import project_around  # noqa: PLC0415 (the compiler is slow to import)

    return project_around(os.path.realpath(".")).root


def _built(root: str, wishes: Wishes, reporter: Reporter) -> int:
    from rdc.building.build import build  # noqa: PLC0415 (the compiler is slow to import)

    here = os.path.realpath(".")
    os.chdir(root)  # as git does, so that paths of documents and of files lead from there
    outcome = build(root, wishes)
    if not outcome.has_rules:
        message = "this project builds nothing: add a `[[build]]` to rdc.toml, or let `rdc init` write one"
        raise click.UsageError(message, click.get_current_context())
    if outcome.unknown:
        message = f"no file has the new item '{outcome.unknown[0]}'; run rdc build to see what is new"
        raise click.UsageError(message, click.get_current_context())
    prefix = os.path.relpath(root, here)
    is_failed = _report(outcome, prefix, reporter)
    for path in outcome.written:
        reporter.say(f"wrote {_shown(prefix, path)}")
    for path in outcome.removed:
        reporter.say(f"removed {_shown(prefix, path)}")
    for message in outcome.left:
        reporter.say(f"{message}; rdc build --prune removes it")
    if not (is_failed or outcome.written or outcome.removed):
        reporter.say(f"{many(outcome.total, 'file')} up to date")
    return int(is_failed)


def _report(outcome: Outcome, prefix: str, reporter: Reporter) -> bool:
    """Show the findings with paths from the current folder; gives whether they make the command fail."""
    if not outcome.diagnostics and reporter.form == "text":
        return False
    from rdc.building.paths import rebased  # noqa: PLC0415 (often there are no findings)

    report = reporter.gather(*rebased(outcome.diagnostics, outcome.sources, prefix))
    reporter.show(report)
    return reporter.fails(report)


def _shown(prefix: str, path: str) -> str:
    return os.path.normpath(os.path.join(prefix, path))
