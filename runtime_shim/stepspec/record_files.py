"""The record files of a run, written atomically from the journal after each change."""

import functools
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Callable, ClassVar

from runtime_shim.engine.journal import Record
from runtime_shim.engine.private import PRIVATE, Folder, at_once, is_link, naming
from runtime_shim.engine.program import EXIT_COMPLETE, Table, UsageError
from runtime_shim.engine.session import Extension, Session, Subcommands
from runtime_shim.engine.state import State, utc_now
from runtime_shim.io.whole_files import put
from runtime_shim.stepspec.records import RunRecords, timeline_lines
from runtime_shim.stepspec.safe_paths import UnsafeError, is_missing, read_inside, write_inside
from runtime_shim.values.secrets import in_strings


def records_of(session: Session, state: State) -> RunRecords:
    """Return the records of a run from its journal, or from the state of a new run."""
    begin, *others = session.store.records() or [state.begin]
    if begin["run"] != state.begin["run"]:
        begin, others = state.begin, []
    records = RunRecords(session.program, begin)
    for record in others:
        records.apply(record)
    return records


def writer_of(mask: Callable[[str], str]) -> Callable[[Any], str]:
    """Return a function that writes JSON, and reuses the text of unchanged items."""

    @functools.cache
    def item(written: str) -> str:
        return json.dumps(in_strings(mask, json.loads(written)), indent=2, sort_keys=True)

    def text(value: Any, is_whole: bool = True) -> str:  # any JSON value
        if not is_whole:
            return item(json.dumps(value, sort_keys=True))
        if isinstance(value, list):
            ends, parts = "[]", [text(one, False) for one in value]
        else:
            pairs = ((key, value[key]) for key in sorted(value))
            parts = [f"{json.dumps(key)}: {text(one, isinstance(one, list))}" for key, one in pairs]
            ends = "{}"
        inner = ",\n".join(parts).replace("\n", "\n  ")
        return f"{ends[0]}\n  {inner}\n{ends[1]}" if parts else ends

    return text


def marks_of(path: str) -> tuple[int, ...]:
    """Return a fingerprint of a file; () if it is missing."""
    with suppress(FileNotFoundError):
        about = os.lstat(path)
        return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
    return ()


def records_told(session: Session) -> Table:
    """Return the content of the run's record files."""
    state: Any = session.read()  # of a run that has started
    session.state = state
    return records_of(session, state).files()


def show_timeline(session: Session) -> int:
    """Print the timeline."""
    entries = in_strings(session.mask, records_told(session)["timeline"]["entries"])
    return session.display.say(timeline_lines(entries, bool(session.options.markdown)))


def copy_outputs(session: Session) -> int:
    """Copy the outputs of completed steps to a directory, or restore missing ones from it; refuse changed ones."""
    import hashlib

    to, back, troubles = session.options.to, getattr(session.options, "from"), []
    if bool(to) == bool(back):
        raise UsageError("outputs needs --to DIR or --from DIR")
    found, root, folder = records_told(session), session.state.begin["cwd"], os.path.abspath(to or back)
    source, target = (root, folder) if to else (folder, root)
    if to:
        os.makedirs(folder, exist_ok=True)
    for path, artifact in {one["path"]: one for one in found["artifacts"]}.items():  # the latest
        try:
            if to or is_missing(target, path):
                content = read_inside(source, path, math.inf)
                if hashlib.sha256(content).hexdigest() != artifact["sha256"]:
                    raise UnsafeError(f"{path} has changed since it was indexed")
                write_inside(target, path, content)
        except UnsafeError as error:
            troubles.append(f"output {error} ({source}, step {artifact['step_id']})")
    if troubles:
        raise UsageError(*troubles, f"could not copy {len(troubles)} of the outputs")
    return EXIT_COMPLETE


