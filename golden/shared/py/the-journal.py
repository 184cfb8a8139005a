# --- The journal: an append-only file of checked records, on disk before what they tell is seen (R1).
class VanishedError(RefusedError):
    """The state is not where it was: what a run records is lost, and nothing keeps a second run away."""

class Held:  # A file that is open, and where it was.
    def __init__(self, path, flags):
        self.path = os.path.join(os.getcwd(), path)  # a resumed run changes its folder
        self.descriptor = os.open(path, flags | os.O_CREAT, 0o666)

    def is_there(self):  # Tell whether the file is still found at its path.
        try:
            return os.path.samestat(os.fstat(self.descriptor), os.stat(self.path))
        except OSError:
            return False

# What a journal holds, how much of it is good, what must follow.
Reading = namedtuple("Reading", "records size missing", defaults=(0, b'',))

def at_once(path, flags):  # Open a file; a pipe in its place would be waited for, with signals held back.
    return os.open(path, flags | os.O_NONBLOCK)

def encode(record):  # Write a record as a line.
    text = json.dumps(record, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)

def _decode(line, number):  # Read a line without its newline; raises ValueError where it is not what was written.
    if line[:9] != b"%08x " % zlib.crc32(line[9:]):
        raise ValueError("the checksum does not match")
    record = json.loads(line[9:])
    if record["n"] != number:
        raise ValueError(f"record {record['n']} stands where {number} is due")
    return record

def _is_torn(tail, number):  # Tell whether a tail without newline is what a write that was cut short leaves.
    text, start = tail[9:], b'{"n":%d,' % number
    is_begun = re.fullmatch(rb"[0-9a-f]{0,8}|[0-9a-f]{8} [ -~]*", tail)
    try:
        json.JSONDecoder().raw_decode(text.decode())
    except ValueError:
        return bool(is_begun) and text[: len(start)] == start[: len(text)]
    return False  # a whole record was there: its last byte or its newline has been altered

def read_journal(path):  # Read a journal without changing it; one that is not there holds nothing.
    try:
        descriptor = at_once(path, os.O_RDONLY)
    except FileNotFoundError:
        return Reading([])
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RefusedError(f"{path}: the journal is not a regular file")
    with os.fdopen(descriptor, "rb") as file, naming(path):
        content = file.read()
    *lines, tail = content.split(b"\n")
    records = []
    try:
        for line in lines:
            records.append(_decode(line, len(records)))
        is_torn = not tail or _is_torn(tail, len(records))
        if not is_torn:  # it is whole, but for its newline
            records.append(_decode(tail, len(records)))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RefusedError(f"{path}:{len(records) + 1}: the journal is damaged: {error}") from None
    return Reading(records, len(content) - len(tail)) if is_torn else Reading(records, len(content), b"\n")

def sync_directory(path):  # Make the names in a directory last.
    descriptor = os.open(path, os.O_RDONLY)
    with naming(path):
        os.fsync(descriptor)
    os.close(descriptor)

class Journal:  # A journal opened for appending, by the holder of the lock.
    def __init__(self, path, reading, lock=None):
        held = Held(path, os.O_WRONLY | os.O_APPEND)
        self.path, self.folder = path, os.path.dirname(held.path)
        self.loss = f"{os.path.dirname(path)} was removed or replaced during the run"
        self.count, self.size = len(reading.records), reading.size
        self._file, self._held = held.descriptor, [held, lock] if lock else [held]
        with naming(path):
            os.ftruncate(self._file, self.size)
        if reading.missing:
            self._write(reading.missing)
        sync_directory(self.folder)

    def append(self, record, sync=True):  # Write a record; it survives whatever happens, if `sync`.
        self._write(encode({"n": self.count, **record}), sync)
        self.count += 1  # only then is the place checked: a folder that was moved away has the record
        if not self.is_there():
            raise VanishedError(self.loss)

    def is_there(self):  # Tell whether journal and lock are still there; a command may have removed them.
        return all(held.is_there() for held in self._held)

    def _write(self, line, sync=True):
        try:
            written = os.write(self._file, line)
            if written < len(line):
                os.ftruncate(self._file, self.size)  # half a record before another one would be damage
            elif sync:
                getattr(os, "fdatasync", os.fsync)(self._file)
        except OSError as error:
            raise RefusedError(f"{self.path}: cannot record: {error.strerror}") from None
        if written < len(line):
            raise RefusedError(f"{self.path}: cannot record: {os.strerror(errno.ENOSPC)}")
        self.size += len(line)

