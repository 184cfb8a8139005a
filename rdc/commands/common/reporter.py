"""How a command shows findings, and the options for that: `--format`, `--strict` and `--quiet`."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.model import Diagnostic, Severity
from compiler.project.configuration import DOCS_URL, read_configuration
from compiler.project.project import CONFIGURATIONS, Project, project_around
from compiler.text.files import read_text
from compiler.text.source import Source
from rdc.report.report import FORMATS, Report, render
from rdc.terminal.cells import visible
from rdc.terminal.output import put, shows_links, tell

if TYPE_CHECKING:
    from compiler.driver import Compilation

Command = Callable[..., int]
"""The function of a command. It gets its options by name and returns the exit code."""


class Reporter(Struct, frozen=True):
    """Shows a command's findings, and its success messages unless quiet."""

    form: str = "text"
    strict: bool = False
    quiet: bool = False

    def report(
        self,
        diagnostics: Iterable[Diagnostic],
        sources: Mapping[str, Source],
        facts: Mapping[str, object] = MappingProxyType({}),
    ) -> bool:
        """Show findings, without notes if quiet. Return whether they make the command fail.

        Text goes to standard error, other formats to standard output.
        """
        shown = (found for found in diagnostics if not (self.quiet and found.severity is Severity.NOTE))
        report = replace(Report.of(shown, sources), facts=facts)
        if report.diagnostics and (self.form != "text" or shows_links()):
            report = replace(report, docs_url=docs_url())
        if text := render(report, self.form) if report.diagnostics or self.form != "text" else "":
            (tell if self.form == "text" else put)(text)
        return report.count(Severity.ERROR) > 0 or (self.strict and report.count(Severity.WARNING) > 0)

    def accepts(self, compilations: Collection[Compilation]) -> bool:
        """Show what is wrong with these documents, with warnings only if strict. Return whether they are accepted."""
        matters = [one for one in compilations if self.strict or one.program is None]
        sources = {path: source for one in matters for path, source in one.sources.items()}
        return not self.report((found for one in matters for found in one.diagnostics), sources)

    def say(self, message: str) -> None:
        """Print a success message, unless quiet."""
        if self.quiet:
            return
        if not message.isascii() or not message.isprintable():
            message = visible(message)
        tell(message)


def docs_url() -> str:
    """Return the `docs-url` of the current folder's project, or ""; a document of another project has no say."""
    root = project_around(os.path.realpath(os.curdir)).root
    for name in CONFIGURATIONS:
        try:
            if DOCS_URL in read_text(f"{root}/{name}", root):  # few have one: only these pay for reading TOML
                return read_configuration(Project(root), ()).docs_url
        except (OSError, ValueError):
            continue
    return ""


def strictness_options(command: Command) -> Command:
    """Add `--strict` and `--quiet` to a command, which gets them as its argument `reporter` for text."""

    @click.option("--strict", is_flag=True, help="Also fail on warnings.")
    @click.option("-q", "--quiet", is_flag=True, help="Don't print notes and success messages.")
    @functools.wraps(command)
    def wrapped(*, strict: bool, quiet: bool, form: str = "text", **rest: object) -> int:
        return command(reporter=Reporter(form, strict, quiet), **rest)

    return wrapped


def reporting_options(command: Command) -> Command:
    """Add `--format`, `--strict` and `--quiet` to a command, which gets them as its argument `reporter`."""
    return form_option(strictness_options(command))


def form_option(command: Command) -> Command:
    """Add `--format`, the format of findings, to a command, which gets it as its argument `form`."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(list(FORMATS)),
        default="text",
        show_default=True,
        help="The format of findings. Text goes to standard error, other formats to standard output.",
    )(command)
