# --- The journal: an append-only file of checked records, on disk before what they tell is seen (R1).
@contextmanager
def naming(path):
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise

def at_once(path, flags):
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW)

def encode(record):
    text = json.dumps(record, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)

def _decode(line, number):
    if line[:9] != b"%08x " % zlib.crc32(line[9:]):
        raise ValueError("the checksum does not match")
    record = json.loads(line[9:])
    if record["n"] != number:
        raise ValueError(f"record {record['n']} stands where {number} is due")
    return record

def _is_torn(tail, number):
    text, start = tail[9:], b'{"n":%d,' % number
    is_begun = re.fullmatch(rb"[0-9a-f]{0,8}|[0-9a-f]{8} [ -~]*", tail)
    try:
        json.JSONDecoder().raw_decode(text.decode())
    except ValueError:
        return bool(is_begun) and text[: len(start)] == start[: len(text)]
    return False  # a whole record was there: its last byte or its newline has been altered

def read_journal(path):
    try:
        with naming(path), open(path, "rb", opener=at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise RefusedError(f"{path}: the journal is not a regular file")
            *lines, tail = file.read().split(b"\n")
    except FileNotFoundError:
        return [], 0, b""
    records = []
    try:
        for line in lines:
            records.append(_decode(line, len(records)))
        is_torn = not tail or _is_torn(tail, len(records))
        if not is_torn:  # it is whole, but for its newline
            records.append(_decode(tail, len(records)))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RefusedError(f"{path}:{len(records) + 1}: the journal is damaged: {error}") from None
    size = sum(map(len, lines)) + len(lines)
    return (records, size, b"") if is_torn else (records, size + len(tail), b"\n")