class RecordFiles(Extension):
    """Keeps the record files of a run up to date, and rewrites only those that change."""

    commands: ClassVar[Subcommands] = {
        "timeline": ("show what happened and when", show_timeline),
        "outputs": ("copy the outputs of completed steps", copy_outputs),
    }
    options = (
        ("run resume answer approve timeline outputs status", "--run-dir", "DIR", "the directory of the run's records"),
        ("timeline", "--markdown", "", "print a Markdown table"),
        ("outputs", "--to", "DIR", "the directory to copy to"),
        ("outputs", "--from", "DIR", "the directory to restore missing files from"),
    )
    _own = ""  # the directory beside the journal

    def read(self, state: State) -> None:
        """Note whether the files are beside the journal, to archive them with it."""
        self._own = "" if "run_dir" in state.begin else state.begin["run"]

    def beside(self) -> dict[str, str]:
        """Return the directory of the record files."""
        return {self._own: "files"} if self._own else {}

    def record(self, record: Record) -> Record:
        """Return a record with a time that never goes back, and with the run's id."""
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
        """Take up the record files of a run, and complete them after a kill."""
        session, options, begin = self.session, self.session.options, self.session.state.begin
        self._records, self._text = records_of(session, session.state), writer_of(session.mask)
        self._written: dict[str, tuple[str, tuple[int, ...]]] = {}  # text and fingerprint of each file
        given = options.run_dir or begin.get("run_dir")
        self._folder = os.path.join(begin["cwd"], given) if given else os.path.join(session.store.folder, begin["run"])
        if options.dry_run:
            return
        if options.command != "run":
            if options.run_dir not in (None, begin.get("run_dir")):
                self._set_aside()
            if session.is_same(session.state) and session.store.within:  # another version may be refused later
                self._write()
        elif given:  # check before recording anything
            with self._opened():
                self._place_of_other()

    def event(self, event: str, fields: Record) -> None:
        """Write the files of a new run."""
        if event == "run_started" and not fields["resumed"]:
            self._set_aside()
            self._write()

    def written(self, record: Record) -> None:
        """Update the files from a new record."""
        if self._records.apply(record) and self.session.store.within:  # else the files are on another machine
            self._write()

    def _write(self) -> None:
        """Write files that differ from the records: events first, the manifest last."""
        with self._opened() as folder:
            for name, value in self._records.files().items():
                path, text = self._path(name), self._text(value) + "\n"
                if self._written.get(name) == (text, marks_of(path)):
                    continue
                try:
                    put(folder, f"{name}.json", text.encode("utf-8", "replace"))
                except OSError as error:
                    reason = f"{error.strerror}; when it is writable again: {self.session.call('resume')}"
                    raise OSError(error.errno, reason, path) from None
                self._written[name] = (text, marks_of(path))

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, f"{name}.json")

    @contextmanager
    def _opened(self) -> Iterator[Folder]:
        """Open or create the directory; replace a link that a command may have put there."""
        within, run = self.session.store.within, self.session.state.begin["run"]
        is_own = self._folder == os.path.join(self.session.store.folder, run)
        with naming(self._folder):
            if is_own and is_link(run, within.at):
                os.unlink(run, dir_fd=within.at)
            if not is_own:
                os.makedirs(self._folder, exist_ok=True)
            folder = within.enter(run) if is_own else Folder(os.open(self._folder, os.O_RDONLY), self._folder)
        folder.mode = PRIVATE
        try:
            yield folder
        finally:
            os.close(folder.at)

    def _place_of_other(self) -> str:
        """Return the archive path for another run's files that are here, or "". Refuse other files."""
        manifest = self._path("manifest")
        try:
            with open(manifest, opener=at_once) as file:
                other = json.load(file)["run_id"]
        except FileNotFoundError:
            return ""
        except (OSError, ValueError, KeyError, TypeError):
            raise UsageError(f"{manifest} is not from a run; choose another directory with --run-dir") from None
        place = os.path.join(self._folder, "history", os.path.basename(str(other)) or "run")
        if other == self.session.state.begin["run"]:
            return ""
        if os.path.exists(place):
            raise UsageError(f"{place} already exists; choose another directory with --run-dir")
        return place

    def _set_aside(self) -> None:
        """Move another run's files that are here to `history`."""
        if place := self._place_of_other():
            os.makedirs(place)
            for name in self._records.files():
                with suppress(FileNotFoundError):
                    os.rename(self._path(name), os.path.join(place, f"{name}.json"))
