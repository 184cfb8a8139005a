# --- Exchanges with processes: a text to standard input, what comes on standard output captured (I11).
SH = "/bin/sh"
PIECE = 65536
LOOK = 100  # milliseconds until an exchange looks again whether its process has ended
GRACE_AFTER = 1.0  # seconds that what a process has left behind may still write

class Exchange(threading.Thread):
    def __init__(self, given, shown):
        super().__init__(daemon=True)
        self.answer = bytearray()
        self._given = memoryview(given)
        self._shown = shown
        self._group = 0
        self._over = threading.Event()
        self._theirs, self._to = os.pipe()
        self._from, self._back = os.pipe()
        for descriptor in (self._to, self._from):
            os.set_blocking(descriptor, False)
    @property
    def files(self):
        return [(os.POSIX_SPAWN_DUP2, self._theirs, 0), (os.POSIX_SPAWN_DUP2, self._back, 1)]
    @property
    def is_too_long(self):
        return len(self.answer) > LARGEST_ANSWER
    def begin(self, group):
        self._group = group
        os.close(self._theirs)
        os.close(self._back)
        self.start()
    def abandon(self):
        for descriptor in (self._theirs, self._back, self._to, self._from):
            os.close(descriptor)
    def finish(self):
        self._over.set()
        self.join(GRACE_AFTER)
        if self.is_alive():
            signal_groups([self._group], signal.SIGKILL)
            self.join()  # who is shown the answer may hold it up, and nothing of it must be lost
    def run(self):
        lines = Lines(self._shown)
        poll = select.poll()
        poll.register(self._from, select.POLLIN)
        poll.register(self._to, select.POLLOUT)
        is_giving, deadline = True, 0.0
        while not self.is_too_long:
            if self._over.is_set() and not deadline:
                deadline = time.monotonic() + GRACE_AFTER
            is_late = deadline and time.monotonic() > deadline
            ready = dict(poll.poll(0 if is_late else LOOK))
            if self._to in ready and not self._give():
                poll.unregister(self._to)
                os.close(self._to)
                is_giving = False
            if self._from in ready:
                data = os.read(self._from, PIECE)
                if not data:
                    break
                self.answer += data
                lines.take(data)
            elif is_late:
                break
        lines.take(b"", is_last=True)
        os.close(self._from)
        if is_giving:
            os.close(self._to)
        if self.is_too_long:
            self._end()
    def _give(self):
        if self._given:
            with suppress(BlockingIOError):
                try:
                    self._given = self._given[os.write(self._to, self._given[:PIECE]) :]
                except BrokenPipeError:  # it does not read all of it, and need not
                    return False
        return bool(self._given)
    def _end(self):
        signal_groups([self._group], signal.SIGTERM)
        signal_groups([self._group], signal.SIGCONT)
        if not self._over.wait(PATIENCE):
            signal_groups([self._group], signal.SIGKILL)

class Lines:
    def __init__(self, shown):
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._shown = shown
        self._rest = ""
    def take(self, data, is_last=False):
        *whole, self._rest = (self._rest + self._decoder.decode(data, is_last)).split("\n")
        if self._rest and (is_last or len(self._rest) > PIECE):
            whole.append(self._rest)
            self._rest = ""
        if whole:
            self._shown("\n".join(whole))

Call = collections.namedtuple("Call", "command environment given shown")

Answered = collections.namedtuple("Answered", "answer trouble")

def exchange(processes, calls, seconds, ended=lambda _index: None):
    exchanges = []
    groups = []
    try:
        for call in calls:
            exchanges.append(Exchange(call.given, call.shown))
            words = [b"sh", b"-c", os.fsencode(call.command)]
            groups.append(processes.spawn(SH, words, call.environment, exchanges[-1].files))
            exchanges[-1].begin(groups[-1])
    except OSError:
        for one in exchanges[len(groups) :]:
            one.abandon()
        signal_groups(groups, signal.SIGKILL)
        for group in groups:
            os.waitpid(group, 0)
        raise
    def finished(index):
        exchanges[index].finish()
        processes.said = _answered(exchanges[index], processes.last)
        ended(index)

    how = processes.watch(groups, seconds, finished)
    return list(map(_answered, exchanges, how))

def _answered(one, code):
    if one.is_too_long:
        return Answered(b"", f"more than {LARGEST_ANSWER:,} bytes")
    return Answered(bytes(one.answer), in_words(code))

class SearchError(Exception):
    pass

def child_says(processes, code, given, seconds, *flags):
    words = [sys.executable, "-I", *flags, "-W", "ignore", "-c", code, str(seconds)]
    call = Call(f"exec {shlex.join(words)}", os.environb, json.dumps(given).encode(), lambda _lines: None)
    (answered,) = exchange(processes, [call], seconds)
    if answered.trouble:
        raise SearchError(answered.trouble)
    return answered.answer

