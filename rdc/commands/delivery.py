"""Common to commands that generate files: compile documents, then write to standard output or files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from backends.remarks import listed
from compiler.diagnostic import Diagnostic
from compiler.driver import Settings
from rdc.atomic import File, is_current, write_all
from rdc.commands.reporter import Reporter
from rdc.commands.target import Target, misuse_told
from rdc.generation import Generation, Product, generate
from rdc.layout import Layout, broken
from rdc.outputs import obstacles, unwritable
from rdc.terminal import put


def generated(sources: Sequence[str], settings: Settings, target: Target, files: Sequence[str] = ()) -> Generation:
    """Return the outputs for documents. Wrong options are a usage error."""
    with misuse_told(target.backend):
        return generate(sources, settings, target.backend, target.options, files)


def print_one(file: str, made: Generation, reporter: Reporter) -> int:
    """Report the findings, write one document's output to standard output, and return the exit code."""
    found = [*made.diagnostics, *(_several(file, product) for product in made.products if product)]
    report = reporter.gather((finding for finding in found if finding), made.sources)
    reporter.show(report)
    if reporter.fails(report):
        return 1
    for product in made.products:
        put(product.data if product else b"")
    return 0


def write_files(made: Generation, layout: Layout, reporter: Reporter, *, force: bool) -> int:
    """Report the findings, write all files or none, and return the exit code."""
    found = [*made.diagnostics, *layout.findings, *obstacles(layout.outputs, made.sources, force=force)]
    found += () if force else broken(layout)
    changed: list[File] = []
    if not reporter.fails(reporter.gather(found, made.sources)):
        stages = [[File(Path(one.output.path), one.data, one.executable) for one in stage] for stage in layout.stages]
        try:
            late = [[file for file in stage if not is_current(file)] for stage in stages]
            changed = [file for stage in late for file in stage]
            write_all(*late)
        except OSError as error:
            done = [str(file.path) for file in changed if is_current(file)]
            advice = f"already written: {' and '.join(done)}; compile again" if done else "nothing was written"
            found.append(unwritable(error.filename, error.strerror or str(error), advice))
    report = reporter.gather(found, made.sources)
    reporter.show(report)
    if reporter.fails(report):
        return 1
    _tell(layout, {file.path.resolve() for file in changed}, reporter)
    return 0


def _several(file: str, product: Product) -> Diagnostic | None:
    """Report an output that needs companion files, because standard output takes only one file."""
    if not product.companions:
        return None
    names = listed([companion.path for companion in product.companions])
    files = "companion files" if product.companions[1:] else "companion file"
    message = f"the output of {file} needs the {files} {names}, but standard output takes only one file"
    return Diagnostic("RD526", file, None, message, "choose the main file with -o")


def _tell(layout: Layout, changed: Collection[Path], reporter: Reporter) -> None:
    """Report the written files: in one line for a source, unless only some of its files are new."""
    for group in layout.groups:
        outputs = [laid.output for laid in (group.main, *group.companions)]
        new = [output for output in outputs if output.place in changed]
        if len(new) == len(outputs):
            reporter.say(f"wrote {group.names}")
        elif not new:
            reporter.say(group.is_current)
        else:
            for output in outputs:
                path = Path(output.path)
                reporter.say(f"wrote {path}" if output in new else f"{path} is up to date")
