"""`rdc.lock`: what a reviewer must not miss in the generated files, one item a line (B-5).

A line is the path of a file, a kind and a value, such as `.github/workflows/deploy.yml secret DEPLOY_TOKEN`. Lines are
sorted, so that a difference shows what comes and what goes.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from errno import EIO

from msgspec import Struct

from compiler.diagnostic import Diagnostic
from compiler.files import DISK
from rdc.building.records import LOCK, Record

_HEAD = "# What the files that `rdc build` writes may do and what they call. A new line needs `rdc build --approve`.\n"


def lock_text(records: Iterable[Record]) -> str:
    """The text of the lock for what tasks have made."""
    lines = {f"{_quoted(path)} {item}" for one in records for path, items in one.items.items() for item in items}
    return _HEAD + "".join(f"{line}\n" for line in sorted(lines))


def _quoted(path: str) -> str:
    """A path as one word; one with spaces or quotes is a string of JSON."""
    return json.dumps(path) if not path.isprintable() or any(char in path for char in ' "\\#') else path


def read_lock(root: str) -> str | None:
    """The lock of a project as it is; None if there is none. Raises `OSError` if it cannot be read."""
    try:
        return DISK.read(os.path.join(root, LOCK)).decode(errors="replace")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise OSError(EIO, getattr(error, "strerror", None) or str(error), LOCK) from error


class Review(Struct, frozen=True):
    """What is new in a lock and not approved, and the approvals that no new item has: a path and an item each."""

    refused: tuple[tuple[str, str], ...]
    unknown: tuple[str, ...]

    @property
    def held(self) -> frozenset[str]:
        """The files with an item that nobody approved."""
        return frozenset(path for path, _ in self.refused)

    @property
    def findings(self) -> list[Diagnostic]:
        """An error for each new item, with the command that approves it."""
        files: dict[str, list[str]] = {}
        for path, item in self.refused:
            files.setdefault(item, []).append(path)
        return [_finding(item, paths) for item, paths in files.items()]


def review(present: str | None, wanted: str, approved: Sequence[str], taken: Sequence[str], *, ci: bool) -> Review:
    """Hold the lock that there is against the one that the files need.

    Items that were `taken` from edited files are approved by that. The first lock of a project is for people to read as
    a whole, so that nothing in it is new; in CI everything is.
    """
    if present is None and not ci:
        return Review((), tuple(approved))
    known = set((present or "").splitlines())
    common = {item for line in known if _is_common(item := _parts(line)[1])}
    lines = [_parts(line) for line in wanted.splitlines() if line not in known and not line.startswith("#")]
    new = [(path, item) for path, item in lines if item not in common]
    items = {item for _, item in new}
    refused = tuple((path, item) for path, item in new if item not in approved and item not in taken)
    return Review(refused, tuple(item for item in approved if item not in items))


def _is_common(item: str) -> bool:
    """Whether an item that one file has is nothing new in another: it gives no power that a reviewer did not see."""
    return item.startswith(("action ", "runtime ")) or (item.startswith("permission ") and item.endswith(": read"))


def items_in(text: str) -> dict[str, list[str]]:
    """The items of each file that a lock knows."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            path, item = _parts(line)
            found.setdefault(path, []).append(item)
    return found


def _parts(line: str) -> tuple[str, str]:
    """The path and the item of a line; whoever wrote it, there are two."""
    if line.startswith('"'):
        with suppress(ValueError):
            path, end = json.JSONDecoder().raw_decode(line)
            return str(path), line[end:].strip()
    path, _, item = line.partition(" ")
    return path, item


def _finding(item: str, paths: Sequence[str]) -> Diagnostic:
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    remedy = f"look at it, then approve it: rdc build --approve {shlex.quote(item)}"
    return Diagnostic("RD546", paths[0], None, f"new: {item} in {paths[0]}{more}", remedy)
