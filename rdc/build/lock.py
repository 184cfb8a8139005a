"""`rdc.lock`: the items in generated files that people must review, one per line.

A line has the path of a file, a kind and a value, such as `.github/workflows/deploy.yml secret DEPLOY_TOKEN`. Lines are
sorted, so that diffs show the changes. `rdc/build/rule_items.py` has the lines about rules.
"""

import json
import os
import shlex
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from errno import EIO
from typing import Any, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from backends.base import Backend
from compiler.diagnostics.model import Diagnostic
from compiler.ir.program import Program
from compiler.ir.serialize import program_hash
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Stage, Tool
from compiler.text.files import DISK
from rdc.build.records import LOCK, Record
from rdc.build.rule_items import GONE, KIND, weaker
from rdc.documents.plan import SERVED, files_below, matching
from rdc.output.generate import Product
from rdc.terminal.cells import visible

COMMON = "default"
"""The agent of prompts without an agent."""


def items_of(
    program: Program, backend: Backend[Any], product: Product, files: Mapping[str, bytes]
) -> dict[str, list[str]]:
    """Return the items of a document's files, sorted, by path. The main file must come first in `files`."""
    found = {path: {*backend.review_items(path, data)} for path, data in files.items()}
    found[next(iter(files))] |= {*_of_program(program), *product.items}
    return {path: sorted(map(visible, items)) for path, items in found.items() if items}


def _of_program(program: Program) -> Iterator[str]:
    """Yield the items that don't depend on the target."""
    yield from (f"secret {name}" for name in program.secrets)
    yield from (f"input {given.name}" for given in program.inputs)
    yield from [f"notify {program.notify}"] if program.notify else ()
    for node in program.nodes:
        yield from (f"env {constant.name}: {constant.value}" for constant in node.constants)
        match node.task:
            case Agent(agent):
                yield f"agent {agent or COMMON}"
            case Parallel(entries):
                yield from (f"agent {entry.agent or COMMON}" for entry in entries)
            case Tool(connection, tool):
                yield f"tool {connection}.{tool}"
            case Gate(gate):
                yield f"gate {gate}"
            case Shell() | Ask() | Stage() | Branch() | End():
                continue
            case _:
                assert_never(node.task)


def served_item(program: Program) -> str:
    """Return the item of a served document: the hash of its program, with the documents that it includes."""
    return f"{SERVED} {program_hash(program)}"


def served_documents(root: str, patterns: Sequence[str]) -> dict[str, str]:
    """Return the files of a project that match patterns, with their approved hashes in the lock, or "".

    Raises:
        OSError: A folder or the lock can't be read.
    """
    items = ((path, item.partition(" ")) for path, item in _lines(read_lock(root) or ""))
    approved = {path: value for path, (kind, _, value) in items if kind == SERVED}
    return {path: approved.get(path, "") for path in matching(patterns, files_below(root, patterns))}


_GUARDS = ("gate ", "environment ")
"""Items that hold a run back. Without them a file can do more, so their removal needs an approval too."""

_HEAD = (
    "# Permissions, secrets and calls of the files from `rdc build`. To approve a new line: `rdc build --approve`.\n"
)


def lock_text(records: Iterable[Record]) -> str:
    """Return the text of the lock for some records."""
    lines = {f"{_quoted(path)} {item}" for one in records for path, items in one.items.items() for item in items}
    return _HEAD + "".join(f"{line}\n" for line in sorted(lines))


def _quoted(path: str) -> str:
    """Return a path as one word; as a JSON string if it has spaces or quotes."""
    return json.dumps(path) if not path.isprintable() or any(char in path for char in ' "\\#') else path


def read_lock(root: str) -> str | None:
    """Return the text of a project's lock, or None if there is none; raises `OSError` if it cannot be read."""
    try:
        return DISK.read(os.path.join(root, LOCK)).decode(errors="replace")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise OSError(EIO, getattr(error, "strerror", None) or str(error), LOCK) from error


