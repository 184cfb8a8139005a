"""A run as an artifact: its journal, reports and workspace, each file with its hash.

It is not trusted on arrival: no extra files, no names that lead elsewhere, and nothing in it is run.
"""

import gzip
import hashlib
import json
import os
import re
import shutil
import stat
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from runtime_shim.engine.program import Table
from runtime_shim.targets.github.api import HaltError
from runtime_shim.targets.github.journal_check import damaged
from runtime_shim.values.secrets import unescaped

ANSWERS_FILE = "rdc-answers"
KEPT = "rdc-kept"
ABOUT, WORKSPACE = "about.json", "workspace.tar.gz"
NAMES = (
    r"about\.json|workspace\.tar\.gz|answers|state/journal|state/reports/[A-Za-z0-9._-]+|program/[A-Za-z0-9._-]+\.py"
)
REPORT = r"[A-Za-z0-9._-]+"
CHUNK = 1 << 20
LARGEST_JOURNAL = 64 * CHUNK
MOST_UNPACKED = 1 << 30  # bytes that are searched in a compressed file


def unsaved(why: str) -> HaltError:
    """Return the error for a run that cannot be kept."""
    return HaltError("Not saved", f"The run was not saved, so it cannot be continued: {why}")


def digest_of_file(path: str) -> str:
    """Return the SHA-256 of a file."""
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while data := file.read(CHUNK):
            found.update(data)
    return found.hexdigest()


def files_in(folder: str) -> Iterator[str]:
    """Return the relative paths of all files in a directory; raise ValueError for other kinds of entries."""
    for path, about in walked(folder):
        if stat.S_ISREG(about.st_mode):
            yield path
        elif not stat.S_ISDIR(about.st_mode):
            raise ValueError(path)


# --- To keep a run ---


