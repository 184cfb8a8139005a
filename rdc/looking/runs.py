"""The runs of a document on this machine: their list, their records as they come, their logs, and answers."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Lock, Thread
from time import monotonic

from msgspec import Struct
from msgspec.structs import asdict, replace

from compiler.frontends import endings
from compiler.project.project import open_project, project_around
from compiler.text.source import without_ending
from rdc import api
from rdc.looking.drawing import Drawing
from rdc.looking.model import Answered, Asked, Item, Question, Refused, Reply, RunEntry, State, Visit
from rdc.looking.visits import Reading, is_same, place_of, table_for
from rdc.runs.process import start_process
from rdc.runs.reports import archived_runs
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

DAMAGES = (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError)


class Journal:
    """The records of a journal, each of which is read once."""

    def __init__(self, path: str) -> None:
        self._path, self._stamp = path, (-1, -1, -1)
        self._count = self._size = self._file = 0

    def more(self) -> tuple[bool, list[Record]]:
        """Return whether another journal is there now, and the new records.

        Raises:
            UsageError, OSError or one of `DAMAGES`: It can't be read.
        """
        try:
            about = os.lstat(self._path)
        except FileNotFoundError:
            is_gone, self._count, self._size, self._file = self._file > 0, 0, 0, 0
            return is_gone, []
        stamp = (about.st_ino, about.st_size, about.st_mtime_ns)
        if stamp == self._stamp:
            return False, []
        self._stamp = stamp
        refuse_links(os.path.dirname(self._path))
        with open(self._path, "rb", opener=at_once) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise UsageError(f"{self._path}: the journal is not a regular file")
            is_new = found.st_ino != self._file or found.st_size < self._size
            if is_new:
                self._count, self._size, self._file = 0, 0, found.st_ino
            file.seek(self._size)
            *lines, rest = file.read().split(b"\n")  # the rest is a record that is still being written
            end = file.tell() - len(rest)
        records = [record_in(line, number) for number, line in enumerate(lines, self._count)]
        self._count, self._size = self._count + len(records), end
        return is_new, records


class Seen(Struct, frozen=True):
    """A run as a page sees it. The first `state.total` visits never change, unless `epoch` does."""

    state: State
    visits: list[Visit]
    epoch: int = 0


class LocalRun:
    """A run of a document, or the place where one may start. `look` reads what is new."""

    def __init__(self, run: api.Run, entry: RunEntry, path: str, drawing: Drawing, changed: Callable[[], None]) -> None:
        self.run, self._entry, self._path, self._drawing, self._changed = run, entry, path, drawing, changed
        self._store = Store(run.directory)
        self._store.path = path
        self._lock = Lock()
        self._begin_again()
        self.seen = Seen(State(entry.key, entry.name, "", "none", 0), [])
        self.look()

    def _begin_again(self) -> None:
        self._journal, self._reading, self._problem = Journal(self._path), Reading(), ""
        self._is_busy, self._looked, self._edition = False, 0.0, -1
        self._status: tuple[object, api.Run | None] = None, None

    def look(self) -> bool:
        """Read what is new, and return whether anything is."""
        with self._lock:
            is_changed = self._read()
            now, edition = monotonic(), self._drawing.document.edition
            if (is_changed or now - self._looked >= BUSY_EVERY) and not self._entry.is_archived:
                was_busy, self._is_busy, self._looked = self._is_busy, self._store.is_busy(), now
                is_changed = is_changed or was_busy != self._is_busy
            if is_changed or edition != self._edition:
                self._edition = edition
                self._show()
                return True
            return False

    def _read(self) -> bool:
        """Read the new records."""
        try:
            is_new, records = self._journal.more()
            if is_new:
                self._reading, self._problem = Reading(), ""
            self._reading.add(records, self._drawing.version)
        except (UsageError, OSError, *DAMAGES) as error:
            before, self._problem = self._problem, f"{self._path}: {error.args[-1] if error.args else error}"
            return before != self._problem
        return is_new or bool(records)

    def _show(self) -> None:
        reading, entry, edition = self._reading, self._entry, self._drawing.document.edition
        state = reading.state
        if self._problem or state is None:
            word = "unreadable" if self._problem else "none"
            shown = State(entry.key, entry.name, "", word, edition, message=self._problem)
            self.seen = Seen(shown, [])
            return
        version, condition = self._drawing.version, condition_of(state, self._is_busy)
        title, attempt = place_of(state, table_for(state, version))
        shown = State(
            key=entry.key,
            name=entry.name,
            run=state.begin["run"],
            state=condition,
            edition=edition,
            is_same=version is not None and is_same(state, version),
            began=state.begin.get("time", ""),
            since=[state.begin, *state.finished[-1:]][-1].get("time", ""),
            step=state.node,
            title=title,
            attempt=attempt,
            total=len(reading.visits),
            message=state.message,
            has_logs=bool(log_files(self._store)),
        )
        if not entry.is_archived:
            shown = self._with_status(shown)
        self.seen = Seen(shown, reading.visits, reading.epoch)

    # --- What the program of the document tells: the question, and the next commands ---

    def _with_status(self, shown: State) -> State:
        """Return the state with its question and commands. A thread asks for them, and then the state changes."""
        key = (shown.run, shown.total, shown.state, self._is_busy, shown.edition, len(self._notes()))
        if shown.state == "running":
            holder = self._store.holder() if self._is_busy else ""
            return replace(shown, holder=holder)
        if self._status[0] != key:
            self._status = key, None
            Thread(target=self._ask, args=(key,), daemon=True).start()
        found = self._status[1]
        if found is None:
            return shown
        question = question_of(found, shown.since)
        return replace(shown, state=found.state, holder=found.holder, next=found.next, question=question)

    def _notes(self) -> list[Record]:
        return self._reading.state.notes if self._reading.state else []

    def _ask(self, key: object) -> None:
        try:
            found = api.run_of(self.run)
        except api.Error as error:
            found = replace(self.run, state=self.seen.state.state, next=(error.help,))
        with self._lock:
            if self._status[0] == key:
                self._status = key, found
                self._show()
        self._changed()

    # --- Answers and logs ---

    def answer(self, reply: Reply, *, continues: bool) -> Answered | Refused:
        """Record an answer, unless another person was first."""
        if reply.step[:1] in ("", "-"):  # it would be an option
            return Refused(f"unknown step {reply.step!a}")
        try:
            words = {"step": reply.step, "at": reply.at, "by": reply.by, "note": reply.note}
            run = api.answer(self.run, reply.reply, **words)
        except api.Error as error:
            self.look()
            place, _, _ = reply.at.partition(":")
            number = int(place) if place.isdecimal() else len(self.seen.visits)
            decided = next(iter(self.seen.visits[number : number + 1]), None)
            return Refused(error.message, error.help, decided)
        is_due = continues and run.state in api.UNFINISHED - {"waiting"} and not api.is_running(run)
        if is_due:
            start_process([run.document, "resume", *run.place, "--logs"], run.folder).leave()
        return Answered(is_due, run.next)

    def log(self, number: int) -> str:
        """Return the path of the log of a visit, or of the current step; "" without one."""
        visits, state = self.seen.visits, self.seen.state
        step = visits[number - 1].step if 0 < number <= len(visits) else state.step
        return log_in(log_files(self._store), number, step)


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


class _Place(Struct, frozen=True):
    """A journal: its run for `rdc.api`, its path, and what the list shows of it."""

    run: api.Run
    path: str
    entry: RunEntry


class LocalRuns:
    """The runs of a document: the current ones, those with a name, and the archived ones."""

    def __init__(self, file: str, drawing: Drawing, changed: Callable[[], None]) -> None:
        self._file, self._drawing, self._changed = file, drawing, changed
        root = open_project(file).root
        self._source = os.path.relpath(os.path.realpath(file), root)
        folders = (root, os.path.realpath(os.curdir), os.path.dirname(os.path.realpath(file)))
        self._folders = tuple(dict.fromkeys(folders))
        self._glances: dict[str, tuple[object, RunState]] = {}

    def entries(self) -> tuple[RunEntry, ...]:
        """Return the runs: the current ones, then the archived ones, each from the newest."""
        found = sorted(self._places(), key=lambda one: one.entry.until, reverse=True)
        listed = sorted((one.entry for one in found), key=lambda entry: entry.is_archived)
        return tuple(listed[:MOST_RUNS])

    def run(self, key: str) -> LocalRun:
        """Return the run with a key; raise KeyError without one."""
        found = next((one for one in self._places() if one.entry.key == key), None)
        if found is None:
            raise KeyError(key)
        return LocalRun(found.run, found.entry, found.path, self._drawing, self._changed)

    def _places(self) -> Iterator[_Place]:
        """Yield the journals of the document. Where a run of it would start, there may be none."""
        version = self._drawing.version
        own = version.table["name"] if version else without_ending(self._source, endings()).replace("/", ".")
        for number, folder in enumerate(self._folders):
            ours = os.path.join(folder, OURS)
            is_there = os.path.isdir(ours) and not os.path.islink(ours)
            names = os.listdir(ours) if is_there else []
            for name in sorted({*names, own} if number == 0 else names):
                yield from self._of_directory(os.path.join(ours, name), own, is_usual=number == 0)

    def _of_directory(self, directory: str, own: str, *, is_usual: bool) -> Iterator[_Place]:
        """Yield the current journal in a state directory, and the archived ones."""
        base, _, label = os.path.basename(directory).partition("@")
        shown = os.path.relpath(directory)
        key = os.path.basename(directory) if is_usual else shown
        chosen = ("--as", label) if label else ()
        place = chosen if is_usual and base == own else ("--state-dir", shown)
        run = api.Run(key, os.curdir, directory, "none", document=self._file, place=place)
        path = os.path.join(directory, "journal")
        if os.path.lexists(path) or key == own:
            yield from self._of_journal(run, path, RunEntry(key, key, "", "none"))
        for name in archived_runs(directory)[-MOST_RUNS:]:
            path = os.path.join(directory, "history", name)
            yield from self._of_journal(run, path, RunEntry(f"{key}:{name}", key, name, "none", is_archived=True))

    def _of_journal(self, run: api.Run, path: str, entry: RunEntry) -> Iterator[_Place]:
        """Yield a journal unless another document has it."""
        try:
            about = os.lstat(path)
            stamp = (about.st_ino, about.st_size, about.st_mtime_ns)
            if path not in self._glances or self._glances[path][0] != stamp:
                self._glances[path] = stamp, glance(path)
            state = self._glances[path][1]
        except FileNotFoundError:
            yield _Place(run, path, entry)
            return
        except (UsageError, OSError, *DAMAGES) as error:
            message = str(error.args[-1] if error.args else error)
            yield _Place(run, path, replace(entry, state="unreadable", message=message))
            return
        if state.source == self._source:
            is_busy = not entry.is_archived and Store(run.directory).is_busy()
            began, until = (one.get("time", "") for one in (state.begin, [state.begin, *state.finished][-1]))
            entry = replace(entry, id=state.begin["run"], state=condition_of(state, is_busy), began=began, until=until)
            yield _Place(run, path, replace(entry, step=state.node, message=state.message))


def glance(path: str) -> RunState:
    """Return the state of a journal's run by its first and last records only. Its older steps are missing.

    Raises:
        UsageError, OSError or one of `DAMAGES`: It can't be read.
    """
    with open(path, "rb", opener=at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UsageError(f"{path}: the journal is not a regular file")
        first = file.readline()
        file.seek(max(len(first), os.fstat(file.fileno()).st_size - GLANCE))
        is_whole = file.tell() == len(first)
        lines = file.read().split(b"\n")[:-1]
    state = RunState([record_in(first.removesuffix(b"\n"), 0)])
    state.node = state.node if is_whole else ""
    for line in lines if is_whole else lines[1:]:
        state.apply(record_in(line, json.loads(line[9:])["n"]))
    state.finished = state.finished[-1:]
    return state


def documents_here() -> list[str]:
    """Return the documents with runs in the project of this folder, as paths from it."""
    root = project_around(os.path.realpath(os.curdir)).root
    found = dict[str, None]()
    for folder in (root, os.path.realpath(os.curdir)):
        ours = os.path.join(folder, OURS)
        for name in sorted(os.listdir(ours)) if os.path.isdir(ours) and not os.path.islink(ours) else ():
            with suppress(UsageError, OSError, *DAMAGES):
                path = os.path.join(root, glance(os.path.join(ours, name, "journal")).source)
                if os.path.isfile(path):
                    found[os.path.relpath(path)] = None
    return [*found]
