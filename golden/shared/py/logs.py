# --- Logs: what commands print is kept in files, besides being shown.
LOGS, LOG_LIMIT = "logs", "1m"  # the folder; how much is kept of an output
SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}  # bytes
PIPE = 1 << 20  # bytes: no pipe holds more
LONGEST_LINE, LONGEST_SECRET = 1 << 20, 1 << 17  # bytes: an environment variable has 128 KiB at most
SHOWN_LINES, SHOWN_BYTES = 10, 8192  # of a log, in the status
def limit_of(given):
    size = re.fullmatch(r"([1-9][0-9]{0,9})([kmg]?)(i?b)?", given.lower())
    if not size:
        raise RefusedError(f"--log-limit {given!a}: give a number of bytes, such as 65536, 512k or 1M")
    return int(size[1]) * SIZES[size[2]]
def log_of(number, node):
    return f"{number:03}-{file_name(node)}.log"

class Log:
    def __init__(self, file, limit, mask):
        import threading  # slow to import
        self._file = open(file, "r+b", buffering=0)
        self._file.seek(0, os.SEEK_END)
        self._mask, self._limit, self._rest, self._source, self.sink = mask, limit, b"", *os.pipe()
        self._is_over, self._is_drained = threading.Event(), threading.Event()
        self.start = threading.Thread(target=self._copy, daemon=True).start
    def _copy(self):
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        data = None
        while data != b"":
            is_over = self._is_over.is_set()  # asked first: all that the command has printed is in the pipe then
            data = os.read(self._source, PIPE) if poll.poll(100) else None
            is_last = data == b"" or (is_over and not self._is_drained.is_set())
            with suppress(OSError):  # a full disk is no reason to end a command
                self._keep(data or b"", is_last)
            self._show(data or b"")
            if is_last:
                self._is_drained.set()
        self._file.close()
        os.close(self._source)
    @staticmethod
    def _show(data):
        with suppress(OSError):  # nobody reads it any more
            while data:
                data = data[os.write(1, data) :]
    def _keep(self, data, is_last):
        data = self._masked(data, is_last)
        self._file.write(data[-self._limit :])
        size = self._file.tell()
        if size > (1 if is_last else 2) * self._limit:
            self._file.seek(size - self._limit)
            data = self._file.read()
            self._file.seek(0)
            self._file.write(data)
            self._file.truncate()
    def _masked(self, data, is_last):
        text = (self._rest + data).decode("utf-8", "surrogateescape")
        end = len(text) if is_last else text.rfind("\n") + 1
        if len(text) - end > LONGEST_LINE:  # it is cut where no secret is
            whole, places = self._mask(text), range(len(text) - LONGEST_SECRET, 0, -LONGEST_SECRET)
            end = next((place for place in places if self._mask(text[:place]) + self._mask(text[place:]) == whole), 0)
        self._rest = text[end:].encode("utf-8", "surrogateescape")
        return self._mask(text[:end]).encode("utf-8", "surrogateescape")
    def finish(self, gives_up):
        os.close(self.sink)
        self._is_over.set()
        while not self._is_drained.wait(0.2) and not gives_up():
            pass

class LoggedProcesses(Processes):
    def __init__(self, session, began, limit):
        super().__init__(session.signals, session.is_interactive, began)
        self._session, self._limit = session, limit
    def spawn(self, path, words, environment, _files=()):
        session, state = self._session, self._session.state
        try:
            with inner(session.store.within, LOGS) as folder:
                log = folder.open(log_of(len(state.finished) + 1, state.node), os.O_RDWR | os.O_CREAT)
            self._log = Log(log, self._limit, session.mask)
        except OSError as error:
            session.rest()
            raise RefusedError(f"{error.filename}: {error.strerror}") from None
        self._log.start()
        try:
            return super().spawn(
                path, words, environment, [(os.POSIX_SPAWN_DUP2, self._log.sink, stream) for stream in (1, 2)]
            )
        except OSError:
            self._log.finish(session.display.gives_up)
            raise
    def watch(self, groups, seconds=0, ended=lambda _index, _code: None):
        try:
            return super().watch(groups, seconds, ended)
        finally:
            self._log.finish(self._session.display.gives_up)

class Logs(Extension):
    options = (
        ("run resume", "--logs", "", "keep what each command prints, besides showing it"),
        ("run resume", "--log-limit", "SIZE", "how much of it is kept, the end (default: 1M)"),
    )
    def beside(self):
        return {LOGS: LOGS}
    def open(self):
        session = self.session
        limit = limit_of(session.options.log_limit or LOG_LIMIT)
        for performer in set(session.performers.values()) if session.options.logs else ():
            if isinstance(performer, Commands):
                performer.processes = LoggedProcesses(session, performer._began, limit)  # the same note
    def lines(self, facts, record):
        done = facts["finished"]
        if record is None or record is not done[-1] or record["outcome"] != "fail":
            return []
        path = os.path.join(self.session.store.directory, LOGS, log_of(len(done), record["step"]))
        try:
            with open(path, "rb") as file:
                file.seek(max(os.path.getsize(path) - SHOWN_BYTES, 0))
                lines = file.read().decode(errors="replace").splitlines()[-SHOWN_LINES:]
        except OSError:
            return []
        return [f"        {path}:", *(f"        | {clean(line)}"[:200].rstrip() for line in lines)]

