"""`rdc test`: the scenarios of documents, by the semantics and on generated targets that really run."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

from rdc.commands.language import language_options
from rdc.commands.reporter import Reporter, strictness_options
from rdc.terminal import put
from rdc.trials import TARGETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compiler.driver import Compilation, Settings
    from rdc.trials.result import Result

FORMATS = {"text": "rdc.trials.text", "json": "rdc.trials.json", "junit": "rdc.trials.junit"}
ALL = "all"
LONGEST = 7 * 24 * 3600


@click.command(name="test")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--on",
    "targets",
    type=click.Choice([*TARGETS, ALL]),
    multiple=True,
    help="Also run on this target what it generates. This executes the commands of scenarios without --prompted.",
)
@click.option(
    "--timeout",
    type=float,
    default=300,
    show_default=True,
    callback=lambda context, _, value: _seconds(context, value),
    help="For one run, in seconds.",
)
@click.option("--format", "output", type=click.Choice(list(FORMATS)), default="text", show_default=True)
@language_options
@strictness_options
def command(
    files: tuple[str, ...],
    targets: tuple[str, ...],
    timeout: float,
    output: str,
    settings: Settings,
    reporter: Reporter,
) -> int:
    """Try the scenarios in the frontmatter of documents.

    A scenario with `rd run --prompted` never executes anything of its document, whatever the target. One without it
    runs commands, in a copy of the project, if --on names a target; otherwise it is skipped.

    Exit code 0 if no scenario failed (with --strict: and none was skipped), 1 if one did, 2 for wrong use.
    """
    from compiler.driver import compile_file  # noqa: PLC0415 (the compiler is slow to import)

    compilations = [compile_file(file, settings) for file in dict.fromkeys(files)]
    if not reporter.accepts(compilations):
        return 1
    results: list[Result] = []
    chosen = tuple(TARGETS) if ALL in targets else tuple(dict.fromkeys(targets))
    for compilation in compilations:
        if not compilation.scenarios:
            reporter.say(f"{compilation.path} has no scenarios")
        results += _tried(compilation, chosen, timeout)
    put(import_module(FORMATS[output]).render(results))
    return int(_has_failed(results, strict=reporter.strict))


def _tried(compilation: Compilation, targets: Sequence[str], timeout: float) -> list[Result]:
    from rdc.trials.process import interruptible  # noqa: PLC0415 (the backends are slow to import)
    from rdc.trials.run import MissingToolError  # noqa: PLC0415 (the backends are slow to import)
    from rdc.trials.tester import try_scenarios  # noqa: PLC0415

    try:
        with interruptible():
            return list(try_scenarios(compilation, targets, timeout))
    except MissingToolError as error:
        raise click.UsageError(str(error), click.get_current_context()) from None


def _has_failed(results: Sequence[Result], *, strict: bool) -> bool:
    from rdc.trials.result import Status  # noqa: PLC0415 (as above)

    wrong = {Status.FAILED, Status.SKIPPED} if strict else {Status.FAILED}
    return any(result.status in wrong for result in results)


def _seconds(context: click.Context, value: float) -> float:
    if not 0 < value <= LONGEST:  # which is not so for what is no number either
        raise click.UsageError(f"--timeout is a number of seconds, at most {LONGEST}", context)
    return value
