# --- Reports as files: a block is added below a heading with the date, once; files change whole or not at all (I29).
def heading_date():
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())

@contextmanager
def folder_of_reports(folder, at=None):
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700, dir_fd=at)
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
    try:
        yield opened
    finally:
        os.close(opened)

def report_blocks(folder, texts):
    date, found = heading_date(), {}
    for report, text in texts.items():
        size = report_size(os.path.join(folder, f"{report}.md"))
        if text:
            found[report] = (size, "\n" * bool(size) + f"## {date}\n\n{text}\n")
    return found

def report_size(path):
    try:
        about = os.lstat(path)
    except OSError:
        return 0
    return about.st_size if stat.S_ISREG(about.st_mode) else 0

def add_block(folder, report, place, text, at=None):
    name, draft, block = f"{report}.md", f".{report}.new", text.encode("utf-8", "replace")
    with folder_of_reports(folder, at) as inside:
        before = read_report(name, inside)
        if before[place : place + len(block)] == block:
            return
        with open_new(draft, inside) as file:
            file.write(before[:place] + block + before[place:])
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, name, src_dir_fd=inside, dst_dir_fd=inside)

def open_new(path, at=None):
    with suppress(FileNotFoundError):
        os.unlink(path, dir_fd=at)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=at), "wb")

def read_report(path, at=None):
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=at)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is not a regular file")
        return file.read()

