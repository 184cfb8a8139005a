"""The files of an import: pages to read, drafts to write, and the reasons against each."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.model import CODES, Severity
from compiler.driver import Opened, Settings, compile_opened
from compiler.frontends.common.names import safe_name
from compiler.importers.draft import origin_of
from compiler.importers.page import Imported, Options, import_page
from compiler.importers.report import VERSION, Import, LostCodeError, Refusal, Report, as_text
from compiler.project.project import open_project
from compiler.text.files import LARGEST_FILE, FileIssue, read_source, read_standard_input
from compiler.text.source import Source, without_ending
from rdc.documents.find import STANDARD_INPUT, is_document, paths_below
from rdc.importing.just import import_justfile, is_justfile
from rdc.output.write import File

SUFFIX = ".runbook.md"
PAGES = (".md", ".markdown")

OTHERS = (
    (("Makefile", "makefile", "GNUmakefile", ".mk"), "a Makefile"),
    ((".yml", ".yaml"), "a workflow"),
    ((".sh", ".bash", ".zsh"), "a script"),
    ((".html", ".htm", ".rst", ".adoc", ".org"), "a page that isn't Markdown"),
)
"""The ends of names that rdc doesn't import, with their kinds."""


class UnfitError(Exception):
    """The request can't be fulfilled as a whole; nothing is written."""


class Place(Struct, frozen=True):
    """A page to read, and the file or folder of its draft; an empty `folder` means standard output.

    `kind` is the kind that a person named, and `recipe` the recipe of a justfile.
    """

    page: str
    folder: str
    file: str = ""
    kind: str = ""
    recipe: str = ""


class Made(Struct, frozen=True):
    """The reports of an import, and the drafts with their files in the same order."""

    reports: Import
    files: tuple[File, ...]


def places_of(argument: str, out: str | None) -> list[Place]:
    """Return the pages of an argument, a file or a folder, with the places of their drafts.

    Raises:
        UnfitError: A folder has no pages, or the output doesn't fit the argument.
    """
    if argument == STANDARD_INPUT or not os.path.isdir(argument):
        is_folder = out is not None and (out.endswith("/") or os.path.isdir(out))
        if out == STANDARD_INPUT or (argument == STANDARD_INPUT and out is None):
            return [Place(argument, "")]
        if out and not is_folder:
            return [Place(argument, os.path.dirname(out) or ".", out)]
        return [Place(argument, out or os.path.dirname(argument) or ".")]
    if out == STANDARD_INPUT or (out and not out.endswith("/") and not os.path.isdir(out)):
        raise UnfitError(f"{argument} is a folder, so the output must be one, too: use -o FOLDER/")
    pages = paths_below(argument, _is_page)
    if not pages:
        raise UnfitError(f"the folder {argument} has no pages ({' or '.join(f'*{one}' for one in PAGES)})")
    return [Place(page, _beside(page, argument, out)) for page in pages]


def _is_page(name: str) -> bool:
    return name.endswith(PAGES) and not is_document(name)


def _beside(page: str, folder: str, out: str | None) -> str:
    own = os.path.dirname(page)
    return os.path.normpath(os.path.join(out, os.path.relpath(own, folder))) if out else own or "."


def import_all(places: Sequence[Place], options: Options) -> Made:
    """Return the drafts of pages; nothing is written.

    Raises:
        UnfitError: A draft exists already, or two pages have the same draft.
    """
    drafts: list[Report] = []
    refused: list[Refusal] = []
    files: list[File] = []
    for place in places:
        made = import_one(place, options)
        if isinstance(made, Refusal):
            refused.append(made)
            continue
        file, report = made
        drafts.append(report)
        files.append(file)
    first: dict[Path, str] = {}
    for file, report in zip(files, drafts, strict=True):
        if (other := first.setdefault(file.path, report.source)) != report.source:
            raise UnfitError(f"{other} and {report.source} would both become {file.path}; import one with -o")
        if file.path.name and os.path.lexists(file.path):
            raise UnfitError(f"{file.path} exists, and a person may have edited it; choose another file with -o")
    return Made(Import(VERSION, tuple(drafts), tuple(refused)), tuple(files))


