# --- Reports as files: a block is added below a heading with the date, once; files change whole or not at all (I29).
def open_new(path, at=None):
    """Open a new file; what an agent may have put in its place is not followed, nor waited for."""
    with suppress(FileNotFoundError):
        os.unlink(path, dir_fd=at)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=at), "wb")

