# --- Reports as files: a block is added below a heading with the date, once; files change whole or not at all (I29).
def open_new(path):  # Open a new file; what an agent may have put in its place is not followed, nor waited for.
    with suppress(FileNotFoundError):
        os.unlink(path)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb")

