"""The runs of a document on this machine: their list, their records as they come, their logs, and answers."""

import json
import os
import shlex
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import IO

from msgspec import Struct
from msgspec.structs import asdict, replace

from compiler.frontends import endings
from compiler.project.project import open_project, project_around
from compiler.text.source import without_ending
from rdc import api
from rdc.looking.drawing import Drawing
from rdc.looking.following import DAMAGES, AnyRun, Followed, Place, Seen, Status, since_of, words_of
from rdc.looking.model import Answered, Asked, Item, Question, Refused, Reply, RunEntry, State, checked
from rdc.looking.visits import first_of
from rdc.runs.control import LOOK
from rdc.runs.model import options_for
from rdc.runs.process import start_process
from rdc.runs.reports import archived_runs
from rdc.runs.status import make_run
from runtime_shim.engine.journal import Record, record_in
from runtime_shim.engine.private import at_once, refuse_links
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.state import OURS, Store
from runtime_shim.engine.state import State as RunState
from runtime_shim.engine.status import condition_of
from runtime_shim.operator.current import log_files, log_in

GLANCE = 1 << 16
"""How many bytes at the end of a journal show the place of its run."""

MOST_RUNS = 200
"""How many runs a list has."""

BUSY_EVERY = 1.0
"""How many seconds pass between two looks at a lock without a change: a look takes it for an instant."""


NONE, UNREAD = 0, -1  # instead of the inode of a journal


class Journal:
    """The records of a journal, each read once."""

    _problem: Exception | None

    def __init__(self, path: str) -> None:
        self._path, self._stamp = path, (-1, -1, -1)
        self._begin_with(NONE)

    def more(self) -> tuple[bool, list[Record]]:
        """Return whether this is another journal now, and the new records.

        Raises:
            UsageError, OSError or one of `DAMAGES`: It can't be read.
        """
        try:
            stamp = _stamp_of(self._path)
        except FileNotFoundError:
            is_gone = self._file != NONE
            self._begin_with(NONE)
            return is_gone, []
        if stamp != self._stamp:
            self._stamp, self._problem = stamp, None
            try:
                return self._read()
            except (UsageError, OSError, *DAMAGES) as error:
                self._begin_with(UNREAD)  # a repaired journal is read again
                self._problem = error
                if isinstance(error, OSError):  # it may pass without a change of the journal
                    self._stamp = (-1, -1, -1)
        if self._problem:
            raise self._problem
        return False, []

    def _begin_with(self, file: int) -> None:
        self._count, self._size, self._file, self._problem = 0, 0, file, None

    def _read(self) -> tuple[bool, list[Record]]:
        refuse_links(os.path.dirname(self._path))
        with _opened(self._path) as (file, found):
            is_new = found.st_ino != self._file or found.st_size < self._size
            if is_new:
                self._begin_with(found.st_ino)
            file.seek(self._size)
            *lines, _ = file.read().split(b"\n")  # the rest is a record that is still being written
        records = [record_in(line, number) for number, line in enumerate(lines, self._count)]
        self._count, self._size = self._count + len(records), self._size + sum(map(len, lines)) + len(lines)
        return is_new, records


@contextmanager
def _opened(path: str) -> Iterator[tuple[IO[bytes], os.stat_result]]:
    """Open a journal, and give the file and its status; raise `UsageError` if it is not a regular file."""
    with open(path, "rb", opener=at_once) as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise UsageError(f"{path}: the journal is not a regular file")
        yield file, about


def _stamp_of(path: str) -> tuple[int, int, int]:
    """Return values that differ whenever a journal changes."""
    about = os.lstat(path)
    return about.st_ino, about.st_size, about.st_mtime_ns


class _Place(Struct, frozen=True):
    """A journal: its run for `rdc.api`, its path ("" for a Makefile, which has none), and its entry in the list."""

    run: api.Run
    path: str
    entry: RunEntry


