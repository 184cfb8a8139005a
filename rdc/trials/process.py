"""Processes of trials: in separate sessions with a time limit, which also ends their commands."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from msgspec import Struct

from rdc.trials.run import MissingToolError, TrialError

GRACE = 15.0
"""In seconds. After this time a process that is being stopped is killed."""


PATIENCE = 0.5
"""In seconds, between two signals to a process in the background."""


class Finished(Struct, frozen=True):
    """The output of a process, and its exit code."""

    code: int
    out: str
    err: str


def execute(command: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: float) -> Finished:
    """Run a command to its end.

    Output goes to files, because a pipe stays open until all background processes end.

    Raises:
        TrialError: It took longer than the timeout, in seconds, or could not be started.
    """
    with TemporaryFile() as out, TemporaryFile() as err:
        process = _begun(command, folder, environment, out, err)
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            _stop(process, folder)
            raise TrialError(f"it took longer than {timeout:g} seconds; use a longer --timeout") from None
        except BaseException:
            _stop(process, folder)
            raise
        return Finished(process.returncode, _text(out), _text(err))


class Running:
    """A process in the background, and its output on standard error."""

    def __init__(self, process: subprocess.Popen[bytes], err: IO[bytes]) -> None:
        self._process, self._err = process, err

    def has_ended(self) -> bool:
        """Return whether the process has ended."""
        return self._process.poll() is not None

    def said(self) -> str:
        """Return its output so far."""
        return _text(self._err)


@contextmanager
def running(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Iterator[Running]:
    """Run a command in the background, and kill it at the end. If that comes early, it may first end its own commands.

    Raises:
        TrialError: It could not be started.
    """
    with TemporaryFile() as err:
        process = _begun(command, folder, environment, err, err)
        try:
            yield Running(process, err)
        except BaseException:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
            _stop(process, folder)  # a second signal means: at once
            raise
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _begun(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], out: IO[bytes], err: IO[bytes]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 (a tool that was looked up, and words of ours)
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    except OSError as error:
        raise TrialError(f"cannot run {command[0]}: {error.strerror}") from None


def _text(file: IO[bytes]) -> str:
    """Return the present content of a file."""
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), size, 0).decode(errors="replace")


def _stop(process: subprocess.Popen[bytes], folder: Path) -> None:
    """End a process and its commands. It gets some time to end commands in other sessions."""
    for number in (signal.SIGTERM, signal.SIGKILL):  # SIGKILL also if it has ended: its commands may ignore SIGTERM
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
    for command in _left_behind(folder):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(command, signal.SIGKILL)


def _left_behind(folder: Path) -> Iterator[int]:
    """Yield the processes with the trial's folder in their environment, such as commands that act leaves (on Linux)."""
    for process in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if os.fsencode(folder) in process.read_bytes():
                yield int(process.parent.name)


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into KeyboardInterrupt, so that this process can end its commands."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def find_tool(*names: str, advice: str) -> str:
    """Return the path of the first program that is installed, on the path or beside this Python.

    Raises:
        MissingToolError: None is installed.
    """
    folders = os.pathsep.join((os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)))
    found = next((path for name in names if (path := shutil.which(name, path=folders))), None)
    if found is None:
        raise MissingToolError(f"`{names[0]}` is not installed: {advice}")
    return found
