"""The files of a project, and the patterns that choose among them (B-1)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from compiler.project import CONFIGURATIONS, GIT, SKIPPED, is_root

_MARKS = frozenset({GIT, *CONFIGURATIONS})
"""One of these is in each folder that is its own project."""

_WILD = re.compile(r"[*?\[]")


def files_below(root: str, patterns: Iterable[str]) -> list[str]:
    """The files of a project by their paths from its root with `/`, in the order of their folders and names.

    Links are not followed, and other projects within this one are left out. So are hidden folders, and those of
    packages, unless a pattern names them.
    """
    named = {_literal(pattern) for pattern in patterns}
    return sorted(_below(root, named), key=lambda path: path.split("/"))


def matcher(pattern: str) -> re.Pattern[str]:
    """The expression that matches the paths of a pattern: `*` and `?` stay within a name, `**` takes any folders."""
    return re.compile("".join(_parts(pattern)))


def _parts(pattern: str) -> Iterator[str]:
    *folders, last = pattern.split("/")
    for part, before in zip(folders, ["", *folders], strict=False):
        if part == before == "**":
            continue  # it means the same, and would take long
        yield "(?:[^/]+/)*" if part == "**" else f"{_name(part)}/"
    yield ".*" if last == "**" else _name(last)


def _name(part: str) -> str:
    found = re.split(r"(\*+|\?|\[!?\]?[^\]]*\])", part)
    return "".join(_wild(word) if number % 2 else re.escape(word) for number, word in enumerate(found))


def _wild(word: str) -> str:
    if word[0] != "[":
        return "[^/]*" if word[0] == "*" else "[^/]"
    inner = word[1:-1].replace("\\", "\\\\").replace("[", "\\[")
    return f"(?!/)[^{inner[1:]}]" if inner[:1] == "!" else f"(?!/)[{inner}]"


def _literal(pattern: str) -> str:
    """The folder that a pattern begins with, as far as it is without wildcards."""
    folders = pattern.split("/")[:-1]
    wild = next((number for number, part in enumerate(folders) if _WILD.search(part)), len(folders))
    return "/".join(folders[:wild])


def _below(root: str, named: set[str]) -> Iterator[str]:
    folders = [""]
    while folders:
        folder = folders.pop()
        place = os.path.join(root, folder)
        with os.scandir(place) as found:
            entries = list(found)
        if folder and not _MARKS.isdisjoint(entry.name for entry in entries) and is_root(place):
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if _is_entered(entry.name, path, named):
                    folders.append(path)
            elif entry.is_file(follow_symlinks=False):
                yield path


def _is_entered(name: str, path: str, named: set[str]) -> bool:
    if name == GIT:
        return False
    if name[0] != "." and name not in SKIPPED:
        return True
    return any(f"{literal}/".startswith(f"{path}/") for literal in named)
