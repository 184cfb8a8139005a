"""The document of a page: compiled after each change, and drawn when someone looks at it."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from threading import Event, Lock, Thread
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from backends.dot import DotBackend
from backends.picture.model import Picture
from compiler.driver import Compilation, compile_file
from compiler.ir.program import Program
from compiler.text.files import DISK
from compiler.text.source import sha256_of
from rdc.draw.graphviz import finished_svg, render
from rdc.looking.model import MOST_BOXES, Arrow, Box, Document, Found, Step
from rdc.runs.tables import table_of
from runtime_shim.engine.program import Table
from runtime_shim.engine.state import identified, without_places

KINDS = {"value": "ask", "confirm": "ask", "input": "ask", "select": "ask"}
PARTS = ("prompt", "block", "reason", "message")
START = "edge1"
"""The id that Graphviz gives to the first arrow of a graph: the one from the start."""

QUIET = 0.05
"""For how many seconds a file has to be unchanged. Editors write an empty file first."""

Stamp = tuple[tuple[int, ...] | None, ...]


class Version(Struct, frozen=True):
    """A version of a document without errors: its table, its identity for runs, and its picture as a graph.

    The table also has the name of the project, which workers need. `between` are boxes that only the picture has, such
    as one for the attempts at a step, by the steps before and after them.
    """

    table: Table
    identity: Table
    graph: str
    between: Mapping[tuple[str, str], str]


class Drawing:
    """A document, which a thread compiles again after each change. `changed` is called then.

    `document` is the newest edition. `version` is the newest one without errors, or None.
    """

    def __init__(self, file: str, about: Document, changed: Callable[[], None]) -> None:
        self.document, self._file, self._changed = replace(about, file=file), file, changed
        self.version: Version | None = None
        self._paths: tuple[str, ...] = (file,)
        self._hashes = list[str]()
        self._stamp: Stamp = ()
        self._seen = self._at = 0.0
        self._is_closed = False
        self._is_due, self._drawn, self._lock, self._brush = Event(), (0, b""), Lock(), Lock()
        self._compile()
        Thread(target=self._work, daemon=True).start()

    def look(self) -> None:
        """Compile the document in its thread if its files have changed and are quiet. This is fast."""
        stamp, now = tuple(map(_stamp_of, self._paths)), monotonic()
        if stamp != self._stamp:
            self._stamp, self._at = stamp, now
        elif self._at > self._seen and now - self._at >= QUIET:
            self._seen = now
            self._is_due.set()

    def renew(self) -> None:
        """Compile the document now if its files have changed. Without an open page, no one looks at them."""
        if tuple(map(_stamp_of, self._paths)) != self._stamp:
            self._compile_changes()

    def close(self) -> None:
        """End the thread."""
        self._is_closed = True
        self._is_due.set()

    def picture(self) -> bytes:
        """Return the SVG of the newest version without errors; raises `DrawingError`, or LookupError without one."""
        with self._brush:
            version, edition = self.version, self.document.drawn
            if version is None:
                raise LookupError("no version of the document compiles")
            if self._drawn[0] != edition:
                self._drawn = edition, finished_svg(render(version.graph, "svg"), (), "")
            return self._drawn[1]

    def _work(self) -> None:
        while self._is_due.wait() and not self._is_closed:
            self._is_due.clear()
            self._compile_changes()

    def _compile_changes(self) -> None:
        with self._lock:
            is_changed = [*map(_hash_of, self._paths)] != self._hashes
            if is_changed:
                self._compile()
        if is_changed:
            self._changed()

    def _compile(self) -> None:
        """Compile the document. After an error, the last version stays."""
        before = self.document
        self._stamp = tuple(map(_stamp_of, self._paths))
        made = compile_file(self._file)
        self._paths = tuple(dict.fromkeys((self._file, *made.sources)))
        read = made.sources  # a file may have changed since
        self._hashes = [read[path].sha256 if path in read else "" for path in self._paths]
        about = replace(before, edition=before.edition + 1, diagnostics=tuple(_found(made)))
        if made.program is not None:
            table = {**table_of(made.program), "project": made.program.project}
            drawn, lines = DotBackend.numbered(made.program)
            identity, between = identified(table, without_places(table)), _between(table, drawn)
            self.version = Version(table, identity, "\n".join(lines), between)
            boxes = tuple(_boxes(made.program, drawn))
            about = replace(
                about,
                title=made.program.title or made.program.name,
                drawn=about.edition,
                steps=tuple(_steps(table)),
                boxes=boxes,
                arrows=tuple(_arrows(drawn)),
                is_large=sum(not box.source for box in boxes) > MOST_BOXES,
            )
        self.document = about


def _stamp_of(path: str) -> tuple[int, ...] | None:
    try:
        about = os.stat(path)
    except OSError:
        return None
    return about.st_size, about.st_ino, about.st_mtime_ns, about.st_ctime_ns  # the last: it may become readable


def _hash_of(path: str) -> str:
    try:
        return sha256_of(DISK.read(path))
    except (OSError, ValueError):  # ValueError: a pipe, for example
        return ""


def _found(made: Compilation) -> Iterator[Found]:
    for one in made.diagnostics:
        line = one.span.line if one.span else 0
        yield Found(one.code, one.severity.value, one.path, line, one.message, one.help)


def _steps(table: Table) -> Iterator[Step]:
    for name, node in table["nodes"].items():
        kind = KINDS.get(node["task"], node["task"])
        text = "\n\n".join(filter(None, (node.get(key, "").strip("\n") for key in PARTS)))
        at, command, result = (str(node.get(key, "")) for key in ("at", "command", "result"))
        yield Step(name, node.get("title", ""), kind, at, text, command, result)


def _boxes(program: Program, drawn: Picture) -> Iterator[Box]:
    """Yield the boxes with their ids. A copy of an end is named `STEP → END`."""
    ids, sources = {node.id for node in program.nodes}, {arrow.target: arrow.source for arrow in drawn.arrows}
    for number, box in enumerate(drawn.boxes):
        name, source = box.node.id, sources.get(box.node.id, "")
        if name in ids:
            yield Box(f"box{number}", name)
        else:
            end = name.removeprefix(f"{source} → ")
            yield Box(f"box{number}", end.rstrip("'"), source)


def _between(table: Table, drawn: Picture) -> dict[tuple[str, str], str]:
    """Return the boxes without a step in the table, by the boxes before and after them."""
    pairs = {(arrow.source, arrow.target) for arrow in drawn.arrows}
    arriving = [pair for pair in pairs if pair[1] not in table["nodes"] and " → " not in pair[1]]
    leaving = defaultdict[str, list[str]](list)
    for before, after in pairs:
        leaving[before].append(after)
    found = {(one, after): box for one, box in arriving for after in leaving[box]}
    return {pair: box for pair, box in found.items() if pair not in pairs}


def _arrows(drawn: Picture) -> Iterator[Arrow]:
    yield Arrow(START, "", drawn.entry)
    for number, arrow in enumerate(drawn.arrows):
        yield Arrow(f"arrow{number}", arrow.source, arrow.target, arrow.words)
