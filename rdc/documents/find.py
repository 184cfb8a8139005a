"""Finds the documents of a command: files, folders, the whole project, and standard input."""

import os
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from compiler.frontends import FRONT_ENDS
from compiler.project.project import SKIPPED, Project, project_around
from rdc.documents.rules import named_documents

STANDARD_INPUT = "-"


class NoDocumentsError(Exception):
    """A folder or project has no documents, or cannot be read."""


class Found(Struct, frozen=True):
    """The path of a document, and the folder that contains it; "" for a document that the caller named."""

    path: str
    folder: str = ""


def find_documents(arguments: Sequence[str]) -> list[Found]:
    """Return the documents of the arguments, each once, in order. Those of a folder are sorted by path.

    Without arguments, return the documents of the project around the current folder.

    Raises:
        NoDocumentsError: A folder or the project has none.
    """
    if not arguments:
        project = project_around(os.path.realpath(os.curdir))
        every = project_documents(project)
        if not every:
            problem = f"the project {project.root} has no documents ({_names()})"
            raise NoDocumentsError(f"{problem}; write one, or name a file or folder")
        return every
    places: dict[str, Found] = {}
    for found in (found for argument in arguments for found in _named(argument)):
        folder, name = os.path.split(found.path)
        places.setdefault(os.path.join(os.path.realpath(folder), name), found)
    return list(places.values())


def project_documents(project: Project) -> list[Found]:
    """Return all documents of a project by their names, with paths relative to the current folder.

    The configuration may name others under `[[build]]`. Nothing else adds documents to a project.
    """
    found = {os.path.relpath(found.path): None for found in _in_folder(project.root)}
    found |= {os.path.relpath(os.path.join(project.root, path)): None for path in named_documents(project)}
    return [Found(path, project.root) for path in sorted(found, key=lambda path: path.split(os.sep))]


def _named(argument: str) -> list[Found]:
    if argument == STANDARD_INPUT or not os.path.isdir(argument):
        return [Found(argument)]
    every = _in_folder(argument)
    if not every:
        raise NoDocumentsError(f"the folder {argument} has no documents ({_names()})")
    return every


def _in_folder(folder: str) -> list[Found]:
    return [Found(path, folder) for path in paths_below(folder, is_document)]


def _names() -> str:
    every = (name for form in FRONT_ENDS.values() for name in (*map("*{}".format, form.suffixes), *form.names))
    return " or ".join(every)


def is_document(name: str) -> bool:
    """Return whether a file is a document by its name."""
    return any(form.has(name) for form in FRONT_ENDS.values())


def paths_below(folder: str, is_wanted: Callable[[str], bool]) -> list[str]:
    """Return the files below a folder with a wanted name, sorted by path, except hidden and ignored ones."""
    return sorted(_below(folder, is_wanted), key=lambda path: path.split(os.sep))


def _below(folder: str, is_wanted: Callable[[str], bool]) -> Iterator[str]:
    """Yield the files below a folder. Links are not followed, because they may lead anywhere."""
    ignored = _ignored(folder)
    for above, folders, files in os.walk(folder, onerror=_unreadable):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and name not in SKIPPED and _place(above, name) + os.sep not in ignored
        ]
        for name in files:
            path = _place(above, name)
            is_found = not name.startswith(".") and is_wanted(name)
            if is_found and not os.path.islink(path) and path not in ignored:
                yield path


def _place(above: str, name: str) -> str:
    return os.path.normpath(os.path.join(above, name))


def _ignored(folder: str) -> frozenset[str]:
    """Return the paths below a folder that git ignores; folders end with `/`. Without git, it is empty."""
    from rdc.documents.git import IGNORED, RevisionError, files_of  # noqa: PLC0415 (only folders need git)

    try:
        names = files_of(folder, IGNORED)
    except RevisionError:
        return frozenset()
    return frozenset(_place(folder, name) + (os.sep if name.endswith("/") else "") for name in names)


def _unreadable(error: OSError) -> None:
    raise NoDocumentsError(f"cannot read the folder {error.filename}: {error.strerror}")
