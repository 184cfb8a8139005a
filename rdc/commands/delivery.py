"""What commands that generate share: documents become bytes, and these go to standard output or into files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rdc.commands.reporter import Reporter
from rdc.commands.target import Target, misuse_told
from rdc.terminal import put

if TYPE_CHECKING:
    from compiler.driver import Settings
    from rdc.generation import Generation
    from rdc.outputs import Output


def generated(sources: Sequence[str], settings: Settings, target: Target) -> Generation:
    """What documents become; options that are wrong are wrong use."""
    from rdc.generation import generate  # noqa: PLC0415 (the backends are slow to import)

    with misuse_told(target.backend):
        return generate(sources, settings, target.backend, target.options)


def print_one(made: Generation, reporter: Reporter) -> int:
    """Report the findings and write the one output to standard output; gives the exit code."""
    report = reporter.gather(made.diagnostics, made.sources)
    reporter.show(report)
    if reporter.fails(report):
        return 1
    for data in made.files:
        put(data or b"")
    return 0


def write_files(
    made: Generation, outputs: Sequence[Output], reporter: Reporter, *, executable: bool, force: bool
) -> int:
    """Report the findings and write all outputs or none; gives the exit code."""
    from rdc.atomic import File, is_current, write_all  # noqa: PLC0415 (only where files are written)
    from rdc.outputs import obstacles, unwritable  # noqa: PLC0415

    found = [*made.diagnostics, *obstacles(outputs, made.sources, force=force)]
    files = [
        File(Path(output.path), data, executable)
        for output, data in zip(outputs, made.files, strict=True)
        if data is not None
    ]
    changed: list[File] = []
    if not reporter.fails(reporter.gather(found, made.sources)):
        try:
            changed = [file for file in files if not is_current(file)]
            write_all(changed)
        except OSError as error:
            found.append(unwritable(error.filename, error.strerror or str(error)))
    report = reporter.gather(found, made.sources)
    reporter.show(report)
    if reporter.fails(report):
        return 1
    for file in files:
        reporter.say(f"wrote {file.path}" if file in changed else f"{file.path} is up to date")
    return 0
