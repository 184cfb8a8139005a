# --- Logs: what commands print is kept in files, besides being shown (E8).
LOGS, LOG_LIMIT = "logs", 1 << 20  # the folder; bytes
SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
LONGEST_LINE, LONGEST_SECRET = 1 << 20, 1 << 17  # bytes: an environment variable has 128 KiB at most
SHOWN_LINES, SHOWN_BYTES = 10, 8192  # of a log, in the status

def limit_of(given):  # Return how many bytes of an output are kept.
    size = re.fullmatch(
        r"([1-9][0-9]{0,9})([kmg]?)", (given or str(LOG_LIMIT)).lower().removesuffix("ib").removesuffix("b")
    )
    if not size:
        raise RefusedError(f"--log-limit {given!a}: take a number of bytes, such as 65536, 512k or 1M")
    return int(size[1]) * SIZES[size[2]]

def log_name(folder, unit):  # Return the name of the next log; no character of a unit's name means anything in a path.
    import urllib.parse
    taken = [int(found[0]) for found in map(re.compile("[0-9]+").match, os.listdir(folder)) if found]
    return f"{max(taken, default=0) + 1:03}-{urllib.parse.quote(unit, safe='{} ')[:150]}.log"

class Log:  # A file that keeps the end of what is written to it.
    def __init__(self, path, limit):
        self._path, self._limit, self._kept, self._rest = path, limit, bytearray(), b""
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
    def take(self, data, is_last=False):  # Write what is whole: a secret may be cut in two where a line is not.
        if MASKS:
            data = self._rest + data
            end = len(data) if is_last else data.rfind(b"\n") + 1
            if len(data) - end > LONGEST_LINE:
                end = len(data) - LONGEST_SECRET
            data, self._rest = data[:end], data[end:]
            data = masked(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        with suppress(OSError):  # a full disk is no reason to end a command
            self._write(data, is_last)
    def _write(self, data, is_last):
        self._kept += data
        os.write(self._file, data)
        if len(self._kept) > (1 if is_last else 2) * self._limit:
            del self._kept[: len(self._kept) - self._limit]
            with open(f"{self._path}.new", "wb") as file:
                file.write(self._kept)
            os.replace(f"{self._path}.new", self._path)
            os.close(self._file)
            self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND)
    def close(self):  # Write no more.
        os.close(self._file)

class Copying(threading.Thread):  # Shows what comes from a pipe, and logs it, until its other end is closed everywhere.
    def __init__(self, source, log):
        super().__init__(daemon=True)
        self._source, self._log = source, log
        self.is_over, self.is_drained = threading.Event(), threading.Event()
    def run(self):  # Copy; once the command has ended, say when nothing more is there.
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        while True:
            is_over = self.is_over.is_set()
            if not poll.poll(0 if is_over and not self.is_drained.is_set() else 100):
                if is_over and not self.is_drained.is_set():
                    self._log.take(b"", is_last=True)
                    self.is_drained.set()
                continue
            data = os.read(self._source, 65536)
            self._log.take(data, is_last=not data)
            if not data:
                break
            self._show(data)
        self.is_drained.set()
        self._log.close()
        os.close(self._source)
    @staticmethod
    def _show(data):
        with suppress(OSError):
            while data:
                data = data[os.write(1, data) :]

class LoggedProcesses(Processes):
    """Begins commands whose output is logged: both streams go through one pipe, and so keep their order."""

    _copying = None
    def __init__(self, session, began):
        super().__init__(session.signals, session.is_interactive, began)
        self._session, self._limit, self.name = session, limit_of(session.options.log_limit), ""
    def spawn(self, path, words, environment, files=()):  # Begin a command with a log of its own.
        folder = os.path.join(self._session.store.folder, LOGS)
        os.makedirs(folder, exist_ok=True)
        self.name = log_name(folder, self._session.state.node)
        log = Log(os.path.join(folder, self.name), self._limit)
        source, sink = os.pipe()
        try:
            both = [*files, (os.POSIX_SPAWN_DUP2, sink, 1), (os.POSIX_SPAWN_DUP2, sink, 2)]
            group = super().spawn(path, words, environment, both)
        except OSError:
            os.close(source)
            raise
        finally:
            os.close(sink)
        self._copying = Copying(source, log)
        self._copying.start()
        return group
    def watch(self, groups, seconds=0, ended=lambda _index: None):
        """Wait until the command has ended, and until what it said is shown."""
        try:
            return super().watch(groups, seconds, ended)
        finally:
            if self._copying is not None:
                self._copying.is_over.set()
                while not self._copying.is_drained.wait(0.2) and not self._session.display.gives_up():
                    pass

def log_commands(session):  # Have commands logged, if the operator wants that.
    if getattr(session.options, "logs", False):
        for performer in session.performers.values():
            if isinstance(performer, Commands) and not isinstance(performer.processes, LoggedProcesses):
                performer.processes = LoggedProcesses(session, performer._began)  # the same note of a process

def note_log(session, record):  # Note the log of a command with its outcome.
    if record.get("kind") != "done":
        return record
    processes = getattr(session.performers.get(record["unit"]), "processes", None)
    if not isinstance(processes, LoggedProcesses) or not processes.name:
        return record
    name, processes.name = processes.name, ""
    return {**record, "log": name}

def last_lines(session, facts, record):
    """Return the last lines of what the unit that ended last has said, if it failed."""
    is_last = record is not None and record is facts["finished"][-1]
    if record is None or not is_last or record["outcome"] != "fail" or "log" not in record:
        return []
    path = os.path.join(session.store.directory, LOGS, os.path.basename(record["log"]))
    try:
        with open(path, "rb") as file:
            file.seek(max(os.path.getsize(path) - SHOWN_BYTES, 0))
            lines = clean(file.read(SHOWN_BYTES).decode(errors="replace")).splitlines()
    except OSError:
        return []
    return [f"        {path}:", *(f"        | {line}"[:200].rstrip() for line in lines[-SHOWN_LINES:])]

def check_limit(_program, options):  # Refuse a limit that is none before anything begins.
    limit_of(getattr(options, "log_limit", None))

OPENS.append(log_commands)
RECORDS.append(note_log)
TAILS.append(last_lines)
CHECKS.append(check_limit)
OPTIONS += [
    ("run resume", "--logs", "", "keep what each command prints, besides showing it"),
    ("run resume", "--log-limit", "SIZE", "how much of it is kept, the end (default: 1M)"),
]

