"""The process that forks for each call; see the package. It is run as a script and imports nothing of the tests.

Its words: the number of a socket that listens, the folder of code that is kept, and the name of what it is to load, if
anything. It forks for each connection until its standard input ends, and each fork forks for each request. A request is
a length, three files (standard input, output and error), and as many bytes of JSON. The answers are the child's number,
and how it ended.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fcntl import ioctl
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from termios import TIOCSCTTY
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from rdc.runs.process import Ended
    from tests.support.warm import codes
else:
    import codes  # stands beside this script

ROOT = Path(__file__).resolve().parents[3]

STANDARD = [
    *("argparse", "hashlib", "select", "shlex", "shutil", "signal", "stat", "subprocess", "tempfile"),
    *("datetime", "difflib", "getpass", "importlib.metadata", "sqlite3", "traceback", "urllib.parse"),  # of workers
]
"""Of the standard library, what programs import; it says nothing about a program that it finds them loaded."""

DOCUMENTS = {
    "a.runbook.md": "# A\n\n## 1. B\n\n```bash\ntrue\n```\n",
    "b.playbook.md": "# A\n\n## STEP 1: B\n\nC.\n",
    "c.workflow.yaml": "name: a\nsteps:\n  - {name: b, agent: c, prompt: D., end: true}\n",
}
"""A document of each format whose grammars take their time."""


def load_runtime() -> None:
    """Import all that programs may take of the runtime."""
    from runtime_shim.editions import EDITIONS

    import_module("runtime_shim.cli.command_line")
    for edition in EDITIONS.values():
        edition.kinds()


def load_commands() -> None:
    """Import what the command line imports late."""
    from tempfile import TemporaryDirectory

    from backends.registry import load
    from compiler.driver import compile_file
    from rdc.commands import COMMANDS
    from rdc.commands import load as load_command

    load_runtime()
    import_module("rdc.cli")
    import_module("networkx")  # for documents with loops
    for name in COMMANDS:
        load_command(name)
    with TemporaryDirectory() as folder:
        for name, text in DOCUMENTS.items():
            path = Path(folder, name)
            path.write_text(text, encoding="utf-8")
            program = compile_file(str(path)).program
            if program:
                load("python").emit(program, {})


def load_rdc() -> None:
    """The same for a process that only forks, also for the runs that its children ask."""
    load_commands()
    for name in ("status", "reports"):
        import_module(f"rdc.runs.{name}").__dict__["run_process"] = run_forked


def load_dbos() -> None:
    """Import what a worker imports late."""
    for name in ("dbos._sys_db_sqlite", "sqlalchemy.dialects.sqlite", "sqlalchemy.dialects.postgresql.psycopg"):
        import_module(name)


def load_agents() -> None:
    """Import what the server for agents imports late, also for its runs."""
    load_rdc()
    import_module("tests.support.warm.forks").load(["", "-m", "rdc", "mcp"])


Code = list[CodeType] | SyntaxError | None
"""What a child is to run: a program, or rdc."""

LOADED = {"": lambda: None, "runtime_shim": load_runtime, "rdc": load_rdc, "agents": load_agents, "dbos": load_dbos}


@lru_cache(maxsize=24)
def code_of(text: bytes, path: str) -> list[CodeType] | SyntaxError:
    """A program, compiled once, or why it cannot be."""
    try:
        return codes.code_of(text, path, sys.argv[2])
    except SyntaxError as error:
        return error.with_traceback(None)


def connect(listener: socket.socket) -> socket.socket:
    """Fork for each connection. It returns in each child, with the connection."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    waits: list[socket.socket | int] = [listener, 0]
    while ready := select.select(waits, [], [], None if 0 in waits else 0)[0]:
        if listener not in ready:
            with suppress(OSError):
                Path(listener.getsockname()).unlink()  # so that from now on nobody connects
            waits = [listener]
            continue
        channel = listener.accept()[0]
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            return channel
        channel.close()
    os._exit(0)


