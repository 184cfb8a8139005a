"""The program of a run as data beside its journal: `rdc status` shows the run by it, without compiling the document.

The file is as untrusted as its directory. Nothing in it is executed, and it counts only if its hash is that in the
journal and the documents haven't changed. Commands that answer or continue a run compile the document and refuse a
run with another hash. If someone forges both, `rdc status` shows another question, but its answer is refused.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from io import StringIO
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from msgspec import Struct

from compiler.project.project import CONFIGURATIONS
from compiler.text.files import DISK, is_below
from compiler.text.source import sha256_of
from compiler.version import __version__
from rdc.runs.model import Run, with_facts
from runtime_shim.cli.command_line import execute
from runtime_shim.editions import kinds_of
from runtime_shim.engine.display import Display
from runtime_shim.engine.journal import to_json
from runtime_shim.engine.outcomes import Host
from runtime_shim.engine.private import Folder, at_once
from runtime_shim.engine.program import EXIT_COMPLETE, Table, UsageError
from runtime_shim.engine.session import Extension, Session, Subcommands
from runtime_shim.engine.state import OURS
from runtime_shim.engine.status import describe
from runtime_shim.io.whole_files import put
from runtime_shim.values.limits import expires_at

if TYPE_CHECKING:
    from compiler.driver import Compilation

NAME = "program.json"
LARGEST, MOST_SOURCES = 256 * 1024, 100  # in bytes and files: a forged file may cost more than compiling the document
SOON = 60  # seconds: the document shows a step that expires in this time


class Stored(Struct, frozen=True, forbid_unknown_fields=True):
    """The table of a program, the version of rdc, and the hashes of the files that were read, by path from the root."""

    version: str
    sources: dict[str, str]
    table: dict[str, Any]


def storing(made: Compilation, table: Table) -> type[Extension]:
    """Return an extension that stores the table of a document with each run that starts or continues."""
    root, read = made.project.root, made.sources.values()
    sources = {one.name: one.sha256 for one in read if os.path.basename(one.name) not in CONFIGURATIONS}
    folders = {os.path.dirname(name) for name in sources}
    near = (os.path.join(folder, name) for folder in folders for name in sources)  # a new file there would be included
    sources = _hashes(root, (*CONFIGURATIONS, *near)) | sources

    class StoredProgram(Extension):
        def event(self, event: str, _fields: Table) -> None:
            store = self.session.store
            if event == "run_started" and os.path.basename(os.path.dirname(store.folder)) == OURS:  # listed ones
                stored = {"version": __version__, "sources": sources, "table": table}
                with suppress(OSError, UsageError):  # without it, `rdc status` compiles the document
                    _store(store.within, to_json(stored).encode())

    return StoredProgram


def stored_run(run: Run, root: str) -> Run | None:
    """Return a run as its stored program shows it, or None if that doesn't count.

    `root` is the root of its document's project. No program is started.
    """
    try:
        table = _table_in(run.directory, root)
        host = Host(shlex.join(["rdc", "run", run.document]), home=home_of(root))
        facts = table and _status(run, table, host)
        return with_facts(run, facts) if facts else None
    except Exception:  # noqa: BLE001 (the file may hold anything; then the document decides)
        return None


def home_of(root: str) -> str:
    """Return a project's root as a path from this folder, or "" for this folder: state directories are below it."""
    home = os.path.relpath(root)
    return "" if home == os.curdir else home


def _hashes(root: str, names: Iterable[str]) -> dict[str, str]:
    """Return the hashes of files by their paths from the root; those of missing files are ""."""
    found = dict.fromkeys(names, "")
    for name in found:
        with suppress(OSError, ValueError):  # ValueError: a pipe, for example
            path = os.path.join(root, name)
            found[name] = sha256_of(DISK.read(path)) if is_below(DISK.resolve(path), root) else ""
    return found


def _store(folder: Folder, data: bytes) -> None:
    """Write the file in a state directory, unless it is there."""
    with suppress(FileNotFoundError), open(folder.open(NAME, os.O_RDONLY), "rb") as file:
        if file.read(LARGEST) == data:
            return
    put(folder, NAME, data)


def _table_in(directory: str, root: str) -> Table | None:
    """Return the table in a state directory, if it is that of the documents as they are now."""
    with open(os.path.join(directory, NAME), "rb", opener=at_once) as file:
        stored = msgspec.json.decode(file.read(LARGEST), type=Stored)
    is_due = stored.version == __version__ and len(stored.sources) <= MOST_SOURCES
    return stored.table if is_due and stored.sources == _hashes(root, stored.sources) else None


def _status(run: Run, table: Table, host: Host) -> Mapping[str, Any] | None:
    """Return what `rdc run FILE status --json` shows of a run, if its journal has the hash of the table."""
    found: list[Table] = []

    def show(session: Session) -> int:
        is_busy, state = session.store.is_busy(), session.store.read()  # in this order: it may end in between
        # A step that expires moves the run, and the transitions of a forged table may never end.
        is_due = state and session.is_same(state) and time.time() + SOON < expires_at(table, state)
        if is_due and run.source == table["source"] and os.path.samefile(session.store.directory, run.directory):
            session.each("read", state)
            found.append(describe(session, state, is_busy))
        return EXIT_COMPLETE

    class Shown(Extension):
        commands: ClassVar[Subcommands] = {"status": ("show the run", show)}

    execute(table, ["status", *run.place, "--json"], host, Display(StringIO()), kinds_of(table, (Shown,)))
    return found[0] if found else None
