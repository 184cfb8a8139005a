"""Processes of trials: in separate sessions with a time limit, which also ends their commands."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from msgspec import Struct

from rdc.testing.run import MissingToolError, TargetTestError
from runtime_shim.operator.current import AGENTS

GRACE = 15.0  # in seconds; after this time a process that is being stopped is killed

BETWEEN = 0.5  # in seconds, between two signals to a process in the background

PATIENCE = 60.0  # in seconds; a worker starts in two, but the machine may be busy

OF_TRACES = "OTEL_EXPORTER_OTLP_"
"""The start of the variables that let a run send its trace."""

PAUSE = 0.05  # in seconds, between two looks at a process


class Finished(Struct, frozen=True):
    """The output of a process, and its exit code."""

    code: int
    out: str
    err: str


def execute(command: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: float) -> Finished:
    """Run a command to its end; raises `TargetTestError` if it can't start or takes longer than the timeout.

    Output goes to files, because a pipe stays open until all background processes end.
    """
    with TemporaryFile() as out, TemporaryFile() as err:
        process = _begun(command, folder, environment, out, err)
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            _stop(process, folder)
            raise TargetTestError(f"it took longer than {timeout:g} seconds; use a longer --timeout") from None
        except BaseException:
            _stop(process, folder)
            raise
        return Finished(process.returncode, _text(out), _text(err))


@contextmanager
def running(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Run a worker in the background, wait until its output says that it is ready, and kill it at the end.

    If the end comes early, it may first end its own commands. Raises `TargetTestError` if it does not get ready.
    """
    with TemporaryFile() as err:
        process = _begun(command, folder, environment, err, err)
        try:
            _await(process, err)
            yield
        except BaseException:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(BETWEEN)
            _stop(process, folder)  # a second signal means: at once
            raise
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _await(process: subprocess.Popen[bytes], err: IO[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while "is ready" not in (output := _text(err)):
        if process.poll() is not None or time.monotonic() > deadline:
            raise TargetTestError(f"the worker does not start: {last_line(output)}")
        time.sleep(PAUSE)


def last_line(said: str) -> str:
    """Return the last line of an output."""
    return said.strip().rpartition("\n")[2] or "it printed nothing"


def _begun(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], out: IO[bytes], err: IO[bytes]
) -> subprocess.Popen[bytes]:
    names = (name for name in environment if name not in AGENTS and not name.startswith(OF_TRACES))
    ours = {name: environment[name] for name in names}  # an agent may run tests, and no one wants their traces
    try:
        return subprocess.Popen(  # noqa: S603 (a tool that was looked up, and words of ours)
            command, cwd=folder, env=ours, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
    except OSError as error:
        raise TargetTestError(f"cannot run {command[0]}: {error.strerror}") from None


def _text(file: IO[bytes]) -> str:
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors="replace")


def _stop(process: subprocess.Popen[bytes], folder: Path) -> None:
    """End a process and its commands. It gets some time to end commands in other sessions."""
    for number in (signal.SIGTERM, signal.SIGKILL):  # SIGKILL also if it has ended: its commands may ignore SIGTERM
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
    # Commands that act leaves have the test's folder in their environment, which Linux shows.
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if os.fsencode(folder) in environment.read_bytes():
                os.kill(int(environment.parent.name), signal.SIGKILL)


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
    """Return the first program that is installed, on the path or beside this Python; raises `MissingToolError`."""
    folders = os.pathsep.join((os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)))
    found = next((path for name in names if (path := shutil.which(name, path=folders))), None)
    if found is None:
        raise MissingToolError(f"`{names[0]}` is not installed: {advice}")
    return found
