# --- The state of a run: what its journal says, the lock that keeps two runs apart, the archive.
FORMATS = (1, 2)  # of the journal; one of format 1 has no texts, and is read like any other
ENDED = ("complete", "stop")
OURS = ".rdc"
KEPT = []  # folders beside the journal that are archived with it

def utc_now():  # Return the time as it is written in records.
    seconds, rest = divmod(time.time_ns(), 10**9)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest // 1000:06}Z"

class State:
    """Where a run stands, put together from its records.

    `condition` is "running" (its unit is being done, or was when the run died), "ready" (not yet
    begun), "waiting" (for an answer), "complete" or "stop".
    """

    def __init__(self, begin):
        self.begin = begin
        self.node, self.condition, self.message = begin["node"], begin["condition"], begin.get("message", "")
        self.registers = dict(begin["registers"])
        self.program, self.units = begin["program"], begin["units"]
        self.name, self.source = begin["name"], begin["source"]
        self.notes = []  # what the unit has left so far, such as the processes that it has called
        self.finished = []
        self.used = set()  # the lines of files of answers, each with the digest of its file

    def apply(self, record):  # Go on by one record.
        kind = record["kind"]
        if "answers" in record:
            self.used.add((record["answers"], record["line"]))
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
            self.program, self.units = record["program"], record["units"]
            self.registers = dict(record["registers"])
            self.name, self.source = record["name"], record["source"]

def replay(records, path):  # Put a state together; None where no run has begun.
    if not records:
        return None
    if records[0].get("format") not in FORMATS:
        raise RefusedError(f"{path}: the state has a format that this program does not know; reset archives it")
    try:
        state = State(records[0])
        for record in records[1:]:
            state.apply(record)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RefusedError(f"{path}: the journal is damaged: {error}") from None
    return state

class Store:
    """A state directory, by the name that the operator knows: nothing is opened here after a chdir."""

    def __init__(self, directory):
        self.directory, self.path = directory, os.path.join(directory, "journal")
        self._lock = None

    def involves(self, name):  # Tell whether a file is the directory, lies in it, or is a folder above it.
        path, own = os.path.join(name, ""), os.path.join(self.directory, "")
        return path.startswith(own) or own.startswith(path)

    def read(self):  # Read the state without changing anything.
        reading = read_journal(self.path)
        return replay(reading.records, self.path), reading

    def lock(self):  # Keep every other run away until `unlock`; refuses where one is at work.
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

    def _take(self, lock):
        for patience in (0.05, 0.1, 0.0):  # a `status` looks at the lock for an instant
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not patience:
                    holder = os.pread(lock, 20, 0).decode().strip() or "?"
                    self.unlock()
                    raise RefusedError(f"{self.directory}: a run is at work here (pid {holder})") from None
                time.sleep(patience)
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)

    def unlock(self):  # Let others in.
        if self._lock is not None:
            os.close(self._lock.descriptor)
            self._lock = None

    def is_busy(self):  # Tell whether a run is at work here now.
        descriptor = -1
        try:
            descriptor = os.open(os.path.join(self.directory, "lock"), os.O_RDONLY | os.O_NONBLOCK)
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return descriptor >= 0
        finally:
            if descriptor >= 0:
                os.close(descriptor)
        return False

    def journal(self, reading):  # Open the journal for appending; a torn end is repaired.
        return Journal(self.path, reading, self._lock)

    def archive(self, name):  # Archive the journal under a name of its own; nothing is ever deleted.
        history = os.path.join(self.directory, "history")
        os.makedirs(history, exist_ok=True)
        target, count = os.path.join(history, name), 1
        while any(os.path.exists(f"{target}{suffix}") for suffix in ("", *(f".{kept}" for kept in KEPT))):
            count += 1
            target = os.path.join(history, f"{name}-{count}")
        for kept in KEPT:
            with suppress(FileNotFoundError):
                os.rename(os.path.join(self.directory, kept), f"{target}.{kept}")
        os.rename(self.path, target)
        sync_directory(history)
        sync_directory(self.directory)
        return target

