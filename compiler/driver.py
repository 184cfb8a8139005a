"""The driver: from a path to a program, with everything that is to be said about the document on the way."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from compiler.analyses.commands import commands_too_long
from compiler.diagnostic import Diagnostic, sort_key
from compiler.files import Refusal
from compiler.frontends import FRONT_ENDS, Job, recognise
from compiler.ir.program import Program
from compiler.ir.semantics import Jump
from compiler.options import Layout, Table, merge
from compiler.project import open_project, read_configuration
from compiler.scenarios import Scenario
from compiler.source import Source


class Settings(NamedTuple):
    """What the user asked for on the command line; None leaves it to the document and the project."""

    front_end: str | None = None
    transitions: Layout | None = None
    link: bool = True


class Compilation(NamedTuple):
    """What became of one document. `program` is None if there are errors; `sources` are by the path in diagnostics.

    `scenarios` are the named runs that the document describes (S1), `jumps` what each `rd goto ID` in them does.

    `tables` are the options of targets by the target's name, those of the project under those of the document. Whether
    they are right, and whether there are such targets, is for the backends to say.
    """

    path: str
    program: Program | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    tables: Mapping[str, Table]
    scenarios: tuple[Scenario, ...] = ()
    jumps: Mapping[str, Jump] = MappingProxyType({})


def compile_file(path: str, settings: Settings | None = None) -> Compilation:
    """Compiles a document and what it includes. Never raises for what stands in a file, or for one that is missing.

    Raises:
        KeyError: `settings.front_end` is not the name of a front end.
    """
    settings = settings or Settings()
    project = open_project(path)
    source = project.locate(path).read()
    if isinstance(source, Refusal):
        return Compilation(path, None, (Diagnostic(source.code, path, None, source.problem, source.remedy),), {}, {})
    configuration = read_configuration(project)
    configured, found = configuration.options, configuration.diagnostics
    form = FRONT_ENDS[settings.front_end] if settings.front_end else recognise(source)
    if form is None:
        sources = configuration.sources | {path: source}
        return Compilation(path, None, (*found, _unknown_format(source)), sources, configured.targets)
    job = Job(source, project, configured, settings.transitions, settings.link)
    result = form.load().compile_document(job)
    too_long = tuple(commands_too_long(result.program, result.sources)) if result.program else ()
    diagnostics = tuple(sorted({*found, *result.diagnostics, *too_long}, key=sort_key))
    program = None if found or too_long else result.program
    sources = configuration.sources | {item.path: item for item in result.sources.values()}
    tables = merge(result.options.targets, configured.targets)
    return Compilation(path, program, diagnostics, sources, tables, result.scenarios, result.jumps)


def _unknown_format(source: Source) -> Diagnostic:
    suffixes = " or ".join(suffix for form in FRONT_ENDS.values() for suffix in form.suffixes)
    problem = "rdc cannot tell the format of this file"
    remedy = f"let its name end in {suffixes}, or say it with --from {'|'.join(FRONT_ENDS)}"
    return Diagnostic("RD005", source.path, None, problem, remedy)