class Review(Struct, frozen=True):
    """The new items in a lock that aren't approved, and the approvals without a new item.

    A guard that a file no longer has is the new item `no gate X`, and so is a rule that is gone or weaker. `changes`
    show how, by document and item.
    """

    refused: tuple[tuple[str, str], ...]
    unknown: tuple[str, ...]
    changes: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def held(self) -> frozenset[str]:
        """The files with items that aren't approved."""
        return frozenset(path for path, _ in self.refused)

    @property
    def findings(self) -> list[Diagnostic]:
        """An error for each new item with the command that approves it; the first one has a command for all."""
        files: dict[str, list[str]] = {}
        for path, item in sorted(self.refused):
            files.setdefault(item, []).append(path)
        found = [_finding(item, paths, self.changes.get((paths[0], item), "")) for item, paths in files.items()]
        if len(found) > 1:
            found[0] = replace(found[0], help=f"review all {len(found)} new items, then run: {_approving(files)}")
        return found


def review(
    present: str | None,
    wanted: str,
    files: Container[str],
    approved: Sequence[str],
    taken: Sequence[str],
    *,
    is_unseen: bool,
) -> Review:
    """Compare the present lock with the new one, which is for these files and documents.

    Items that were `taken` from edited files count as approved. In a project's first lock no item is new, because
    people review the whole file. If it `is_unseen`, every item is new. Dropping a file needs no approval.
    """
    if present is None and not is_unseen:
        return Review((), tuple(approved))
    known = set((present or "").splitlines())
    common = {item for line in known if _is_common(item := _parts(line)[1])}
    lines = [_parts(line) for line in wanted.splitlines() if line not in known and not line.startswith("#")]
    new = [(path, item) for path, item in lines if item not in common and not item.startswith(KIND)]
    changes = {(path, item): how for path, item, how in weaker(map(_parts, known), _lines(wanted), files)}
    new += [*_lost(known, wanted, files), *changes]
    items = {item for _, item in new}
    refused = tuple((path, item) for path, item in new if item not in approved and item not in taken)
    return Review(refused, tuple(item for item in approved if item not in items), changes)


def _lost(known: set[str], wanted: str, files: Container[str]) -> list[tuple[str, str]]:
    lost = map(_parts, known.difference(wanted.splitlines()))
    return [(path, f"no {item}") for path, item in lost if path in files and item.startswith(_GUARDS)]


def _is_common(item: str) -> bool:
    """Return whether an item of one file needs no approval in another, because it gives no new power."""
    return item.startswith(("action ", "runtime ")) or (item.startswith("permission ") and item.endswith(": read"))


def items_in(text: str) -> dict[str, list[str]]:
    """Return the items of each generated file in a lock."""
    found: dict[str, list[str]] = {}
    for path, item in _lines(text):
        if not item.startswith((KIND, f"{SERVED} ")):
            found.setdefault(path, []).append(item)
    return found


def _lines(text: str) -> Iterator[tuple[str, str]]:
    return (_parts(line) for line in text.splitlines() if line and not line.startswith("#"))


def _parts(line: str) -> tuple[str, str]:
    """Return the path and the item of a line. A malformed line gives two strings, too."""
    if line.startswith('"'):
        with suppress(ValueError):
            path, end = json.JSONDecoder().raw_decode(line)
            return str(path), line[end:].strip()
    path, _, item = line.partition(" ")
    return path, item


def _finding(item: str, paths: Sequence[str], change: str) -> Diagnostic:
    """Return the error for a new item; `change` shows how a rule is weaker."""
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    remedy = f"review it, then run: {_approving([item])}"
    if item.startswith(GONE):
        message = f"gone: {item.removeprefix('no ')} of {paths[0]}{more}"
        return Diagnostic("RD546", paths[0], None, message, f"{change}; {remedy}")
    return Diagnostic("RD546", paths[0], None, f"new and not approved: {item} in {paths[0]}{more}", remedy)


def _approving(items: Iterable[str]) -> str:
    return " ".join(("rdc build", *(f"--approve {shlex.quote(item)}" for item in items)))
