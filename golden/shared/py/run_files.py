# --- The files of a run (B14): made anew from the journal whenever it has grown, each whole or not at all (B18).
RECORD_NAMES = ("events", "gates", "approvals", "tool_results", "artifacts", "evidence", "drrs", "timeline", "manifest")
RUNS = []  # the files of the run that this call is about

class RunFiles:  # The files of a run in their folder; those whose content is as it was are left alone.
    def __init__(self, session, records):
        begin, *others = records
        self.records = RunRecords(session.program, begin)
        for record in others:
            self.records.apply(record)
        given = session.options.run_dir or begin.get("run_dir")
        self.folder = os.path.join(begin["cwd"], given) if given else os.path.join(session.store.folder, begin["run"])
        self._is_own, self._store = not given, session.store  # it lies beside the journal
        self._again = session.call("resume")
        self._texts, self._run = RecordTexts(), begin["run"]
        self._written = {}
    def write(self):
        """Write what has changed, in the records or by somebody on disk: events first, the manifest last (B14)."""
        self.make_folder()
        for name, text in self._texts.of(self.records.files()).items():
            path = os.path.join(self.folder, f"{name}.json")
            if self._written.get(name) != (text, marks_of(path)):
                try:
                    self._write(f"{name}.json", text)
                except OSError as error:
                    reason = f"{error.strerror}; when it can be written: {self._again}"
                    raise OSError(error.errno, reason, path) from None
                self._written[name] = (text, marks_of(path))
    def make_folder(self):
        """Make the folder; what a command may have put in the place of that beside the journal is not followed."""
        if not self._is_own:
            os.makedirs(self.folder, exist_ok=True)
            return
        with naming(self.folder):
            if is_link(self._run, self._store.within.at):
                os.unlink(self._run, dir_fd=self._store.within.at)
            self._store.within.inner(f"{self._run}/")
    def _write(self, name, text):
        data, draft = text.encode("utf-8", "replace"), os.path.join(self.folder, f".{name}.new")
        if self._is_own:
            self._store.within.put(f"{self._run}/{name}", data, lasts=True)
            return
        with open_new(draft) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, os.path.join(self.folder, name))
        with naming(self.folder):
            folder = os.open(self.folder, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
    def place_of_other(self):
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
    def set_aside(self):  # Move the files of another run that lie here to `history`: nothing is ever written over.
        place = self.place_of_other()
        if place is None:
            return
        os.makedirs(place)
        for name in RECORD_NAMES:
            with suppress(FileNotFoundError):
                os.rename(os.path.join(self.folder, f"{name}.json"), os.path.join(place, f"{name}.json"))

def marks_of(path):  # Return by what a file is known to be the one that was written; () for none.
    with suppress(FileNotFoundError):
        about = os.lstat(path)
        return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
    return ()

def records_of(session):
    """Return the journal's records of the run that a call is about; those of a run that begins are not written yet."""
    records = read_journal(session.store.path)[0]
    begin = session.state.begin
    return records if records and records[0]["run"] == begin["run"] else [begin]

def find_run(session):  # Take up the files of a run; what a kill has left behind is written anew.
    RUNS[:] = [RunFiles(session, records_of(session))]
    if session.options.dry_run:
        return
    if session.options.command != "run":
        if session.options.run_dir not in (None, session.state.begin.get("run_dir")):
            RUNS[0].set_aside()
        if session.is_same(session.state):  # another version may yet be refused
            RUNS[0].write()
    elif "run_dir" in session.state.begin:  # what cannot be written to is refused before anything is recorded
        RUNS[0].make_folder()
        RUNS[0].place_of_other()

def begin_files(session, event, fields):  # Write the files of a run that begins.
    if event == "run_started" and not fields["resumed"]:
        RUNS[0].set_aside()
        write_or_rest(session, is_new=True)

def write_or_rest(session, is_new):
    """Write the files; where they cannot be written, a step that the run has just come to has not begun."""
    try:
        RUNS[0].write()
    except OSError:
        if is_new and session.state.condition == "running":
            rest = {"kind": "rest", "condition": "ready"}
            session.store.append(rest)
            session.state.apply(rest)
        raise

def follow_journal(session, record):  # Bring the files up to what the journal says now.
    if RUNS[0].records.apply(record):
        write_or_rest(session, is_new=record["kind"] == "done")

def timed(session, record):
    """Return a record with its time, which is never before that of the one before it; a run is called as B14 says."""
    if "kind" not in record:
        return record
    if record["kind"] == "begin":
        now = record["time"]
        run = f"run-{now[:19].translate(str.maketrans('', '', '-T:'))}-{record['run'].rpartition('-')[2]}"
        return {**record, "run": run, **({"run_dir": session.options.run_dir} if session.options.run_dir else {})}
    last = max(utc_now(), session.state.begin["time"], *(one.get("time", "") for one in session.state.finished[-1:]))
    return {**record, "time": max(last, record.get("time", ""))}

def with_folder(state):  # Have the files of a run archived with it, where they lie beside its journal.
    RUN_FILES[:] = [] if state is None or "run_dir" in state.begin else [state.begin["run"]]

KEPT.append("files")  # what an archived run has of them
READS.append(with_folder)
RECORDS.append(timed)
OPENS.append(find_run)
EVENTS.append(begin_files)
WRITTEN.append(follow_journal)
OPTIONS.append(
    ("run open resume step answer approve timeline outputs status", "--run-dir", "DIR", "the records of the run")
)

