"""The files of a project, and the patterns that match them (B-1)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from compiler.project import CONFIGURATIONS, GIT, SKIPPED, is_root

_MARKS = frozenset({GIT, *CONFIGURATIONS})
"""Each project folder contains one of these."""

_WILD = re.compile(r"[*?\[]")
_STAR = "\0"


def files_below(root: str, patterns: Iterable[str]) -> list[str]:
    """Return the files of a project, as paths from its root with `/`, sorted by folders and names.

    Links aren't followed, and nested projects are left out. Hidden folders and package folders are left out unless a
    pattern names them.
    """
    named = {_literal(pattern) for pattern in patterns}
    return sorted(_below(root, named), key=lambda path: path.split("/"))


def matcher(pattern: str) -> re.Pattern[str]:
    """Return the expression for a pattern: `*` and `?` match within a name, `**` matches any folders."""
    return re.compile("".join(_parts(pattern)))


def _parts(pattern: str) -> Iterator[str]:
    """Yield the parts of an expression. Only its last `**` and the last star of a name can backtrack."""
    *folders, last = pattern.split("/")
    groups: list[list[str]] = [[]]
    for part in folders:
        if part != "**":
            groups[-1].append(f"{_name(part)}/")
        elif groups[-1] or len(groups) == 1:
            groups.append([])  # two after each other mean the same, but slow
    first, *others = ("".join(group) for group in groups)
    yield first
    yield from (f"(?>(?:[^/]+/)*?{group})" for group in others[:-1])
    yield from (f"(?:[^/]+/)*{group}" for group in others[-1:])
    yield ".*" if last == "**" else _name(last)


def _name(part: str) -> str:
    """Return the expression for a name. The text after a star matches at its first place, except at the end."""
    found = re.split(r"(\*+|\?|\[!?\]?[^\]]*\])", part)
    pieces = [_wild(word) if number % 2 else re.escape(word) for number, word in enumerate(found)]
    first, *others = "".join(pieces).split(_STAR)
    inner = "".join(f"(?>[^/]*?{piece})" for piece in others[:-1])
    return "".join([first, inner, *(f"[^/]*{piece}" for piece in others[-1:])])


def _wild(word: str) -> str:
    if word[0] != "[":
        return _STAR if word[0] == "*" else "[^/]"
    inner = word[1:-1].replace("\\", "\\\\").replace("[", "\\[")
    return f"(?!/)[^{inner[1:]}]" if inner[:1] == "!" else f"(?!/)[{inner}]"


def _literal(pattern: str) -> str:
    """Return the leading folders of a pattern without wildcards."""
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
