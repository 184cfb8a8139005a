"""Symbolic links: a repository may have committed some, and no command writes through them."""

from __future__ import annotations

import os
from pathlib import Path, PurePath

from compiler.files import is_below
from compiler.project import is_root, project_around

_OF_GIT = frozenset({".git", "git~1"})
"""Git runs files in this folder, so documents must not choose them. Windows also has the second name."""

LEADS_OUT = "it leads out of the project through a link"
LEADS_TO_GIT = "it leads to the folder .git, where git may run it, through a link"


def is_of_git(path: PurePath) -> bool:
    """Return whether a path leads to git's folder on any file system.

    Some ignore case, dots or invisible characters.
    """
    plain = ("".join(filter(str.isprintable, part)).rstrip(" .").casefold() for part in path.parts)
    return not _OF_GIT.isdisjoint(plain)


def unwritable_link(path: str | Path) -> str:
    """Return why a link keeps rdc from writing a file, or "". A file that is a link is never written."""
    return "it is a link" if Path(path).is_symlink() else stray_link(path)


def stray_link(path: str | Path) -> str:
    """Return where a file or a folder above it leads as a link, if that is outside the link's own project, or ""."""
    here, place = Path.cwd(), Path(path)
    for link in filter(Path.is_symlink, (*reversed((here / place).parents), here / place)):
        root = project_around(os.path.realpath(link.parent)).root
        if not (is_root(root) or link.is_relative_to(here)):
            continue  # a link of the system or of the user, for example in the home folder
        end = os.path.realpath(link)
        if not is_below(end, root):
            return LEADS_OUT
        if is_of_git(PurePath(os.path.relpath(end, root))):
            return LEADS_TO_GIT
    return ""
