# --- The state of a run: what its journal says, the lock that keeps two runs apart, the archive.
ENDED = ("complete", "stop")
OURS, FORMAT = ".rdc", 1  # where states are, the format of journals

def utc_now():
    seconds, rest = divmod(time.time_ns(), 10**9)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest // 1000:06}Z"

def digest(value):
    import hashlib  # what is slow to import is imported late: `--help` does not need it

    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()

def identified(program, nodes):
    whole = {key: program.get(key, {}) for key in ("entry", "registers", "scopes")}
    hashes = {"program": digest({**whole, "nodes": nodes}), "nodes": {name: digest(nodes[name])[:12] for name in nodes}}
    return {"name": program["name"], "source": program["source"], **hashes}

def without_places(program):
    return {name: {key: node[key] for key in node if key != "at"} for name, node in program["nodes"].items()}

def differences(recorded, now):
    found = {"added": [], "removed": [], "changed": []}
    for name in {**now, **recorded}:
        if now.get(name) != recorded.get(name):
            found["added" if name not in recorded else "changed" if name in now else "removed"].append(name)
    lines = [f"{how}: {', '.join(names)}" for how, names in found.items() if names]
    return lines or ["no step differs, only where the program begins or what it counts"]

class State:
    def __init__(self, begin):
        self.begin, self.node, self.message = begin, begin["node"], begin.get("message", "")
        self.finished, self.notes = [], []  # what the step has left so far, such as the processes that it has called
        # The lines of files of answers that were used, each with the digest of its file.
        self.used = set()
        self.decided = []
        self.apply(begin)
    def apply(self, record):
        kind = record["kind"]
        if "answers" in record:
            self.used.add((record["answers"], record["line"]))
        if "condition" not in record:
            self.notes.append(record)
            return
        self.condition = record["condition"]
        if kind == "resume":
            self.decided.append({**record, "after": len(self.finished)})
        if kind in ("begin", "adopt"):  # it belongs to this program
            self.registers, self.program, self.nodes = dict(record["registers"]), record["program"], record["nodes"]
            self.name, self.source = record["name"], record["source"]
        elif kind == "resume":
            self.notes = [note for note in self.notes if note["kind"] != "process"]
        elif kind == "done":
            self.finished.append({key: value for key, value in record.items() if key != "changed"})  # texts may be long
            self.node, self.message, self.notes = record["next"], record.get("message", ""), []
            self.registers.update(record["changed"])
    def left_behind(self):
        return [note for note in self.notes if note["kind"] == "process" and is_alive(note)]

def replay(records, path, modes=('',)):
    if records[0].get("format") != FORMAT or records[0].get("mode", "") not in modes:
        raise RefusedError(f"{path}: the state has a format that this program does not know; reset archives it")
    try:
        state = State(records[0])
        for record in records[1:]:
            state.apply(record)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RefusedError(f"{path}: the journal is damaged: {error}") from None
    return state

def _numbers(about):
    return about.st_dev, about.st_ino

class Store:
    within = None  # the directory, once it is open
    def __init__(self, directory, modes=('',)):
        self.directory, self.path, self.modes = directory, os.path.join(directory, "journal"), modes
        self.folder = os.path.join(os.getcwd(), directory)  # wherever the run goes
        self.loss = f"{directory} was removed or replaced during the run"
        self._count, self._size, self._missing, self._files = 0, 0, b"", {}
    def read(self):
        refuse_links(self.directory)
        records, self._size, self._missing = read_journal(self.path)
        self._count = len(records)
        return replay(records, self.path, self.modes) if records else None
    def involves(self, name):
        path, own = os.path.join(str(name), ""), os.path.join(self.directory, "")
        return path.startswith(own) or own.startswith(path)
    def lock(self):
        is_new = not os.path.isdir(self.directory)
        self.within = opened_folder(self.directory)
        lock, path = self.within.open("lock", os.O_RDWR | os.O_CREAT), os.path.join(self.directory, "lock")
        self._files[os.path.join(self.folder, "lock")] = _numbers(os.fstat(lock))
        with naming(path):
            for patience in (0.05, 0.1, 0.0):  # a `status` looks at the lock for an instant
                with suppress(BlockingIOError):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.ftruncate(lock, 0)
                    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
                    break
                time.sleep(patience)
            else:
                holder = os.pread(lock, 20, 0).decode().strip() or "?"
                raise RefusedError(f"{self.directory}: a run is at work here (pid {holder})")
        if is_new or OURS in self.directory.split("/"):  # Git takes no state; a folder that was there stays as it is
            with suppress(OSError):
                file = self.within.open(".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
                os.write(file, b"*\n")
                os.close(file)
    def sync(self):
        with naming(self.directory):
            os.fsync(self.within.at)
    def is_busy(self):
        with suppress(OSError), open(os.path.join(self.directory, "lock"), opener=at_once) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return True
        return False
    def is_there(self):
        with suppress(OSError):
            return all(place == _numbers(os.lstat(path)) for path, place in self._files.items())
        return False
    def open(self):
        self.within = self.within or opened_folder(self.directory)
        self._file = self.within.open("journal", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._files[os.path.join(self.folder, "journal")] = _numbers(os.fstat(self._file))
        with naming(self.path):
            os.ftruncate(self._file, self._size)
        if self._missing:
            self._write(self._missing)
        self.sync()
    def append(self, record, sync=True):
        self._write(encode({"n": self._count, **record}), sync)
        self._count += 1  # only then is the place checked: a folder that was moved away has the record
        if sync and not self.is_there():
            raise RefusedError(self.loss)
    def _write(self, line, sync=True):
        try:
            written = os.write(self._file, line)
            if written < len(line):
                os.ftruncate(self._file, self._size)  # half a record before another one would be damage
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if sync:
                getattr(os, "fdatasync", os.fsync)(self._file)
        except OSError as error:
            raise RefusedError(f"{self.path}: cannot record: {error.strerror}") from None
        self._size += len(line)
    def archive(self, name, beside):
        history = self.within.enter("history").at
        taken = {entry.partition(".")[0] for entry in os.listdir(history)}
        while name in taken:
            name += "-2"
        for path, ending in beside.items():
            with suppress(FileNotFoundError):
                os.rename(path, f"{name}.{ending}", src_dir_fd=self.within.at, dst_dir_fd=history)
        target = os.path.join(self.directory, "history", name)
        with naming(self.path):
            os.rename("journal", name, src_dir_fd=self.within.at, dst_dir_fd=history)
        os.fsync(history)
        os.close(history)
        self.sync()
        self._count, self._size, self._missing = 0, 0, b""
        return target

