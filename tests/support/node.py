"""Programs in JavaScript that tests talk to: packages that npm installs by a lock file, one process of node each.

A folder of such a program has a `package.json`, whose `main` is what node runs and whose script `build`, if there is
one, makes it first; a `package-lock.json`; and modules. What is installed is kept in `.venv` until that file changes.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests.conftest import ROOT
from tests.support.once import VARIABLE, once
from tests.support.starts import announce

CACHE = ROOT / ".venv" / "node"
PACKAGES = ("package.json", "package-lock.json")
INSTALL = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
BUILD = ("npm", "run", "build", "--if-present", "--loglevel=error")
NO_NETWORK = re.compile(r"\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b")


class MissingError(Exception):
    """There is no node on this machine, or the packages cannot be fetched; the message says which."""


class Server:
    """A program that answers each line of JSON with one."""

    def __init__(self, questions: IO[str], answers: IO[str]) -> None:
        self._questions = questions
        self._answers = answers

    def ask(self, question: object) -> dict[str, Any]:
        """The answer to a question."""
        announce("node")
        self._questions.write(json.dumps(question) + "\n")
        self._questions.flush()
        line = self._answers.readline()
        assert line, "the program in JavaScript has ended; its message is on standard error"
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """The program of a folder, installed and started. Raises `MissingError` where that is not possible."""
    with _started(folder) as process:
        assert process.stdin
        assert process.stdout
        yield Server(process.stdin, process.stdout)


@contextmanager
def sharing(folder: Path) -> Iterator[Server]:
    """The same for a program that listens on a socket: the first worker starts it, it ends with the last."""
    place = Path(os.environ[VARIABLE]) / f"{folder.name}.socket"
    with place.with_suffix(".lock").open("w") as lock, socket.socket(socket.AF_UNIX) as connection:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = _connected(folder, place, connection)
        fcntl.flock(lock, fcntl.LOCK_UN)
        with connection.makefile("w", encoding="utf-8") as to, connection.makefile(encoding="utf-8") as by:
            yield Server(to, by)
            fcntl.flock(lock, fcntl.LOCK_EX)  # until the program knows, so that nobody connects to one that ends
            connection.shutdown(socket.SHUT_WR)
            assert by.read() == ""
    if process:
        process.poll()


def _connected(folder: Path, place: Path, connection: socket.socket) -> subprocess.Popen[str] | None:
    """Connect with a program, which is started unless it runs."""
    try:
        connection.connect(str(place))
    except (FileNotFoundError, ConnectionRefusedError):
        place.unlink(missing_ok=True)
        process = _started(folder, str(place))
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        connection.connect(str(place))
        return process
    return None


def _started(folder: Path, *words: str) -> subprocess.Popen[str]:
    at = installed(folder)
    main = json.loads((at / "package.json").read_text(encoding="utf-8"))["main"]
    return subprocess.Popen(
        ["node", "--enable-source-maps", main, *words],
        cwd=at,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def installed(folder: Path, *, packs: bool = False) -> Path:
    """The folder of a program and its packages, with `packs` also those that pack it; one process installs them all."""
    if not (shutil.which("node") and shutil.which("npm")):
        raise MissingError(f"the packages of {folder.relative_to(ROOT)} need node and npm")
    packages = [folder / name for name in PACKAGES]
    modules = sorted(folder.glob("*.mjs"))
    install = INSTALL if packs else (*INSTALL, "--omit=dev")
    installed = CACHE / _digest(packages, *install)
    program = installed / _digest(modules)
    _once(installed, packages, lambda: _run(install, installed))
    _once(program, [folder / "package.json", *modules], lambda: _run(BUILD, program))
    return program


def _digest(files: Iterable[Path], *words: str) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files) + " ".join(words).encode()).hexdigest()[:16]


def _once(folder: Path, files: Iterable[Path], make: Callable[[], None]) -> None:
    """Copy files into a folder and make the rest of it, unless that was done before."""

    def begun() -> None:
        for file in files:
            shutil.copy(file, folder)
        make()

    once(folder, begun)


def _run(command: Iterable[str], folder: Path) -> None:
    done = subprocess.run([*command], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode and (cause := NO_NETWORK.search(done.stderr)):
        raise MissingError(f"npm cannot fetch the packages of {folder}: {cause[0]}")
    assert done.returncode == 0, done.stdout + done.stderr
