"""From the arguments of a command to documents: files, all documents below folders, and standard input."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from compiler.driver import Opened, open_file, open_standard_input
from compiler.frontends import FRONT_ENDS
from compiler.project import SKIPPED

STANDARD_INPUT = "-"


class NoDocumentsError(ValueError):
    """A folder has no documents in it, or cannot be read."""


def open_documents(arguments: Sequence[str]) -> Iterator[Opened]:
    """The documents that arguments name, each once, in their order; those of a folder in the order of their paths.

    Raises:
        NoDocumentsError: There is none in a folder.
    """
    for path in dict.fromkeys(path for argument in arguments for path in _paths(argument)):
        yield open_standard_input() if path == STANDARD_INPUT else open_file(path)


def _paths(argument: str) -> list[str]:
    if argument == STANDARD_INPUT or not os.path.isdir(argument):
        return [argument]
    found = _paths_below(argument)
    if not found:
        names = " or ".join(
            name for form in FRONT_ENDS.values() for name in (*map("*{}".format, form.suffixes), *form.names)
        )
        raise NoDocumentsError(f"the folder {argument} has no documents ({names}) in it")
    return found


def _paths_below(folder: str) -> list[str]:
    return sorted(_below(folder), key=lambda path: path.split(os.sep))


def _below(folder: str) -> Iterator[str]:
    """The documents below a folder, by their names. Links are not followed: they may lead anywhere."""
    ignored = _ignored(folder)
    for above, folders, files in os.walk(folder, onerror=_unreadable):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and name not in SKIPPED and _place(above, name) + os.sep not in ignored
        ]
        for name in files:
            path = _place(above, name)
            is_document = (
                any(form.has(name) for form in FRONT_ENDS.values())
                and not name.startswith(".")
                and not os.path.islink(path)
            )
            if is_document and path not in ignored:
                yield path


def documents_below(root: str) -> list[str]:
    """The documents of a project by their paths from its root; raises `NoDocumentsError` if a folder is unreadable."""
    return [os.path.relpath(path, root).replace(os.sep, "/") for path in _paths_below(root)]


def _place(above: str, name: str) -> str:
    return os.path.normpath(os.path.join(above, name))


def _ignored(folder: str) -> frozenset[str]:
    """What git ignores below a folder, folders with a `/` at their end; nothing where there is no git."""
    from rdc.revision import RevisionError, ignored_files  # noqa: PLC0415 (only folders need git)

    try:
        return frozenset(
            _place(folder, name) + (os.sep if name.endswith("/") else "") for name in ignored_files(folder)
        )
    except RevisionError:
        return frozenset()


def _unreadable(error: OSError) -> None:
    raise NoDocumentsError(f"the folder {error.filename} cannot be read: {error.strerror}")
