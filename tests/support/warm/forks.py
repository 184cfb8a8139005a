"""Children that are `rdc` and begin at once: this process forks, since it has loaded what `rdc` imports.

Such a child is one like any other: its parent sends it signals, waits for it, and has its pipes. So this is for what
runs in the background, while `run` of the package is for a call. What depends on the start of an interpreter begins as
a real process: other options, a limit, or a variable that an interpreter looks at.
"""

import asyncio
import atexit
import contextvars
import gc
import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

from rdc import __main__
from tests.support.starts import announce
from tests.support.warm import DECIDED_AT_THE_START, FORKS, codes

LATE = {
    "mcp": ("rdc.agents.server", "anyio._backends._asyncio"),
    "lsp": ("rdc.lsp.server",),
    "tool-call": ("rdc.calls.mcp_client",),
}
"""What commands import only when they run."""

NAMES = (
    *("executable", "preexec_fn", "close_fds", "pass_fds", "cwd", "env", "startupinfo", "creationflags", "shell"),
    *("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite", "restore_signals", "gid", "gids", "uid"),
    *("umask", "start_new_session", "process_group"),
)
"""What `subprocess` decides about a child, behind its words."""

RESET = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGCHLD, signal.SIGWINCH)


class Forked(subprocess.Popen[Any]):
    """A process of `subprocess` that is forked where its words are `python -m rdc …` or `python -c TEXT …`."""

    def _execute_child(self, args: Any, *decided: Any) -> None:
        given = dict(zip(NAMES, decided, strict=True))
        words = [os.fsdecode(word) for word in ([args] if isinstance(args, str | bytes | os.PathLike) else args)]
        unusual = given["shell"] or given["preexec_fn"] or given["pass_fds"] or not Path(given["cwd"] or "").is_dir()
        if unusual or not can_fork(words, given["env"]):
            super()._execute_child(args, *decided)  # type: ignore[misc]  # which all processes go through
            return
        load(words)
        announce(words[0])
        self.pid = os.fork()
        if not self.pid:
            become(
                words,
                given["cwd"],
                given["env"],
                (given["p2cread"], given["c2pwrite"], given["errwrite"]),
                is_alone=given["start_new_session"],
            )
        self._child_created = True
        pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(given[name] for name in pipes))  # type: ignore[attr-defined]


@contextmanager
def forking() -> Iterator[None]:
    """Fork whenever this process starts `rdc`, and where its children do."""
    with patch.object(subprocess, "Popen", Forked):
        yield


def can_fork(words: Sequence[str], env: Mapping[str, str] | None) -> bool:
    """Whether these words begin `rdc` in an environment that an interpreter begins with as this one has."""
    rest = words[2:] if words[1:2] == ["-P"] else words[1:]
    if not FORKS or words[0] != sys.executable or not (rest[:2] == ["-m", "rdc"] or rest[:1] == ["-c"]):
        return False
    theirs, ours = ({**begun(one), "PYTHONPATH": ""} for one in (os.environ if env is None else env, os.environ))
    return theirs == ours


def begun(env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables that an interpreter looks at when it begins."""
    return {name: env[name] for name in env if name.startswith(DECIDED_AT_THE_START)}


def load(words: Sequence[str]) -> None:
    """Import what a command imports, once for all its children."""
    _load("")
    for word in words[3:5]:
        _load(word)


@cache
def _load(command: str) -> None:
    if not command:
        sys.modules.setdefault("codes", codes)  # which stands beside the script that the server is
        import_module("tests.support.warm.server").load_commands()
        gc.freeze()
    for name in LATE.get(command, ()):
        import_module(name)
        gc.freeze()


def become(
    words: Sequence[str], cwd: Any, env: Mapping[str, str] | None, files: Sequence[int] = (), *, is_alone: bool = False
) -> NoReturn:
    """Be what the words begin, in a child of this process: with its folder, environment and files, and to its end."""
    try:
        atexit._clear()  # what this process does at its end is not the child's
        if is_alone:
            os.setsid()
        _begin(files)
        if cwd is not None:
            os.chdir(cwd)
        if env is not None:
            codes.take_environment(env)
        contextvars.Context().run(_perform, words)
    except SystemExit as ended:
        codes.end(ended.code)
    except BaseException:  # noqa: BLE001 (as an interpreter does)
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(1)


def _begin(files: Sequence[int]) -> None:
    """Take over the files, and forget what this process has made of signals, streams and errors."""
    for number, file in enumerate(files):
        if file not in (-1, number):
            os.dup2(file, number)
    os.closerange(3, 1 << 16)
    signal.set_wakeup_fd(-1)
    for number in RESET:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    asyncio._set_running_loop(None)
    tempfile.tempdir = None
    sys.excepthook, sys.unraisablehook = sys.__excepthook__, sys.__unraisablehook__
    threading.excepthook = threading.__excepthook__
    for name, number, mode in (("stdin", 0, "rb"), ("stdout", 1, "wb"), ("stderr", 2, "wb")):
        raw = open(number, mode, -1 if number < 2 else 0, closefd=False)  # noqa: SIM115
        if number < 2:
            stream = io.TextIOWrapper(raw, "utf-8", line_buffering=os.isatty(number))
        else:
            stream = io.TextIOWrapper(raw, "utf-8", "backslashreplace", line_buffering=True, write_through=True)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _perform(words: Sequence[str]) -> None:
    is_safe = words[1] == "-P"
    how, what, *rest = words[1 + is_safe :]
    sys.argv = [__main__.__file__ if how == "-m" else how, *rest]
    if not is_safe:
        sys.path = [str(Path.cwd()) if how == "-m" else "", *sys.path]
    if how == "-m":
        __main__.start()
    exec(what, {"__name__": "__main__"})
    codes.end(None)
