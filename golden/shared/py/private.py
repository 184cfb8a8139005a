# --- Directories of a run: what is in them is opened by name, never through a link, and is private by default.
PRIVATE = 0o700  # the mode of a directory that is made
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW

def is_link(path, at=None):
    with suppress(OSError):
        return stat.S_ISLNK(os.stat(path, dir_fd=at, follow_symlinks=False).st_mode)
    return False

def refused_link(path):
    return RefusedError(f"{path} is a link: remove it, or name the directory that it leads to with --state-dir")

class Folder:
    def __init__(self, at, shown):
        self.at, self.shown, self.mode = at, shown, stat.S_IMODE(os.fstat(at).st_mode)
    @contextmanager
    def naming(self, name):
        path = os.path.join(self.shown, name)
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR) and is_link(name, self.at):
                raise refused_link(path) from None
            error.filename = path
            raise
    def enter(self, name, mode=0):
        with self.naming(name):
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=self.at)
                os.chmod(name, mode or self.mode, dir_fd=self.at)  # whatever the umask is
                os.fsync(self.at)
            return Folder(os.open(name, DIRECTORY, dir_fd=self.at), os.path.join(self.shown, name))
    def open(self, name, flags):
        with self.naming(name):
            file = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600, dir_fd=self.at)
            if os.fstat(file).st_nlink > 1:  # a file elsewhere has been given this name too
                raise refused_link(os.path.join(self.shown, name))
            if flags & os.O_CREAT:
                with suppress(PermissionError):  # another operator has made it
                    os.fchmod(file, self.mode & 0o666)
            return file

def names_in(path):
    return [path] if os.path.isabs(path) else path.split("/")

def refuse_links(path):
    names = names_in(path)
    for part in ("/".join(names[:count]) for count in range(1, len(names) + 1)):
        if is_link(part):
            raise refused_link(part)

def opened_folder(path):
    try:
        if os.path.isabs(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        folder = Folder(os.open(".", DIRECTORY), "")
        for name in names_in(path):
            folder, outer = folder.enter(name, PRIVATE), folder.at
            os.close(outer)
        found = [entry.name for entry in os.scandir(folder.at) if entry.is_symlink()]
    except OSError as error:
        error.filename = path
        raise
    if os.fstat(folder.at).st_mode & stat.S_IWOTH:
        raise RefusedError(f"to forbid it: chmod o-w {path}", f"everybody may write to {path}, and so change the run")
    if found:
        raise refused_link(os.path.join(path, found[0]))
    return folder

