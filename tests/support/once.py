"""What takes long to make is made once: the first process that needs it makes it, the others wait for it.

All workers of a run of the tests share one folder; it goes with the run.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

VARIABLE = "TESTS_SHARED_FOLDER"


def begin(config: pytest.Config) -> None:
    """Make the folder of this run, which workers inherit; `make test` makes one for its two runs."""
    if VARIABLE not in os.environ:
        os.environ[VARIABLE] = tempfile.mkdtemp(prefix="rdc-tests-")
        config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(VARIABLE), ignore_errors=True))


def shared(name: str, make: Callable[[Path], object]) -> Path:
    """Return the folder of this name; `make` fills it, once in a run."""
    folder = Path(os.environ[VARIABLE]) / name
    once(folder, lambda: make(folder))
    return folder


@contextmanager
def first(name: str) -> Iterator[None]:
    """Let one process go ahead; the others wait for it, then all go on together."""
    ready = Path(os.environ[VARIABLE]) / f"{name}.ready"
    with ready.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if ready.exists():
            fcntl.flock(lock, fcntl.LOCK_UN)
        yield
        ready.touch()


def once(folder: Path, make: Callable[[], object]) -> None:
    """Make what is in a folder, unless that was done before."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    ready = folder.with_name(f"{folder.name}.ready")
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            folder.mkdir(exist_ok=True)
            make()
            ready.touch()
