# --- Files of the project: what a specification names is read and written inside its root, and nowhere else.
LARGEST_FILE = 16 * 1024 * 1024  # bytes that are read of a file to look at its content
PROTECTED = (".git", OURS)  # what Git and rdc keep: to write there would change what they do
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW

class UnsafeError(ValueError):
    pass
def inside(root, path):
    try:
        is_path = bool(path) and b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        is_path = False
    if not is_path:
        raise UnsafeError(f"{one_line(path)!a} is not a path")
    if os.path.isabs(path):
        raise UnsafeError(f"{one_line(path)} is absolute; give a path inside the project")
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, path))
    if real != top and not real.startswith(os.path.join(top, "")):
        raise UnsafeError(f"{one_line(path)} leads out of the project")
    return [name for name in os.path.relpath(real, top).split(os.sep) if name != os.curdir]
@contextmanager
def folder_inside(root, names, makes=False):
    folder = os.open(os.path.realpath(root), FOLDER)
    try:
        for name in names:
            if makes:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=folder)
            inner = os.open(name, FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)
@contextmanager
def safely(path):
    try:
        yield
    except OSError as error:
        missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
        reason = "does not exist" if missing else f"cannot be used: {error.strerror}"
        raise UnsafeError(f"{one_line(path)} {reason}") from None
def check_there(root, path):
    names = inside(root, path)
    with safely(path), folder_inside(root, names[:-1]) as folder:
        mode = os.stat(names[-1] if names else ".", dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode) and path.endswith("/"):
        return
    if not stat.S_ISREG(mode):
        raise UnsafeError(f"{one_line(path)} is not a regular file")
def is_missing(root, path):
    return not os.path.lexists(os.path.join(os.path.realpath(root), *inside(root, path)))
def pieces_of(root, path):
    names = inside(root, path)
    with safely(path), folder_inside(root, names[:-1]) as folder:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        file = os.open(names[-1] if names else ".", flags, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise UnsafeError(f"{one_line(path)} is not a regular file")
        with safely(path):
            while piece := os.read(file, 1 << 20):
                yield piece
    finally:
        os.close(file)
def read_inside(root, path, most=LARGEST_FILE):
    content = bytearray()
    for piece in pieces_of(root, path):
        content += piece
        if len(content) > most:
            raise UnsafeError(f"{one_line(path)} is larger than {most:,} bytes")
    return bytes(content)
def sha256_of(root, path):
    import hashlib  # slow to import
    found = hashlib.sha256()
    for piece in pieces_of(root, path):
        found.update(piece)
    return found.hexdigest()
def write_inside(root, path, content):
    names = inside(root, path)
    if not names or path.endswith("/"):
        raise UnsafeError(f"{one_line(path)} is a folder")
    if any(name.lower() in PROTECTED for name in names):
        raise UnsafeError(f"{one_line(path)} belongs to Git or rdc, and is not written")
    with safely(path), folder_inside(root, names[:-1], makes=True) as folder:
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.stat(names[-1], dir_fd=folder, follow_symlinks=False).st_mode):
                raise UnsafeError(f"{one_line(path)} is not a regular file")
        write_at(folder, names[-1], content)
def list_inside(root, path):
    with safely(path), folder_inside(root, inside(root, path)) as folder, os.scandir(folder) as entries:
        names = (entry.name + ("/" if entry.is_dir(follow_symlinks=False) else "") for entry in entries)
        return sorted(re.sub(NO_TEXT, "\ufffd", name) for name in names)