class LocalRun(Followed):
    """A run of a document on this machine, or the place where one may start."""

    def __init__(self, place: _Place, drawing: Drawing, changed: Callable[[], None]) -> None:
        super().__init__(place.entry, drawing, changed)
        self._run, self._journal, self._store = place.run, Journal(place.path), Store(place.run.directory)
        self._store.path, self._store.folder = place.path, os.path.abspath(os.path.dirname(place.path))
        self._is_busy, self._looked = False, 0.0
        self.look()

    def more(self) -> tuple[bool, list[Record]]:
        """Return whether this is another run now, and its new records."""
        refuse_links(self._run.directory)  # the folder of an archived journal is inside it
        return self._journal.more()

    def place(self, state: RunState, *, is_changed: bool) -> Place:
        """Return where the run is, by its records and its lock."""
        if self.entry.is_archived:
            return Place(condition_of(state, is_busy=False), None, is_quiet=True)
        if is_changed or monotonic() - self._looked >= BUSY_EVERY:
            self._is_busy, self._looked = self._store.is_busy(), monotonic()
        word = condition_of(state, self._is_busy)
        is_running = word == "running"
        holder = self._store.holder() if is_running else ""
        return Place(word, (word, self._is_busy, len(state.notes)), is_running, holder)

    def ask(self, state: RunState) -> Status:
        """Return the status that `rdc run FILE status` shows."""
        try:
            run = api.run_of(self._run)
        except api.Error as error:
            return Status(
                condition_of(state, self._is_busy),
                (shlex.join(["rdc", "check", self._run.document]),),
                message=str(error),
            )
        return Status(run.state, run.next, question_of(run, since_of(state)), run.holder)

    def has_logs(self) -> bool:
        """Return whether the run has logs."""
        return bool(log_files(self._store))

    def answer(self, reply: Reply, *, continues: bool) -> Answered | Refused:
        """Record an answer, unless another person was first. It may continue the run."""
        if reply.step[:1] in ("", "-") or self.entry.is_archived:  # it would be an option
            return Refused(f"step {reply.step!a} is not waiting for an answer")
        try:
            words = {"step": reply.step, "at": reply.at, "by": reply.by, "note": reply.note}
            run = api.answer(self._run, reply.reply, **words)
        except api.Error as error:
            return self.refused(reply, error.message, "" if error.help == LOOK else error.help)
        is_due = continues and run.state in api.UNFINISHED - {"waiting"} and not api.is_running(run)
        if is_due:
            start_process([run.document, "resume", *run.place, "--logs"], run.folder).leave()
        return Answered(is_due, run.next)

    def log(self, number: int) -> str:
        """Return the path of the log of a visit or of the current step; "" without one."""
        return log_in(log_files(self._store), number, self.step_of(number))


class MakeRun(AnyRun):
    """The run of a native Makefile. It has a state, but no journal, so no visits."""

    def __init__(self, place: _Place, drawing: Drawing) -> None:
        self._place, self._drawing, self._looked = place, drawing, 0.0
        self.seen = Seen(State(place.entry.key, place.entry.name, "", "none", 0), [])
        self.look()

    def look(self) -> bool:
        """Read the state, and return whether it has changed."""
        before, edition = self.seen.state, self._drawing.document.edition
        if edition == before.edition and monotonic() - self._looked < BUSY_EVERY:
            return False
        self._looked = monotonic()
        try:
            run = make_run(self._place.run.directory)
        except (OSError, *DAMAGES):  # it has just ended
            return False
        shown = State(before.key, before.name, before.name, run.state, edition, step=run.step, title=run.question)
        shown = replace(shown, message=run.message, holder=run.holder, next=run.next)
        self.seen = Seen(shown, [])
        return self.seen.state != before

    def answer(self, reply: Reply, *, continues: bool) -> Answered | Refused:  # noqa: ARG002 (as for other runs)
        """Refuse an answer: only make asks."""
        return Refused("only make takes answers for this run", "; ".join(self.seen.state.next))

    def log(self, number: int) -> str:  # noqa: ARG002 (as above)
        """Return "", since no step has a log."""
        return ""


def question_of(run: api.Run, since: str) -> Question | None:
    """Return the question that a run waits with."""
    current = run.current
    if current is None or current.by == "rdc" or run.state != "waiting":
        return None
    answers = tuple(command for command in run.next if " answer " in command or " approve " in command)
    return Question(
        step=current.step,
        at=run.at,
        title=current.title,
        text=current.text,
        kind=current.kind,
        since=since,
        replies=current.replies,
        asks=Asked(**asdict(current.asks)) if current.asks else None,
        entries=tuple(Item(**asdict(one)) for one in current.entries),
        form=current.form and current.kind != "gate",
        commands=answers,
    )


