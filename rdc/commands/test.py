"""`rdc test`: tests documents by their scenarios, with the semantics and by running generated targets."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from compiler.driver import Compilation, Settings, compile_file, compile_opened, open_file
from rdc.commands.common.documents import documents_of, language_options
from rdc.commands.common.reporter import Reporter, strictness_options
from rdc.documents.find import Found
from rdc.terminal.output import many, put
from rdc.testing import TARGETS
from rdc.testing.drafts import add_scenarios, write_additions
from rdc.testing.process import interruptible
from rdc.testing.result import Result, Status
from rdc.testing.run import MissingToolError
from rdc.testing.tester import try_scenarios

FORMATS = ("text", "json", "junit")
ALL = "all"
UNTESTABLE = "RD014"  # a scenario that cannot be played
LONGEST = 7 * 24 * 3600
MOST = 20  # the default of `--init`: the most scenarios that it writes for a document


@click.command(name="test")
@click.argument("files", metavar="[FILE|DIR]...", nargs=-1, type=click.Path())
@click.option(
    "--on",
    "targets",
    type=click.Choice([*TARGETS, ALL]),
    multiple=True,
    help="Also run the scenarios on this target. This executes the commands of scenarios without --prompted.",
)
@click.option(
    "--timeout",
    type=float,
    default=300,
    show_default=True,
    callback=lambda *given: _seconds(given[-1]),
    help="The time limit of a run in seconds.",
)
@click.option(
    "--init", "starts", is_flag=True, help="Write a scenario for each path that has none, for you to correct."
)
@click.option(
    "--paths", type=click.IntRange(1), help=f"The most scenarios that --init writes for a document. [default: {MOST}]"
)
@click.option("--format", "output", type=click.Choice(FORMATS), default="text", show_default=True)
@language_options
@strictness_options
def command(
    files: tuple[str, ...],
    targets: tuple[str, ...],
    timeout: float,
    output: str,
    settings: Settings,
    reporter: Reporter,
    **init: Any,  # noqa: ANN401 (click passes them)
) -> int:
    """Test documents by their scenarios.

    Without arguments, this tests the whole project, which is the nearest folder above with `.git` or `rdc.toml`. For a
    folder, it tests all documents in it, except hidden and ignored ones.

    A scenario with `rd run --prompted` never executes anything from its document, on any target. A scenario without it
    runs commands in a copy of the project if --on names a target; otherwise it is skipped.

    --init writes scenarios to NAME.scenarios.yaml beside the document instead of running them: one for each path
    without a scenario, with mocked answers. It doesn't change existing text.

    Exit codes: 0 no scenario failed (with --strict: or was skipped), 1 one failed, 2 usage error.
    """
    if init["starts"]:
        return _start(files, init["paths"] or MOST, settings, reporter, tries=bool(targets) or output != "text")
    if init["paths"]:
        raise click.UsageError("--paths needs --init")
    documents = documents_of(files)
    compilations = [compile_file(found.path, settings) for found in documents]
    if not reporter.accepts(compilations):
        return 1
    if not reporter.strict:  # then they have been shown
        sources = {path: source for one in compilations for path, source in one.sources.items()}
        reporter.report((each for one in compilations for each in one.diagnostics if each.code == UNTESTABLE), sources)
    chosen = tuple(TARGETS) if ALL in targets else tuple(dict.fromkeys(targets))
    without = [found for found, one in zip(documents, compilations, strict=True) if not one.scenarios]
    _mention(without, len(documents), reporter)
    results = [result for compilation in compilations for result in _tried(compilation, chosen, timeout)]
    put(getattr(import_module("rdc.testing.show"), f"as_{output}")(results))
    wrong = {Status.FAILED, Status.SKIPPED} if reporter.strict else {Status.FAILED}
    return int(any(result.status in wrong for result in results))


def _start(files: Sequence[str], most: int, settings: Settings, reporter: Reporter, *, tries: bool) -> int:
    if not files:
        raise click.UsageError("--init writes files beside documents; name the files or folders")
    if tries:
        raise click.UsageError("--init runs no scenarios; remove --on and --format")
    documents = [open_file(found.path) for found in documents_of(files)]
    compilations = [compile_opened(one, settings) for one in documents]
    if not reporter.accepts(compilations):
        return 1
    pairs = zip(documents, compilations, strict=True)
    additions = [add_scenarios(one, compiled, most) for one, compiled in pairs]
    if reporter.report(write_additions(additions), {}):
        return 1
    for line in (line for one in additions for line in one.said):
        reporter.say(line)
    return 0


def _mention(without: Sequence[Found], every: int, reporter: Reporter) -> None:
    """Report documents without scenarios: by name if they were named, otherwise by number."""
    for found in without:
        if not found.folder:
            reporter.say(f"{found.path} has no scenarios")
    if count := sum(1 for found in without if found.folder):
        verb = "has" if count == 1 else "have"
        reporter.say(f"{count} of {many(every, 'document')} {verb} no scenarios")


def _tried(compilation: Compilation, targets: Sequence[str], timeout: float) -> list[Result]:
    try:
        with interruptible():
            return list(try_scenarios(compilation, targets, timeout))
    except MissingToolError as error:
        raise click.UsageError(str(error)) from None


def _seconds(value: float) -> float:
    if not 0 < value <= LONGEST:  # NaN is also not in this range
        raise click.UsageError(f"--timeout must be a number of seconds, at most {LONGEST}")
    return value
