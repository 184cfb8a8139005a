"""Common to commands that generate files: compile documents, print or write the output, and report it."""

from collections.abc import Collection, Sequence
from pathlib import Path

from backends.base import Companion
from backends.common.remarks import listed
from compiler.diagnostics.model import Diagnostic
from compiler.driver import Settings, open_file
from rdc.commands.common.reporter import Reporter
from rdc.commands.common.target import Target, misuse_told
from rdc.documents.find import Found
from rdc.output.deliver import write_layout
from rdc.output.generate import Generation, generate
from rdc.output.layout import Layout
from rdc.terminal.output import put


def generated(documents: Sequence[Found], settings: Settings, target: Target, files: Sequence[str] = ()) -> Generation:
    """Return the outputs for documents. Wrong options are a usage error."""
    opened = [open_file(found.path) for found in documents]
    with misuse_told(target.backend):
        return generate(opened, settings, target.backend, target.options, files)


def print_one(file: str, made: Generation, reporter: Reporter) -> int:
    """Report the findings, write one document's output to standard output, and return the exit code."""
    several = (_several(file, one.companions) for one in made.products if one and one.companions)
    if reporter.report([*made.diagnostics, *several], made.sources):
        return 1
    for product in made.products:
        put(product.data if product else b"")
    return 0


def write_files(made: Generation, layout: Layout, reporter: Reporter, *, force: bool) -> int:
    """Write all files or none, report the findings, and return the exit code."""
    found, changed = write_layout(made, layout, force=force, strict=reporter.strict)
    if reporter.report(found, made.sources):
        return 1
    _tell(layout, changed, reporter)
    return 0


def _several(file: str, companions: Sequence[Companion]) -> Diagnostic:
    """Report an output that needs companion files, because standard output takes only one file."""
    names = listed([companion.path for companion in companions])
    files = "companion files" if companions[1:] else "companion file"
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