class LocalRuns:
    """The runs of a document: the current ones, those with a name, and the archived ones."""

    def __init__(self, drawing: Drawing, changed: Callable[[], None]) -> None:
        self._drawing, self._changed = drawing, changed
        self._file = file = drawing.document.file
        root = open_project(file).root
        self._source = os.path.relpath(os.path.realpath(file), root)
        folders = (root, os.path.realpath(os.curdir), os.path.dirname(os.path.realpath(file)))
        self._folders = tuple(dict.fromkeys(folders))
        self._glances: dict[str, tuple[object, RunState]] = {}

    def entries(self) -> tuple[RunEntry, ...]:
        """Return the runs: the current ones, then the archived ones, each from the newest."""
        found = sorted(self._places(), key=lambda one: one.entry.until, reverse=True)
        return tuple(sorted((one.entry for one in found), key=lambda entry: entry.is_archived)[:MOST_RUNS])

    def run(self, key: str) -> AnyRun:
        """Return the run with a key; raise KeyError without one."""
        found = next((one for one in self._places() if one.entry.key == key), None)
        if found is None:
            raise KeyError(key)
        if found.path == "":
            return MakeRun(found, self._drawing)
        return LocalRun(found, self._drawing, self._changed)

    def _places(self) -> Iterator[_Place]:
        """Yield the journals of the document. Where a run of it would start, there may be none."""
        version = self._drawing.version
        own = version.table["name"] if version else without_ending(self._source, endings()).replace("/", ".")
        for number, folder in enumerate(self._folders):
            names = names_in(os.path.join(folder, OURS))
            for name in sorted({*names, own} if number == 0 else names):
                yield from self._of_directory(os.path.join(folder, OURS, name), own, is_usual=number == 0)

    def _of_directory(self, directory: str, own: str, *, is_usual: bool) -> Iterator[_Place]:
        """Yield the current journal in a state directory, and the archived ones."""
        shown = os.path.relpath(directory)
        key = os.path.basename(directory) if is_usual else shown
        place = options_for(shown, own if is_usual else "")
        run = api.Run(key, os.curdir, directory, "none", document=self._file, place=place)
        path = os.path.join(directory, "journal")
        if os.path.basename(directory) == f"{own}.make" and os.path.lexists(os.path.join(directory, "log")):
            with suppress(OSError, *DAMAGES):
                make = make_run(directory)
                yield _Place(run, "", RunEntry(key, key, "", make.state, step=make.step, message=make.message))
        elif os.path.lexists(path) or key == own:
            yield from self._of_journal(run, path, RunEntry(key, key, "", "none"))
        for name in archived_runs(directory)[-MOST_RUNS:] if names_in(os.path.join(directory, "history")) else ():
            path = os.path.join(directory, "history", name)
            yield from self._of_journal(run, path, RunEntry(f"{key}:{name}", key, name, "none", is_archived=True))

    def _of_journal(self, run: api.Run, path: str, entry: RunEntry) -> Iterator[_Place]:
        """Yield a journal unless another document has it."""
        try:
            refuse_links(run.directory)
            stamp = _stamp_of(path)
            if path not in self._glances or self._glances[path][0] != stamp:
                self._glances[path] = stamp, glance(path)
            state = self._glances[path][1]
            is_busy = state.source == self._source and not entry.is_archived and Store(run.directory).is_busy()
            word, until, started = condition_of(state, is_busy), since_of(state), first_of(state).get("time", "")
            shown = replace(entry, id=first_of(state)["run"], state=word, started=started, until=until)
            shown = checked(replace(shown, step=state.node, message=state.message))
        except FileNotFoundError:
            yield _Place(run, path, entry)
            return
        except (UsageError, OSError, *DAMAGES) as error:
            if not run.place or run.place[0] == "--as":  # otherwise it may be the run of another document
                yield _Place(run, path, replace(entry, state="unreadable", message=words_of(error)))
            return
        if state.source == self._source:
            yield _Place(run, path, shown)


def glance(path: str) -> RunState:
    """Return the state of a journal's run by its first and last records only. Its older steps are missing.

    Raises:
        UsageError, OSError or one of `DAMAGES`: It can't be read.
    """
    with _opened(path) as (file, _):
        first, part, lines = file.readline(), GLANCE, list[bytes]()
        is_whole = False
        while not is_whole and len(lines) < 2:  # the last record may be longer
            start = max(len(first), os.fstat(file.fileno()).st_size - part)
            file.seek(start)
            is_whole, part, lines = start == len(first), 8 * part, file.read().split(b"\n")[:-1]
    state = RunState([record_in(first.removesuffix(b"\n"), 0)])
    state.node = state.node if is_whole else ""
    for line in lines if is_whole else lines[1:]:
        state.apply(record_in(line, json.loads(line[9:])["n"]))
    state.finished = state.finished[-1:]
    return state


def names_in(path: str) -> list[str]:
    """Return the names in a folder; none if it is missing, a link, or can't be read."""
    with suppress(OSError):
        return [] if os.path.islink(path) else os.listdir(path)
    return []


def documents_here() -> list[str]:
    """Return the documents with runs in the project of this folder, as paths from it."""
    root, found = project_around(os.path.realpath(os.curdir)).root, dict[str, None]()
    for folder in (root, os.path.realpath(os.curdir)):
        ours = os.path.join(folder, OURS)
        for name in sorted(names_in(ours)):
            with suppress(UsageError, OSError, *DAMAGES):
                path = os.path.join(root, glance(os.path.join(ours, name, "journal")).source)
                if os.path.isfile(path):
                    found[os.path.relpath(path)] = None
    return [*found]