def serve(channel: socket.socket) -> tuple[Mapping[str, Any], Code, list[int]]:
    """Answer requests. It returns in each child, with what that is to do and its three files.

    A request for `steps` is the only one: the process itself is to serve them until the tests end.
    """
    while (head := socket.recv_fds(channel, 8, 3))[0]:
        length, files = int.from_bytes(head[0], "big"), head[1]
        request = json.loads(channel.recv(length, socket.MSG_WAITALL))
        if "steps" in request:
            os.dup2(channel.fileno(), 0)
            return request, None, files
        script = request["words"][0]
        path = Path(request["cwd"], script)
        code = None if script == "-m" else code_of(path.read_bytes(), str(path))
        child = os.fork()
        if not child:
            channel.close()
            return request, code, files
        for file in files:
            os.close(file)
        with suppress(OSError):  # nobody waits for it any more
            channel.send(child.to_bytes(8, "big"))
            channel.send(os.waitpid(child, 0)[1].to_bytes(8, "big"))
    os._exit(0)


def begin(request: Mapping[str, Any], files: list[int], path: Sequence[str]) -> None:
    """Be the process that was asked for; `path` is where every interpreter looks for modules."""
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.closerange(3, max(*files, 3) + 1)
    if "controls" in request:
        os.setsid()
        ioctl(0, TIOCSCTTY, 0)
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # as an interpreter has it there
    if "leads" in request:
        os.setpgid(0, 0)
    os.chdir(request["cwd"])
    codes.take_environment(request["environment"])
    given = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    sys.path[1:] = dict.fromkeys([*given, *path])
    for number, limit in request["limits"].items():
        if resource.getrlimit(int(number)) != tuple(limit):
            resource.setrlimit(int(number), limit)


def run_forked(words: Sequence[str], folder: str) -> Ended:
    """Do what `run_process` does, but fork for the run that `rdc status` or `rdc report` asks."""
    from rdc.runs.process import Ended

    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # else the child would write it once more
    with TemporaryFile() as entered, TemporaryFile() as output, TemporaryFile() as messages:
        child = os.fork()
        if not child:
            be_run(words, folder, [file.fileno() for file in (entered, output, messages)])
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        messages.seek(0)
        return Ended(code, output.read(), messages.read().decode(errors="replace"))


def be_run(words: Sequence[str], folder: str, files: Sequence[int]) -> NoReturn:
    """Be the `rdc run` with these words."""
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.chdir(folder)
    perform_whole(["-m", "rdc", "run", "--", *words], None)


def perform(words: list[str], code: Code) -> None:
    """Run the program as the main one."""
    if code is None:
        from rdc.__main__ import __file__ as script
        from rdc.__main__ import start

        sys.argv, sys.path[0] = [script, *words[2:]], str(Path.cwd())
        start()
        return
    if isinstance(code, SyntaxError):
        sys.excepthook(type(code), code, None)
        codes.end(1)
        return
    path, stored = Path(words[0]).absolute(), sys.argv[2]
    sys.argv, sys.path[0] = words, str(path.parent)
    program = ModuleType("__main__")
    program.__dict__.update(__file__=str(path), __builtins__=__builtins__)
    if codes.BESIDE in path.read_bytes():
        program.__dict__["compile"] = codes.compiling(stored)
    sys.modules["__main__"] = program
    codes.run(code, program)


def perform_whole(words: list[str], code: Code) -> NoReturn:
    """Run the program as the main one, and end as an interpreter does."""
    try:
        perform(words, code)
    except SystemExit as ended:
        codes.end(ended.code)
    except BaseException:  # noqa: BLE001 (as an interpreter does)
        sys.excepthook(*sys.exc_info())
        codes.end(1)
    codes.end(None)
    raise AssertionError


def main() -> None:
    """Load what is needed, then serve; a child goes on from there as an interpreter that has just begun."""
    path = sys.path[1:]
    if sys.argv[3]:
        sys.path.insert(1, str(ROOT))
    gc.disable()
    for name in STANDARD:
        import_module(name)
    LOADED[sys.argv[3]]()
    gc.freeze()
    gc.enable()
    request, code, files = serve(connect(socket.socket(fileno=int(sys.argv[1]))))
    if "steps" in request:
        import_module("steps").main(request["steps"], sys.argv[2])
    begin(request, files, path)
    perform_whole(request["words"], code)


if __name__ == "__main__":
    main()
