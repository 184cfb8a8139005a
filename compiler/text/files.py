"""Read files of documents, and reject unsuitable ones (D1)."""

import os
import stat
import sys
from collections.abc import Mapping, Sequence

from msgspec import Struct

from compiler.text.source import BYTE_ORDER_MARK, STANDARD_INPUT, Source, sha256_of
from compiler.text.suggestions import nearest_name

LARGEST_FILE = 8 * 1024 * 1024  # the largest file in bytes (D1)

MOST_LINES = 500_000
"""The most lines that are not blank: Markdown takes much more memory per line than per character."""

LARGEST_VALUE = 100_000  # the most values of a YAML or JSON document, including values that aliases repeat


_DOCUMENTS = (".md", ".yaml", ".yml", ".json")


class FileIssue(Struct, frozen=True):
    """A reason to reject a document: a code, a message and the help."""

    code: str
    message: str
    help: str


class Disk(Struct, frozen=True):
    """The files of a project; all reads go through this class."""

    def exists(self, file: str, *, follow: bool = True) -> bool:
        """Return whether a file exists, with `follow` after resolving links; raise `OSError` if that is unknown."""
        try:
            os.stat(file, follow_symlinks=follow)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def names_beside(self, file: str | os.PathLike[str]) -> list[str]:
        """Return the names in the file's folder; [] if it cannot be read."""
        try:
            return os.listdir(os.path.dirname(file) or os.curdir)
        except OSError:
            return []

    def resolve(self, file: str) -> str:
        """Return the absolute path of a file with all links resolved."""
        return os.path.realpath(file)

    def read(self, file: str | os.PathLike[str]) -> bytes:
        """Return the bytes of a file, at most one more than `LARGEST_FILE`, without waiting.

        Raises:
            OSError: The file cannot be read.
            ValueError: It is a pipe, a device or a folder.
        """
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ValueError("it is not a regular file")
            return stream.read(LARGEST_FILE + 1)


DISK = Disk()


class UnsavedFiles(Disk, frozen=True):
    """The files of a project, where `content` replaces files or adds some; its paths have no links."""

    content: Mapping[str, str]

    def exists(self, file: str, *, follow: bool = True) -> bool:
        """Return whether a file exists, also if it has only unsaved content."""
        return os.path.realpath(file) in self.content or super().exists(file, follow=follow)

    def names_beside(self, file: str | os.PathLike[str]) -> list[str]:
        """Return the names in the file's folder, with those of unsaved files."""
        folder = os.path.dirname(os.path.realpath(file))
        added = [os.path.basename(path) for path in self.content if os.path.dirname(path) == folder]
        return [*super().names_beside(file), *added]

    def read(self, file: str | os.PathLike[str]) -> bytes:
        """Return the unsaved content, or the bytes of the file."""
        unsaved = self.content.get(os.path.realpath(file))
        return super().read(file) if unsaved is None else unsaved.encode("utf-8", "surrogatepass")


def read_source(file: str | os.PathLike[str], path: str, name: str, disk: Disk = DISK) -> Source | FileIssue:
    """Return the document in a file; `path` and `name` are the names of the source (see `Source`).

    The file is read once and without waiting, so pipes and devices are rejected.
    """
    try:
        data = disk.read(file)
    except FileNotFoundError:
        return _missing(file, path, disk)
    except OSError as error:
        problem = f"the file cannot be read: {error.strerror or error}"
        return FileIssue("RD001", problem, "use the path of a file that you can read")
    except ValueError:
        return FileIssue("RD001", "the path is not a regular file", "use the path of a regular file")
    return source_of(data, path, name)


def _missing(file: str | os.PathLike[str], path: str, disk: Disk) -> FileIssue:
    """Return the refusal of a missing file, with the most similar name in its folder."""
    # Names with the same extension come first. An extension makes names alike, so others must be almost equal.
    written, names = os.path.basename(file), list(disk.names_beside(file))
    stem, dot, extension = written.partition(".")
    stems = [name.removesuffix(dot + extension) for name in names if name.endswith(dot + extension)]
    near = nearest_name(stem, stems)
    near = (
        near + dot + extension
        if near
        else nearest_name(written, names, 0.9) or _completed(stem, dot + extension, names)
    )
    meant = os.path.join(os.path.dirname(path), near)
    remedy = f"did you mean `{meant}`?" if near else "check the name and the current folder"
    return FileIssue("RD001", "there is no such file", remedy)


def _completed(stem: str, extension: str, names: Sequence[str]) -> str:
    """Return the only document whose name is completed by its kind: `deploy.runbook.md` for `deploy.md`, or ""."""
    found = [
        name for name in names if name.startswith(f"{stem}.") and name.endswith(extension) and name.endswith(_DOCUMENTS)
    ]
    return found[0] if stem and len(found) == 1 else ""


def read_standard_input(name: str) -> Source | FileIssue:
    """Return the document on standard input; `name` is the name of the source (see `Source`)."""
    if sys.stdin is None:
        return FileIssue("RD001", "standard input is closed", "use the path of a document")
    try:
        data = sys.stdin.buffer.read(LARGEST_FILE + 1)
    except OSError as error:
        problem = f"standard input cannot be read: {error.strerror or error}"
        return FileIssue("RD001", problem, "use the path of a document")
    return source_of(data, STANDARD_INPUT, name)


def source_of(data: bytes, path: str, name: str) -> Source | FileIssue:
    """Return the document in these bytes if they are text and not too large (D1); see `Source` for its names."""
    if len(data) > LARGEST_FILE:
        return FileIssue(
            "RD004", "the file is larger than 8 MiB", "split the document, or move its data to another file"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        problem = f"the file is not valid UTF-8: invalid byte {error.start + 1} in line {line}"
        return FileIssue("RD002", problem, "save it as UTF-8")
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        return FileIssue(
            "RD003", f"there is a NUL byte in line {line}", "remove it, and check that this is a text file"
        )
    source = Source(path, name, text, sha256_of(data), data.startswith(BYTE_ORDER_MARK))
    if len(source.lines) > MOST_LINES and sum(1 for line in source.lines if line.strip()) > MOST_LINES:
        problem = f"the file has more than {MOST_LINES:,} lines, not counting blank ones"
        return FileIssue("RD004", problem, "split the document, or move its data to another file")
    return source


def read_text(file: str, root: str, disk: Disk = DISK) -> str:
    """Return the text of a project file that is not a document, without waiting or leaving the root folder.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is not suitable; the message has the reason.
    """
    if not is_below(disk.resolve(file), root):
        raise ValueError("a link leads out of the project")
    data = disk.read(file)
    if len(data) > LARGEST_FILE:
        raise ValueError("it is larger than 8 MiB")
    return data.decode().replace("\r\n", "\n").replace("\r", "\n")


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is the folder or inside it; both are absolute and without `..`."""
    return path == folder or path.startswith(os.path.join(folder, ""))
