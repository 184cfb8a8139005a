"""Describe source formats, define a front end's input and output, and format documents that are YAML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from compiler.diagnostics.model import Diagnostic, Severity
from compiler.text.source import LINE_END, Source

if TYPE_CHECKING:
    from compiler.diagnostics.model import Diagnostic
    from compiler.frontends.common.marks import Ids, Mark, Marks
    from compiler.ir.program import Program
    from compiler.project.options import Option, Options, TargetOptions
    from compiler.project.project import Project
    from compiler.reading.yaml import Reading
    from compiler.rules.model import DeclaredRule, Names
    from compiler.scenarios.model import Scenario


class Job(Struct, frozen=True):
    """The input of a front end: the document, its project, and the user's options.

    `given` are the format's options on the command line, which override the document's. `configured` are the project's,
    which don't. If `link` is false, missing nested documents are not errors. `tables` are the project's options
    for targets.
    """

    source: Source
    project: Project
    given: Mapping[str, object]
    configured: Mapping[str, object]
    link: bool
    tables: Mapping[str, TargetOptions] = MappingProxyType({})


class Result(Struct, frozen=True):
    """The output of a front end: the program (None after errors), all diagnostics, and every source by name.

    `options` and `scenarios` come from the document itself; those of included documents apply only there. `facts`
    returns the format's report for other tools, if it has one. `scenario_file` is the companion file for new scenarios,
    or "" if they go into the document. `rules` and `labels` include those of included documents, by full id.
    `inclusions` are the names of included documents by the id of the inclusion.
    """

    program: Program | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    options: Options
    scenarios: tuple[Scenario, ...] = ()
    facts: Callable[[], dict[str, object]] | None = None
    scenario_file: str = ""
    rules: tuple[DeclaredRule, ...] = ()
    labels: Names = MappingProxyType({})
    inclusions: Mapping[str, str] = MappingProxyType({})


class Formatted(Struct, frozen=True):
    """The result of formatting a document.

    `text` is the normal form, or None if the document stays unchanged. Then `diagnostics` are the reason, or `defect`
    is set because the formatted document would not mean the same. `renumbered` has pairs of old and new step numbers.
    """

    text: str | None
    diagnostics: tuple[Diagnostic, ...] = ()
    renumbered: tuple[tuple[str, str], ...] = ()
    defect: str = ""


class FrontEnd(Protocol):
    """The functions of a front end's module."""

    def recognizes(self, source: Source) -> bool:
        """Return whether the content looks like this format, for files whose name doesn't decide."""

    def compile_document(self, job: Job) -> Result:
        """Parse, check, link and lower a document; never raises for any content."""


class Formatter(Protocol):
    """The function of a module that formats documents."""

    def format_document(self, job: Job) -> Formatted:
        """Return the normal form of a document, proved to mean the same; never raises for any content."""


class Marking(Protocol):
    """The functions of a module that marks names for editors; `ids` finds the steps in a reference."""

    @property
    def ids(self) -> Ids: ...  # noqa: D102

    def marks_of(self, job: Job) -> Marks:
        """Return the marks of a document in order, also after errors; never raises for any content."""

    def name_issue(self, mark: Mark, new: str, /) -> str:
        """Return why the input, output or step of a mark can't get a new name, as a sentence, or ""."""


class Format(Struct, frozen=True):
    """A source format: a document's `noun` in messages, its file `suffixes` and other file `names`, and its options.

    `module` has its front end, `formatter` its `format_document` (or the front end has it), and `drafts` drafts
    scenarios, or is "" without scenarios. `marks` marks names. `schema` has the JSON Schema of its documents or of
    their frontmatter, or is "". `grammars` are its files in `grammars/`, none for YAML and JSON.
    """

    name: str
    noun: str
    summary: str
    suffixes: tuple[str, ...]
    module: str
    grammars: tuple[str, ...] = ()
    options: tuple[Option[Any], ...] = ()
    names: tuple[str, ...] = ()
    formatter: str = ""
    drafts: str = ""
    marks: str = ""
    schema: str = ""

    def has(self, path: str) -> bool:
        """Return whether a file has a name of this format."""
        return path.endswith(self.suffixes) or path.rpartition("/")[2] in self.names

    @property
    def is_markdown(self) -> bool:
        """Whether only the frontmatter of its documents is YAML."""
        return bool(self.grammars)

    @property
    def word(self) -> str:
        """The format's name on the command line."""
        return self.name.replace("_", "-")

    def load(self) -> FrontEnd:
        """Return the front end, importing it on first use."""
        module: FrontEnd = import_module(self.module)
        return module

    def load_formatter(self) -> Formatter:
        """Return the module that formats its documents, which only a few commands import."""
        module: Formatter = import_module(self.formatter or self.module)
        return module

    def load_marks(self) -> Marking:
        """Return the module that marks names, which only editors and renames need."""
        module: Marking = import_module(self.marks)
        return module


class Parsed(Protocol):
    """A document as it was read; `reading` is None for JSON."""

    @property
    def reading(self) -> Reading | None: ...  # noqa: D102
    @property
    def diagnostics(self) -> list[Diagnostic]: ...  # noqa: D102


def formatted(job: Job, parse: Callable[[Source], Parsed]) -> Formatted:
    """Return a document with uniform line ends, no trailing white space and single blank lines.

    Comments, key order, quotes and indentation stay. JSON and documents with errors are left unchanged.
    """
    parsed = parse(job.source)
    reading, errors = parsed.reading, tuple(item for item in parsed.diagnostics if item.severity is Severity.ERROR)
    if errors:
        return Formatted(None, errors)
    if reading is None:
        return Formatted(job.source.text)
    ends = Counter(LINE_END.findall(job.source.text))
    end = max(("\n", "\r\n", "\r"), key=lambda one: ends[one])
    text = "".join(line + end for line in _ordered(job.source.lines, reading.lines_in_texts))
    again = parse(Source.from_text(job.source.path, text)).reading
    if again is None or (again.values, again.as_written) != (reading.values, reading.as_written):
        return Formatted(None, (), defect="the formatted document would not mean the same")
    return Formatted(text)


def _ordered(lines: tuple[str, ...], inside: frozenset[int]) -> Iterator[str]:
    """Yield the lines without trailing whitespace or repeated blank lines; multi-line strings stay unchanged."""
    # A blank line after a string may belong to it, so at least one is kept.
    last = max((number for number, line in enumerate(lines, 1) if line.strip() or number in inside), default=0)
    blank = True
    for number, line in enumerate(lines[:last], 1):
        if number in inside:
            yield line
            blank = False
            continue
        stripped = line.rstrip(" \t")
        if stripped or not blank:
            yield stripped
        blank = not stripped
