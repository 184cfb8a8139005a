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
        self._written = {}
        self._run = begin["run"]
    def write(self):  # Write what has changed: events first, the manifest last (B14).
        with naming(self.folder):
            os.makedirs(self.folder, exist_ok=True)
            for name, value in self.records.files().items():
                text = json.dumps(in_masked(value), indent=2, sort_keys=True) + "\n"
                if self._written.get(name) != text:
                    self._write(f"{name}.json", text)
                    self._written[name] = text
    def _write(self, name, text):
        draft = os.path.join(self.folder, f".{name}.new")
        with open_new(draft) as file:
            file.write(text.encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, os.path.join(self.folder, name))
        sync_directory(self.folder)
    def set_aside(self):  # Move the files of another run that lie here to `history`: nothing is ever written over.
        manifest = os.path.join(self.folder, "manifest.json")
        try:
            with open(manifest, opener=at_once) as file:
                other = json.load(file)["run_id"]
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError):
            raise RefusedError(f"{manifest} is no manifest of a run: name another folder with --run-dir") from None
        if other == self._run:
            return
        place = os.path.join(self.folder, "history", os.path.basename(str(other)) or "run")
        if os.path.exists(place):
            raise RefusedError(f"{place} is there already: name another folder with --run-dir")
        os.makedirs(place)
        for name in RECORD_NAMES:
            with suppress(FileNotFoundError):
                os.rename(os.path.join(self.folder, f"{name}.json"), os.path.join(place, f"{name}.json"))

def in_masked(value):  # Return a JSON value without what must not be kept.
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, list):
        return [in_masked(item) for item in value]
    return {key: in_masked(item) for key, item in value.items()} if isinstance(value, dict) else value

def records_of(session):
    """Return the journal's records of the run that a call is about; those of a run that begins are not written yet."""
    records = read_journal(session.store.path)[0]
    begin = session.state.begin
    return records if records and records[0]["run"] == begin["run"] else [begin]

def find_run(session):  # Take up the files of a run; what a kill has left behind is written anew.
    RUNS[:] = [RunFiles(session, records_of(session))]
    if session.options.command != "run" and not session.options.dry_run:
        RUNS[0].write()

def begin_files(_session, event, _fields):  # Write the files of a run that begins.
    if event == "run_started":
        RUNS[0].set_aside()
        RUNS[0].write()

def follow_journal(_session, record):  # Bring the files up to what the journal says now.
    if RUNS[0].records.apply(record):
        RUNS[0].write()

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