def import_one(place: Place, options: Options) -> tuple[File, Report] | Refusal:
    """Return the draft of one page with its report, or the reason why it has none. The file of `-` has no name."""
    source = _source(place.page)
    if isinstance(source, Refusal):
        return source
    try:
        made = _imported(source, place, options)
    except LostCodeError as lost:
        [line] = lost.args
        return Refusal(place.page, "code-lost", "the draft would lack a code line; please report this defect", line)
    if isinstance(made, Refusal):
        return made
    path = _path(place, made)
    if problem := _error(path, made):
        return Refusal(place.page, "draft-error", f"the draft would have an error: {problem}")
    return File(Path(path), made.text.encode()), replace(made.report, draft=path or STANDARD_INPUT)


def _imported(source: Source, place: Place, options: Options) -> Imported | Refusal:
    if place.kind == "just" or (not place.kind and is_justfile(place.page)):
        if place.page == STANDARD_INPUT:
            return Refusal(place.page, "just", "just reads files only; name the justfile")
        return import_justfile(source, _origin(place), place.recipe)
    return import_page(source, _origin(place), options)


def _source(page: str) -> Source | Refusal:
    if kind := next((kind for ends, kind in OTHERS if page.endswith(ends)), ""):
        advice = "docs/how-to/convert.md shows how to convert it"
        return Refusal(page, "format", f"rdc import reads pages and skills, not {kind}; {advice}")
    if is_document(os.path.basename(page)):
        return Refusal(page, "format", "rdc reads this document already; import a page or a skill")
    found = read_standard_input("page.md") if page == STANDARD_INPUT else read_source(page, page, PurePath(page).name)
    if isinstance(found, FileIssue):
        return Refusal(page, CODES[found.code].name, f"{found.message}; {found.help}")
    return found


def _origin(place: Place) -> str:
    """Return the path of a page from the folder of its draft; "" for standard input."""
    if place.page == STANDARD_INPUT:
        return ""
    page = os.path.join(os.path.realpath(os.path.dirname(place.page)), os.path.basename(place.page))
    return PurePath(os.path.relpath(page, os.path.realpath(place.folder or "."))).as_posix()


def _path(place: Place, made: Imported) -> str:
    if place.file or not place.folder:
        return place.file
    own = "page" if place.page == STANDARD_INPUT else without_ending(os.path.basename(place.page), PAGES)
    name = safe_name(made.name, own) if made.name else own
    return os.path.normpath(os.path.join(place.folder, f"{name}{SUFFIX}"))


def _error(path: str, made: Imported) -> str:
    """Return the first error of a draft, which no draft should have, or ""."""
    if len(made.text.encode()) > LARGEST_FILE:
        return "it is larger than 8 MiB; split the page"
    shown = path or f"draft{SUFFIX}"
    opened = Opened(shown, open_project(shown), Source.from_text(shown, made.text))
    found = compile_opened(opened, Settings("rundown", link=False)).diagnostics
    wrong = next((one for one in found if one.severity is Severity.ERROR), None)
    return f"{wrong.code}: {wrong.message}" if wrong else ""


def report_lines(made: Made) -> Iterator[str]:
    """Yield the report of an import for a person."""
    for report, file in zip(made.reports.drafts, made.files, strict=True):
        if file.path.name:
            yield f"wrote {file.path}"
        yield from as_text(report)
        if file.path.name:
            yield f"next: rdc check --strict {file.path}"
    for refused in made.reports.refused:
        place = f"{refused.source}:{refused.line}" if refused.line else refused.source
        yield f"{place}: {refused.message}"


def changed_origin(draft: str) -> str:
    """Return how the page of a draft has changed since its import, or "" if it hasn't.

    Raises:
        UnfitError: The draft names no page, or one of the files can't be read.
    """
    found = read_source(draft, draft, draft)
    if isinstance(found, FileIssue):
        raise UnfitError(f"{draft}: {found.message}")
    origin = origin_of(found.text)
    if origin is None:
        raise UnfitError(f"{draft} doesn't name the page that it was imported from")
    path, sha256 = origin
    page = os.path.normpath(os.path.join(os.path.dirname(draft), path))
    source = read_source(page, page, page)
    if isinstance(source, FileIssue):
        raise UnfitError(f"{page}: {source.message}")
    return "" if source.sha256 == sha256 else f"{page} has changed since {draft} was imported"
