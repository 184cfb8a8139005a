# --- Files that are whole or not there, whenever a run is killed: its records and reports, and outputs of steps.
def file_name(name):
    import urllib.parse  # slow to import
    return urllib.parse.quote(name, safe="{} ")[:150]
@contextmanager
def inner(folder, name):
    found = folder.enter(name)
    try:
        yield found
    finally:
        os.close(found.at)
def put(folder, name, data):
    draft = f".{name}.new"
    with folder.naming(name):
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder.at)
        write_at(folder.at, name, data, draft, folder.mode & 0o666)
def write_at(folder, name, data, draft='', mode=None):
    draft = draft or f".rdc-{os.urandom(8).hex()}.new"
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode or 0o666, dir_fd=folder)
    try:
        with open(file, "wb") as opened:
            if mode is not None:
                os.fchmod(file, mode)  # whatever the umask is
            opened.write(data)
            opened.flush()
            os.fsync(file)
        os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with suppress(OSError):
            os.unlink(draft, dir_fd=folder)
        raise
    os.fsync(folder)

