"""Processes of trials: in a session of their own, with a time limit, after which their commands are ended too."""

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
"""In seconds: how long a process may take to stop what it has begun before it is killed."""


class Finished(Struct, frozen=True):
    """What a process has said, and how it ended."""

    code: int
    out: str
    err: str


def execute(command: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: float) -> Finished:
    """Run a command to its end.

    What it says goes to files: a pipe would end only when all that it has left in the background has ended.

    Raises:
        TrialError: It took longer than the timeout, in seconds, or could not be started.
    """
    with TemporaryFile() as out, TemporaryFile() as err:
        try:
            process = subprocess.Popen(  # noqa: S603 (a tool that was looked up, and words of ours)
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
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            _stop(process)
            raise TrialError(f"it took longer than {timeout:g} seconds; --timeout gives it more") from None
        except BaseException:
            _stop(process)
            raise
        return Finished(process.returncode, _text(out), _text(err))


def _text(file: IO[bytes]) -> str:
    """What was written to a file up to now."""
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), size, 0).decode(errors="replace")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a process with all that it has begun; it may need a moment to end what has sessions of its own."""
    for number in (signal.SIGTERM, signal.SIGKILL):  # SIGKILL also if it has ended: its commands may ignore SIGTERM
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)


@contextmanager
def interruptible() -> Iterator[None]:
    """Lets what would end this process interrupt it, as Ctrl-C does, so that it can end what it has begun."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def find_tool(*names: str, advice: str) -> str:
    """The path of the first of these programs that is there, on the path or beside this Python.

    Raises:
        MissingToolError: There is none.
    """
    folders = os.pathsep.join((os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)))
    found = next((path for name in names if (path := shutil.which(name, path=folders))), None)
    if found is None:
        raise MissingToolError(f"`{names[0]}` is not installed: {advice}")
    return found