def keep_run(kept: str, state: str, answers: str, about: Table, masks: Sequence[bytes]) -> None:
    """Collect a run in a directory, or raise HaltError."""
    for name in ("state", "answers", ABOUT, WORKSPACE):  # not the program in a workflow
        path = os.path.join(kept, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            unlinked(path)
    os.makedirs(os.path.join(kept, "state", "reports"))
    try:
        shutil.copyfile(os.path.join(state, "journal"), os.path.join(kept, "state", "journal"), follow_symlinks=False)
        _copy_reports(os.path.join(state, "reports"), os.path.join(kept, "state", "reports"))
        with suppress(FileNotFoundError):  # for the next job
            shutil.copyfile(answers, os.path.join(kept, "answers"), follow_symlinks=False)
        plain = [mask.decode("utf-8", "surrogateescape") for mask in masks]
        wide = [mask.encode(f"utf-16-{order}", "surrogatepass") for mask in plain for order in ("le", "be")]
        for folder in (os.getcwd(), os.path.join(kept, "state", "reports")):
            _search(folder, [*masks, *wide])
        pack(os.getcwd(), os.path.join(kept, WORKSPACE))
    except (OSError, ValueError) as error:
        raise unsaved(f"its files cannot be read: {error}") from None
    digests = {name: digest_of_file(os.path.join(kept, name)) for name in files_in(kept)}
    with open(os.path.join(kept, ABOUT), "w", encoding="ascii") as file:
        json.dump({**about, "files": digests}, file)


def unlinked(path: str) -> None:
    """Remove a file if it exists."""
    with suppress(FileNotFoundError):
        os.unlink(path)


def _copy_reports(folder: str, to: str) -> None:
    """Copy plain files with plain names, since agents may have put anything into this directory."""
    with suppress(FileNotFoundError):
        for entry in os.scandir(folder):
            if entry.is_file(follow_symlinks=False) and re.fullmatch(REPORT, entry.name):
                shutil.copyfile(entry.path, os.path.join(to, entry.name), follow_symlinks=False)


def _search(folder: str, masks: list[bytes]) -> None:
    for name, about in walked(folder) if masks else ():
        path = os.path.join(folder, name)
        leads = os.readlink(path) if stat.S_ISLNK(about.st_mode) else ""
        if any(_has(os.fsencode(text), masks) for text in (name, leads)):
            raise unsaved("the name of a file contains a secret. Remove the file before the run stops here")
        if not stat.S_ISREG(about.st_mode):
            continue
        if any(_has(data, masks) for data in _pieces(path, max(map(len, masks)))):
            shown = re.sub(r"[^A-Za-z0-9_./-]", "_", name)
            raise unsaved(f"the file {shown} contains a secret. Remove the secret before the run stops here")


def _pieces(path: str, longest: int) -> Iterator[bytes]:
    """Read a file in pieces, also unpacked if gzip wrote it. Each starts with the end of the one before."""
    for opened in (open, gzip.open):
        rest, left = b"", MOST_UNPACKED
        with suppress(EOFError, zlib.error, gzip.BadGzipFile), opened(path, "rb") as file:
            while left > 0 and (data := file.read(CHUNK)):
                yield rest + data
                rest = (rest + data)[-12 * longest :]  # a character may be written with as many
                left -= len(data) if opened is gzip.open else 0


def _has(data: bytes, masks: list[bytes]) -> bool:
    """Return whether bytes contain a secret: as it is, or in JSON, also twice."""
    found = [data]
    text = data.decode("utf-8", "surrogateescape") if b"\\" in data else ""
    for _ in range(2 if text else 0):
        text = unescaped(text)
        found.append(text.encode("utf-8", "surrogatepass"))
    return any(mask in each for mask in masks for each in found)


def walked(folder: str, inside: str = "") -> Iterator[tuple[str, os.stat_result]]:
    """Return everything in a directory, parents before children."""
    for entry in sorted(os.scandir(os.path.join(folder, inside)), key=lambda entry: entry.name):
        path, about = os.path.join(inside, entry.name), entry.stat(follow_symlinks=False)
        yield path, about
        if stat.S_ISDIR(about.st_mode):
            yield from walked(folder, path)


def pack(folder: str, archive: str) -> None:
    """Write an archive of files, directories and links, without calling programs that a step may have replaced."""
    with gzip.open(archive, "wb", compresslevel=6) as packed, tarfile.open(fileobj=packed, mode="w|") as tar:
        for name, about in walked(folder):
            info = tar.gettarinfo(os.path.join(folder, name), name)
            if not (info.isreg() or info.isdir() or info.issym() or info.islnk()):
                continue
            if not stat.S_ISREG(about.st_mode):
                tar.addfile(info)
                continue
            info.type, info.linkname = tarfile.REGTYPE, ""
            with open(os.path.join(folder, name), "rb") as file:
                info.size = os.fstat(file.fileno()).st_size
                tar.addfile(info, file)


# --- To take one over ---


def check_kept(kept: str) -> Table:
    """Return the description of a kept run, after checking that it has exactly the saved files."""
    try:
        found = set(files_in(kept))
        with open(os.path.join(kept, ABOUT), "rb") as file:
            about = json.loads(file.read(CHUNK))
        digests = {name: digest_of_file(os.path.join(kept, name)) for name in found - {ABOUT}}
    except (OSError, ValueError, RecursionError):
        raise damaged() from None
    are_ours = all(re.fullmatch(NAMES, name) for name in found) and {WORKSPACE, "state/journal"} <= found
    if not isinstance(about, dict) or about.get("files") != digests or not are_ours:
        raise damaged()
    if os.path.getsize(os.path.join(kept, "state", "journal")) > LARGEST_JOURNAL:
        raise damaged()
    return about


def take_over(kept: str, state: str, answers: str, own: Iterable[str]) -> None:
    """Put a kept run's files in place; the files `own` of the workspace stay as they are."""
    temporary = os.environ["RUNNER_TEMP"]
    before, files = os.path.join(temporary, "rdc-before"), {path: _read(path) for path in own}
    try:
        os.makedirs(before, exist_ok=True)
        for entry in list(os.scandir(".")):
            shutil.move(entry.path, os.path.join(before, entry.name))
        unpack(os.path.join(kept, WORKSPACE), ".")
        for path, data in files.items():
            _put_back(path, data)
        os.makedirs(state, 0o700)
        for name in ("journal", "reports"):
            with suppress(FileNotFoundError):
                shutil.move(os.path.join(kept, "state", name), os.path.join(state, name))
        with suppress(FileNotFoundError):
            shutil.move(os.path.join(kept, "answers"), answers)
    except (OSError, ValueError, tarfile.TarError, EOFError) as error:
        says = "The run's files could not be put into the workspace; see the log. Free some disk space, then try again"
        raise HaltError("Workspace", f"{says} ({type(error).__name__}: {error})") from None


def _read(path: str) -> "bytes | None":
    with suppress(OSError), open(path, "rb") as file:
        return file.read()
    return None


def _put_back(path: str, data: "bytes | None") -> None:
    if data is None or os.path.isabs(path):
        return
    folder = ""
    for part in os.path.dirname(path).split("/"):
        folder = os.path.join(folder, part)
        if os.path.islink(folder) or not os.path.isdir(folder):
            unlinked(folder)
            os.mkdir(folder)
    unlinked(path)
    with open(path, "xb") as file:
        file.write(data)


def unpack(archive: str, folder: str) -> None:
    """Unpack an archive into an empty directory, links last, so that no file is written through one."""
    links, dated = [], []
    with gzip.open(archive, "rb") as packed, tarfile.open(fileobj=packed, mode="r|") as tar:
        for member in tar:
            parts = member.name.split("/")
            if member.name.startswith("/") or {"", ".", ".."} & {*parts}:
                raise ValueError(member.name)
            path = os.path.join(folder, member.name)
            if member.isdir():
                os.mkdir(path, 0o700)
            elif member.isreg():
                _unpack_file(tar, member, path)
            elif member.issym():
                links.append((member.linkname, path))
                continue
            else:
                raise ValueError(member.name)
            dated.append((path, member))
    for target, path in links:
        os.symlink(target, path)
    for path, member in reversed(dated):
        os.chmod(path, member.mode & 0o777)
        os.utime(path, (member.mtime, member.mtime))


def _unpack_file(tar: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
    source = tar.extractfile(member)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
        if source is not None:
            shutil.copyfileobj(source, file, CHUNK)
