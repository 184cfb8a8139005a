"""What a front end is: what it is given, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct

from compiler.diagnostic import Diagnostic
from compiler.ir.program import Program
from compiler.options import Options, Table
from compiler.project import Project
from compiler.scenarios import Scenario
from compiler.source import Source


class Job(Struct, frozen=True):
    """What a front end is given: the document, the project to find others in, and what was asked for.

    `given` are the values of the format's options on the command line, which override those in the document;
    `configured` are the project's, which do not (V7). With `link` false, a missing nested document is no error (V11).
    `tables` are the options of targets that the project has.
    """

    source: Source
    project: Project
    given: Mapping[str, object]
    configured: Mapping[str, object]
    link: bool
    tables: Mapping[str, Table] = MappingProxyType({})


class Result(Struct, frozen=True):
    """What a front end gives: the program (None with errors), all findings, and every source by its name.

    `options` and `scenarios` are those in the document itself; what stands in documents that it includes is about these
    alone. `facts` makes what a format tells other tools of the document, if it tells something. `scenario_file` is the
    name of the file beside the document that new scenarios go to; "" if they go into the document.
    """

    program: Program | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    options: Options
    scenarios: tuple[Scenario, ...] = ()
    facts: Callable[[], dict[str, object]] | None = None
    scenario_file: str = ""


class Formatted(Struct, frozen=True):
    """What formatting a document gives.

    `text` is the normal form, or None if the document is left alone: `diagnostics` say why, or `defect` does if the
    normal form would not mean the same. `renumbered` has the steps with a new number, old and new.
    """

    text: str | None
    diagnostics: tuple[Diagnostic, ...] = ()
    renumbered: tuple[tuple[str, str], ...] = ()
    defect: str = ""


class FrontEnd(Protocol):
    """The functions that the module of a front end has."""

    def recognizes(self, source: Source) -> bool:
        """Whether the content looks like this format; asked only where the file's name says nothing."""

    def compile_document(self, job: Job) -> Result:
        """Parses, checks, links and lowers a document; never raises for what stands in it."""

    def format_document(self, job: Job) -> Formatted:
        """The normal form of a document, proved to mean the same; never raises for what stands in it."""
