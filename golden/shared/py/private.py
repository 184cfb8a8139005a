# --- Directories of a run: files are opened by name, never through a link, and are private by default.
PRIVATE = 0o700  # the mode of a directory that is made
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
CAREFULLY = os.O_NONBLOCK | os.O_NOFOLLOW  # a pipe would be waited for, with signals held back, and a link leads away
def is_link(path, at=None):
    with suppress(OSError):
        return stat.S_ISLNK(os.stat(path, dir_fd=at, follow_symlinks=False).st_mode)
    return False
def refused_link(path):
    return RefusedError(f"{path} is a link: remove it, or name the directory that it leads to with --state-dir")
@contextmanager
def naming(path, at=None, name=''):
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and is_link(name or path, at):
            raise refused_link(path) from None
        error.filename = str(path)
        raise
def at_once(path, flags):
    return os.open(path, flags | CAREFULLY)

class Folder:
    def __init__(self, at, shown):
        self.at, self.shown, self.mode = at, shown, stat.S_IMODE(os.fstat(at).st_mode)
    def naming(self, name):
        return naming(os.path.join(self.shown, name), self.at, name)
    def enter(self, name, mode=0):
        with self.naming(name):
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=self.at)
                os.chmod(name, mode or self.mode, dir_fd=self.at)  # whatever the umask is
                os.fsync(self.at)
            return Folder(os.open(name, DIRECTORY, dir_fd=self.at), os.path.join(self.shown, name))
    def open(self, name, flags):
        with self.naming(name):
            file = os.open(name, flags | CAREFULLY, 0o600, dir_fd=self.at)
            if os.fstat(file).st_nlink > 1:  # a file elsewhere has been given this name too
                raise refused_link(os.path.join(self.shown, name))
            if flags & os.O_CREAT:
                with suppress(PermissionError):  # another operator has made it
                    os.fchmod(file, self.mode & 0o666)
            return file
def refuse_links(path):
    if is_link(path):
        raise refused_link(path)
    if path and not os.path.isabs(path):
        refuse_links(os.path.dirname(path))
def opened_folder(path):
    with naming(path):
        if os.path.isabs(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        folder = Folder(os.open(".", DIRECTORY), "")
        for name in [path] if os.path.isabs(path) else path.split("/"):
            folder, outer = folder.enter(name, PRIVATE), folder.at
            os.close(outer)
        found = [entry.name for entry in os.scandir(folder.at) if entry.is_symlink()]
    if folder.mode & stat.S_IWOTH:
        raise RefusedError(f"to forbid it: chmod o-w {path}", f"everybody may write to {path}, and so change the run")
    if found:
        raise refused_link(os.path.join(path, found[0]))
    return folder

