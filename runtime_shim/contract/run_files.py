"""The files of a run (B14): made anew from the journal whenever it has grown, each whole or not at all (B18)."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Optional

from runtime_shim.contract.run_records import RunRecords
from runtime_shim.contract.timeline import RecordTexts
from runtime_shim.data.whole_files import put
from runtime_shim.engine.journal import Record, read_journal
from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.private import PRIVATE, Folder, at_once, is_link, naming
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import State, utc_now

RECORD_NAMES = ("events", "gates", "approvals", "tool_results", "artifacts", "evidence", "drrs", "timeline", "manifest")
Marks = tuple[int, ...]


class RunFiles:
    """The files of a run in their folder; those whose content is as it was are left alone."""

    def __init__(self, session: Session, records: list[Record]) -> None:
        begin, *others = records
        self.records = RunRecords(session.program, begin)
        for record in others:
            self.records.apply(record)
        given = session.options.run_dir or begin.get("run_dir")
        self.folder = os.path.join(begin["cwd"], given) if given else os.path.join(session.store.folder, begin["run"])
        self._is_own, self._store = not given, session.store  # it lies beside the journal
        self._again = session.call("resume")
        self._texts, self._run = RecordTexts(session.mask), begin["run"]
        self._written: dict[str, tuple[str, Marks]] = {}

    def write(self) -> None:
        """Write what has changed, in the records or by somebody on disk: events first, the manifest last (B14)."""
        with self.opened() as folder:
            for name, text in self._texts.of(self.records.files()).items():
                path = os.path.join(self.folder, f"{name}.json")
                if self._written.get(name) == (text, marks_of(path)):
                    continue
                try:
                    put(folder, f"{name}.json", text.encode("utf-8", "replace"))
                except OSError as error:
                    reason = f"{error.strerror}; when it can be written: {self._again}"
                    raise OSError(error.errno, reason, path) from None
                self._written[name] = (text, marks_of(path))

    @contextmanager
    def opened(self) -> Iterator[Folder]:
        """Open the folder and make it; what a command may have put in the place of that in the state is replaced."""
        within = self._store.within
        with naming(self.folder):
            if self._is_own and is_link(self._run, within.at):
                os.unlink(self._run, dir_fd=within.at)
            if not self._is_own:
                os.makedirs(self.folder, exist_ok=True)
            folder = within.enter(self._run) if self._is_own else Folder(os.open(self.folder, os.O_RDONLY), self.folder)
        folder.mode = PRIVATE
        try:
            yield folder
        finally:
            os.close(folder.at)

    def place_of_other(self) -> Optional[str]:
        """Return where the files of another run that lie here belong; None for none. Refuses what is in the way."""
        manifest = os.path.join(self.folder, "manifest.json")
        try:
            with open(manifest, opener=at_once) as file:
                other = json.load(file)["run_id"]
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            raise RefusedError(f"{manifest} is no manifest of a run: name another folder with --run-dir") from None
        if other == self._run:
            return None
        place = os.path.join(self.folder, "history", os.path.basename(str(other)) or "run")
        if os.path.exists(place):
            raise RefusedError(f"{place} is there already: name another folder with --run-dir")
        return place

    def set_aside(self) -> None:
        """Move the files of another run that lie here to `history`: nothing is ever written over."""
        place = self.place_of_other()
        if place is None:
            return
        os.makedirs(place)
        for name in RECORD_NAMES:
            with suppress(FileNotFoundError):
                os.rename(os.path.join(self.folder, f"{name}.json"), os.path.join(place, f"{name}.json"))


def marks_of(path: str) -> Marks:
    """Return by what a file is known to be the one that was written; () for none."""
    with suppress(FileNotFoundError):
        about = os.lstat(path)
        return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
    return ()


def records_of(session: Session) -> list[Record]:
    """Return the journal's records of the run that a call is about; those of a run that begins are not written yet."""
    records = read_journal(session.store.path)[0]
    begin = session.state.begin
    return records if records and records[0]["run"] == begin["run"] else [begin]


class Files(Extension):
    """Keeps the files of the run that a call is about."""

    options = (("run resume answer approve timeline outputs status", "--run-dir", "DIR", "the records of the run"),)
    _run: RunFiles
    _own = ""  # the folder beside the journal, by the state that was read last

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program has a contract."""
        return "contract" in program

    def read(self, state: State) -> None:
        """Have the files of a run archived with it, where they lie beside its journal."""
        self._own = "" if "run_dir" in state.begin else state.begin["run"]

    def beside(self) -> dict[str, str]:
        """Return their folder."""
        return {self._own: "files"} if self._own else {}

    def record(self, record: Record) -> Record:
        """Return a record with its time, which is never before that of the last one; B14 says what a run is called."""
        if "kind" not in record:
            return record
        given = self.session.options.run_dir
        if record["kind"] == "begin":
            now = record["time"]
            run = f"run-{now[:19].translate(str.maketrans('', '', '-T:'))}-{record['run'].rpartition('-')[2]}"
            return {**record, "run": run, **({"run_dir": given} if given else {})}
        state = self.session.state
        last = max(utc_now(), state.begin["time"], *(one.get("time", "") for one in state.finished[-1:]))
        return {**record, "time": max(last, record.get("time", ""))}

    def open(self) -> None:
        """Take up the files of a run; what a kill has left behind is written anew."""
        session = self.session
        self._run = RunFiles(session, records_of(session))
        if session.options.dry_run:
            return
        if session.options.command != "run":
            if session.options.run_dir not in (None, session.state.begin.get("run_dir")):
                self._run.set_aside()
            if session.is_same(session.state):  # another version may yet be refused
                self._run.write()
        elif "run_dir" in session.state.begin:  # what cannot be written to is refused before anything is recorded
            with self._run.opened():
                self._run.place_of_other()

    def event(self, event: str, fields: Record) -> None:
        """Write the files of a run that begins."""
        if event == "run_started" and not fields["resumed"]:
            self._run.set_aside()
            self._run.write()

    def written(self, record: Record) -> None:
        """Bring the files up to what the journal says now."""
        if self._run.records.apply(record):
            self._run.write()
