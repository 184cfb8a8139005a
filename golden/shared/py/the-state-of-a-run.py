# --- The state of a run: what its journal says, the lock that keeps two runs apart, the archive.
FORMATS = (1, 2)  # of the journal; one of format 1 has no texts, and is read like any other
ENDED = ("complete", "stop")
OURS = ".rdc"

def utc_now():  # Return the time as it is written in records.
    seconds, rest = divmod(time.time_ns(), 10**9)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest // 1000:06}Z"

class State:  # Where a run stands: its condition is running, ready (its unit has not begun), waiting, complete or stop.
    def __init__(self, begin):
        self.begin, self.node, self.message = begin, begin["node"], begin.get("message", "")
        self.notes = []  # what the unit has left so far, such as the processes that it has called
        self.finished = []
        # The lines of files of answers that were used, each with the digest of its file.
        self._become(begin)

    def _become(self, record):  # Belong to a program.
        self.condition, self.registers = record["condition"], dict(record["registers"])
        self.program, self.units = record["program"], record["units"]
        self.name, self.source = record["name"], record["source"]

    def apply(self, record):  # Go on by one record.
        kind = record["kind"]
        if "condition" not in record:
            self.notes.append(record)
            return
        self.condition = record["condition"]
        if kind == "resume":
            self.notes = [note for note in self.notes if note["kind"] != "process"]
        elif kind == "done":
            self.finished.append({key: value for key, value in record.items() if key != "changed"})  # texts may be long
            self.node, self.message, self.notes = record["next"], record.get("message", ""), []
            self.registers.update(record["changed"])
        elif kind == "adopt":
            self._become(record)

def replay(records, path):  # Put a state together; None where no run has begun.
    if records and records[0].get("format") not in FORMATS:
        raise RefusedError(f"{path}: the state has a format that this program does not know; reset archives it")
    try:
        state = State(records[0]) if records else None
        for record in records[1:]:
            state.apply(record)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RefusedError(f"{path}: the journal is damaged: {error}") from None
    return state  # type: ignore[no-any-return]

class Store:  # A state directory, by the name that the operator knows: nothing is opened here after a chdir.
    def __init__(self, directory):
        self.directory, self.path = directory, os.path.join(directory, "journal")
        self._lock = None

    def involves(self, name):  # Tell whether a file is the directory, lies in it, or is a folder above it.
        path, own = os.path.join(name, ""), os.path.join(self.directory, "")
        return path.startswith(own) or own.startswith(path)

    def read(self):  # Read the state without changing anything.
        reading = read_journal(self.path)
        return replay(reading.records, self.path), reading

    @contextmanager
    def locked(self):  # Keep every other run away; refuses where one is at work.
        made, path = [], self.directory
        while path and not os.path.exists(path):
            made.append(path)
            path = os.path.dirname(path)
        os.makedirs(self.directory, exist_ok=True)
        for path in made:
            sync_directory(os.path.dirname(path) or ".")
        path = os.path.join(self.directory, "lock")
        self._lock = Held(path, os.O_RDWR)
        with naming(path):
            self._take(self._lock.descriptor)
        # Git takes no state; a folder that was there and is not ours by name stays as it is.
        above = os.path.dirname(self.directory)
        folder = above if os.path.basename(above) == OURS else self.directory
        if os.path.basename(folder) == OURS or folder in made:
            with suppress(OSError), open(os.path.join(folder, ".gitignore"), "x") as file:
                file.write("*\n")
        try:
            yield
        finally:
            os.close(self._lock.descriptor)

    def _take(self, lock):
        for patience in (0.05, 0.1, 0.0):  # a `status` looks at the lock for an instant
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.ftruncate(lock, 0)
                os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
                return
            time.sleep(patience)
        holder = os.pread(lock, 20, 0).decode().strip() or "?"
        os.close(lock)
        raise RefusedError(f"{self.directory}: a run is at work here (pid {holder})")

    def is_busy(self):  # Tell whether a run is at work here now.
        with suppress(OSError), open(os.path.join(self.directory, "lock"), opener=at_once) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return True
        return False

    def journal(self, reading):  # Open the journal for appending; a torn end is repaired.
        return Journal(self.path, reading, self._lock)

    def archive(self, name):  # Archive the journal under a name of its own; nothing is ever deleted.
        history = os.path.join(self.directory, "history")
        os.makedirs(history, exist_ok=True)
        taken = {entry.partition(".")[0] for entry in os.listdir(history)}
        further = (f"{name}-{number}" for number in range(2, len(taken) + 3))
        target = os.path.join(history, next(free for free in (name, *further) if free not in taken))
        os.rename(self.path, target)
        sync_directory(history)
        sync_directory(self.directory)
        return target

