# --- The journal: an append-only file of checked records, on disk before what they tell is seen.
@functools.cache
def encoder():
    import json  # slow, and `status` does not need it before there is a run
    return json.JSONEncoder(separators=(",", ":")).encode
def encode(record):
    import zlib
    text = encoder()(record).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)
def _decode(line, number):
    import json
    record = json.loads(line[9:])
    if encode({**record, "n": number}) != line + b"\n":
        raise ValueError(f"this is not record {number} as it was written")
    return record
def _is_torn(tail, number):
    import json
    text, start = tail[9:], b'{"n":%d,' % number
    with suppress(ValueError):
        json.JSONDecoder().raw_decode(text.decode())
        return False  # a whole record is there, without its newline or with its last byte altered
    is_begun = re.fullmatch(rb"[0-9a-f]{0,8}|[0-9a-f]{8} [ -~]*", tail)
    return bool(is_begun) and text[: len(start)] == start[: len(text)]
def read_journal(path):
    try:
        with naming(path), open(path, "rb", opener=at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise RefusedError(f"{path}: the journal is not a regular file")
            content = file.read()
    except FileNotFoundError:
        return [], 0
    records = []
    *lines, tail = content.split(b"\n")
    try:
        for line in lines:
            records.append(_decode(line, len(records)))
        if not _is_torn(tail, len(records)):
            records.append(_decode(tail, len(records)))
            tail = b""
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RefusedError(f"{path}:{len(records) + 1}: the journal is damaged: {error}") from None
    return records, len(content) - len(tail)

