# --- Exchanges with processes: a text on standard input, and what they print on standard output.
SH = "/bin/sh"
PIECE = 65536
LOOK = 100  # milliseconds until an exchange looks again whether its process has ended
GRACE_AFTER = 1.0  # seconds that what a process has left behind may still write

Call = collections.namedtuple("Call", "command environment given shown")

Answered = collections.namedtuple("Answered", "answer trouble")
def file_with(given):
    import tempfile  # slow to import
    file = tempfile.TemporaryFile(buffering=0)  # whoever takes it closes it
    file.write(given)
    file.seek(0)
    return file

class Exchange:
    def __init__(self, processes, call):
        import threading  # slow to import
        self.answer, self._rest, self._shown = bytearray(), b"", call.shown
        self._over, self._thread = threading.Event(), threading.Thread(target=self._take, daemon=True)
        self._from, to = os.pipe()
        words = [b"sh", b"-c", os.fsencode(call.command)]
        try:
            with file_with(call.given) as given:
                files = [(os.POSIX_SPAWN_DUP2, given.fileno(), 0), (os.POSIX_SPAWN_DUP2, to, 1)]
                self.group = processes.spawn(SH, words, call.environment, files)
        except OSError:
            os.close(self._from)
            raise
        finally:
            os.close(to)
        self._thread.start()
    @property
    def is_too_long(self):
        return len(self.answer) > LARGEST_ANSWER
    def finish(self):
        self._over.set()
        self._thread.join(GRACE_AFTER)
        if self._thread.is_alive():
            signal_groups([self.group], signal.SIGKILL)
            self._thread.join()  # who is shown the answer may hold it up, and nothing of it must be lost
    def _take(self):
        poll, deadline = select.poll(), 0.0
        poll.register(self._from, select.POLLIN)
        while not self.is_too_long:
            if self._over.is_set() and not deadline:
                deadline = time.monotonic() + GRACE_AFTER
            is_late = deadline and time.monotonic() > deadline
            if poll.poll(0 if is_late else LOOK):
                data = os.read(self._from, PIECE)
                if not data:
                    break
                self.answer += data
                self._show(data)
            elif is_late:
                break
        self._show(b"", is_last=True)
        os.close(self._from)
        if self.is_too_long:
            signal_groups([self.group], signal.SIGTERM, signal.SIGCONT)
            if not self._over.wait(PATIENCE):
                signal_groups([self.group], signal.SIGKILL)
    def _show(self, data, is_last=False):
        *whole, self._rest = (self._rest + data).split(b"\n")
        if self._rest and (is_last or len(self._rest) > PIECE):
            whole, self._rest = [*whole, self._rest], b""
        if whole:
            self._shown(b"\n".join(whole).decode("utf-8", "replace"))
def exchange(processes, calls, seconds, ended=lambda _index: None):
    exchanges = []
    try:
        for call in calls:
            exchanges.append(Exchange(processes, call))  # those that began are known where one cannot
    except OSError:
        signal_groups([one.group for one in exchanges], signal.SIGKILL)
        for one in exchanges:
            os.waitpid(one.group, 0)
        raise
    def finished(index, code):
        exchanges[index].finish()
        processes.said = _answered(exchanges[index], code)
        ended(index)
    how = processes.watch([one.group for one in exchanges], seconds, finished)
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

