# --- Files that are whole or not there, whenever a run is killed: those beside its journal, and its reports (I29).
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
        with open(folder.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, name, src_dir_fd=folder.at, dst_dir_fd=folder.at)
        os.fsync(folder.at)

def report_blocks(folder, texts):
    date, found = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()), {}
    for report, text in texts.items():
        size = report_size(os.path.join(folder, f"{report}.md"))
        if text:
            found[report] = (size, "\n" * bool(size) + f"## {date}\n\n{text}\n")
    return found

def report_size(path):
    with suppress(OSError):
        about = os.lstat(path)
        return about.st_size if stat.S_ISREG(about.st_mode) else 0
    return 0

def add_block(folder, report, place, text):
    name, before, block = f"{report}.md", b"", text.encode("utf-8", "replace")
    if is_link(name, folder.at):  # an agent may have put anything in its place
        raise OSError(0, "it is a link")
    with suppress(FileNotFoundError), open(folder.open(name, os.O_RDONLY), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "it is not a regular file")
        before = file.read()
    if before[place : place + len(block)] != block:
        put(folder, name, before[:place] + block + before[place:])

