"""Python programs as processes that begin at once: one process that has loaded what they need forks for each of them.

A call is a process of its own as before, with its directory, environment and pipes. It does without the start of an
interpreter, imports, and the compilation of a text that was called before. That takes ten times as long as most
calls. What is about the start of a process, about signals to a group, or about what others see of a process (its words,
its environment in `/proc`) begins as a real one.
"""

import atexit
import fcntl
import json
import os
import resource
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from tests.support import interpreters
from tests.support.starts import announce
from tests.support.warm.started import Started, number

SERVER = Path(__file__).with_name("server.py")
STEPS = Path(__file__).with_name("steps.py")

FORKS = Path("/proc/self/fd").exists()
"""Whether a process can see what a caller was given; where it cannot, as on macOS, each call is a real start."""

CALL = """\
#!/bin/sh
{1}
mkfifo "{0}/$$" && exec 3<&0 4>&1 5<> "{0}/$$" && echo $$ > {0}/calls && read -r code <&5
exit "${{code:-126}}"
"""
"""What a runner starts, or make. Its words are the command that loads a program, and those of the command.

The files of a shell change while it redirects, so what the process takes over has other numbers."""

ONLY_PROGRAMS = 'case "$1 $2" in "-I rdc/"*.py | "-I "*/rdc/*.py) ;; *) exec "{0}" "$@" ;; esac'
"""What begins in the usual way where this is the `python3` of make: all but the programs of Makefiles."""

SHASUM, SHA256SUM = "/usr/bin/env -i /usr/bin/shasum -a 256)", "/usr/bin/env -i /usr/bin/sha256sum)"
"""How a step computes a hash, and how it does that here."""

RUNS_ARE_FORKED = """\
import subprocess

from tests.support.warm.forks import Forked

subprocess.Popen = Forked
"""

DECIDED_AT_THE_START = ("PYTHON", "LC_", "LANG", "TZ")
"""What an interpreter looks at once, when it begins: variables whose names begin so."""


def run(
    words: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    input: bytes = b"",  # noqa: A002 (the name that `subprocess.run` has for it)
    timeout: float = 60.0,
    loads: str = "",
    seconds: int = 0,
) -> subprocess.CompletedProcess[bytes]:
    """Call a program to its end, as `subprocess.run` does that captures its output.

    The words are `python [-S] SCRIPT …` or `python -m rdc …` with the interpreter that runs the tests; all others begin
    a process in the usual way, though what a Makefile calls is forked (`forking`). Without input there is nothing to
    read. `loads` is `runtime_shim` or `dbos` where a script imports that. `seconds` is the most that it may take of a
    processor.
    """
    announce(str(words[0]))
    command, environment = [str(word) for word in words], dict(os.environ if env is None else env)
    if command[0] != sys.executable:
        begins = forking(environment) if command[0] == "make" else environment
        return subprocess.run(
            command, cwd=cwd, env=begins, input=input, capture_output=True, timeout=timeout, check=False
        )
    options, request, begun = _asked(command, cwd, environment, seconds)
    channel = _kept(threading.get_ident(), options, "rdc" if request["words"][0] == "-m" else loads, begun)
    with _given(input) as file:
        process = _piped(channel, request, file, is_kept=True)
    try:
        out, err = process.output(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise
    finally:
        process.close()
    return subprocess.CompletedProcess(request["words"], process.wait(), out, err)


def start(
    words: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str], loads: str = "", terminal: int | None = None,
    log: Path | None = None,
) -> Started:  # fmt: skip
    """Begin a program that `run` would fork, and go on.

    There is nothing to read for it. It has pipes of its own, or a terminal with this number that it controls, or it
    writes to the end of a file and leads a process group.
    """
    announce(str(words[0]))
    options, request, begun = _asked([str(word) for word in words], cwd, dict(env), 0)
    channel = _connected(options, "rdc" if request["words"][0] == "-m" else loads, dict(begun))
    if terminal is not None:
        _send(channel, {**request, "controls": True}, [terminal] * 3)
        return Started(request["words"], channel, number(channel))
    if log:
        with _given(b"") as file, log.open("ab") as output:
            _send(channel, {**request, "leads": True}, [file.fileno(), output.fileno(), output.fileno()])
        return Started(request["words"], channel, number(channel))
    with _given(b"") as file:
        return _piped(channel, request, file)


def _piped(channel: socket.socket, request: Mapping[str, Any], file: IO[bytes], *, is_kept: bool = False) -> Started:
    """Ask for a call that reads from a file and writes into pipes; the channel is kept for others, or not."""
    (out, to_out), (err, to_err) = os.pipe(), os.pipe()
    try:
        _send(channel, request, [file.fileno(), to_out, to_err])
    finally:
        os.close(to_out)
        os.close(to_err)
    return Started(request["words"], channel, number(channel), (out, err), is_kept=is_kept)


def _asked(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], seconds: int
) -> tuple[tuple[str, ...], dict[str, Any], frozenset[tuple[str, str]]]:
    """The options of an interpreter, what to ask its server for, and the variables that it begins with."""
    options = tuple(word for word in command[1:2] if word == "-S")
    begun = frozenset(
        (name, value)
        for name, value in environment.items()
        if name.startswith(DECIDED_AT_THE_START) and name != "PYTHONPATH"
    )
    words = [*command[1 + len(options) :]]
    return options, {"words": words, "cwd": str(cwd), "environment": environment, "limits": _limits(seconds)}, begun


def _send(channel: socket.socket, asked: Mapping[str, Any], files: Sequence[int]) -> None:
    """Ask a process that forks for a call."""
    request = json.dumps(asked).encode()
    socket.send_fds(channel, [len(request).to_bytes(8, "big")], files)
    channel.sendall(request)


def _limits(seconds: int) -> dict[int, tuple[int, int]]:
    """The limits of this process, which those that it begins have too, and one of their time."""
    numbers = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
    limits = {number: resource.getrlimit(number) for number in numbers}
    return {**limits, resource.RLIMIT_CPU: (seconds, seconds)} if seconds else limits


@contextmanager
def _given(text: bytes) -> Iterator[IO[bytes]]:
    """A file to read from."""
    if not text:
        with Path(os.devnull).open("rb") as file:
            yield file
        return
    with tempfile.TemporaryFile() as file:
        file.write(text)
        file.seek(0)
        yield file


@cache
def _kept(thread: int, options: tuple[str, ...], loads: str, environment: frozenset[tuple[str, str]]) -> socket.socket:
    """A channel to a process that forks for each call, itself a fork: one for each thread and for each way to begin."""
    channel = _connected(options, loads, dict(environment))
    atexit.register(channel.close)
    return channel


def _connected(options: Sequence[str], loads: str, environment: Mapping[str, str]) -> socket.socket:
    """A channel to a fork of the process that has loaded this, which the first worker that needs it starts."""
    name = sha256(repr((options, loads, sorted(environment.items()))).encode()).hexdigest()[:16]
    place = Path(os.environ[interpreters.HOME]) / name
    channel = socket.socket(socket.AF_UNIX)
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(OSError):
            channel.connect(str(place))
            return channel
        with socket.socket(socket.AF_UNIX) as listener:
            place.unlink(missing_ok=True)
            listener.bind(str(place))
            listener.listen(64)
            _load(options, loads, environment, listener)
        channel.connect(str(place))
    return channel


def _load(options: Sequence[str], loads: str, environment: Mapping[str, str], listener: socket.socket) -> None:
    """Start a process that loads this; it lasts as long as its standard input, and so as this process."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(DECIDED_AT_THE_START)}
    process = subprocess.Popen(
        [sys.executable, *options, str(SERVER), str(listener.fileno()), interpreters.kept_code(), loads],
        env={**inherited, **environment},
        pass_fds=[listener.fileno()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,  # as programs have: an interpreter looks what it is. Nothing is written there
    )
    atexit.register(_end_loaded, process, os.getpid())


def _end_loaded(process: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() == owner and process.stdin:
        process.stdin.close()  # what it has forked may live on after a test that failed
        process.wait()


def forked_steps(workflow: str, python: str = "/usr/bin/python3") -> str:
    """A workflow whose steps have `steps.py` fork for the program that they call by this interpreter.

    They compute its hash by `sha256sum`: `shasum` is a program in Perl that takes ten times as long.
    """
    if not FORKS:
        return workflow
    return workflow.replace(SHASUM, SHA256SUM).replace(
        f"exec {python} -I - ", f"exec {_steps(os.getpid(), '', '-I', '-S') / 'call'} - "
    )


def forked_program(words: Sequence[str]) -> list[str]:
    """The words of a process that has a script forked, from those of `python SCRIPT …`."""
    return [str(_steps(os.getpid(), "") / "call"), *words[1:]] if FORKS else [*words]


def rdc_for_shells() -> str:
    """The words of a shell script that is `rdc`, and is forked. What is about signals begins as a real process."""
    return f'exec {shlex.join(_rdc("rdc"))} "$@"'


def rdc_for_hosts(fault: str) -> list[str]:
    """The words of an `rdc` that is forked, as hosts of agents start it. The runs that it starts are forked too.

    `fault` is Python that runs in the server first. What ends a server or a call of it begins by `forks`. That takes a
    third longer, because a worker of the tests has more memory to copy.
    """
    return _rdc("agents", f"{RUNS_ARE_FORKED}{fault}")


def rdc_for_runs() -> str:
    """An `rdc` that is forked, as the start of a command of a run, such as its agent."""
    return shlex.join(["sh", "-c", rdc_for_shells(), "rdc"])


def _rdc(loads: str, first: str = "") -> list[str]:
    """The words of an `rdc` that is forked, after some lines of Python."""
    folder = _steps(os.getpid(), loads)
    script = folder / "run" / f"rdc{sha256(first.encode()).hexdigest() * bool(first)}.py"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"{first}\nfrom rdc.__main__ import start\n\nstart()\n", encoding="utf-8")
    return [str(folder / "call"), str(script)]


def forking(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment for make in which the programs that Makefiles call are forked by `steps.py`.

    It is left as it is where it decides how an interpreter begins, or which one.
    """
    decided = ("PATH", *DECIDED_AT_THE_START)
    theirs, ours = ({name: one[name] for name in one if name.startswith(decided)} for one in (environment, os.environ))
    if theirs != ours or not FORKS:
        return dict(environment)
    return {**environment, "PATH": f"{_steps(os.getpid(), '', '-I') / 'bin'}{os.pathsep}{environment['PATH']}"}


@cache
def _steps(process: int, loads: str, *options: str) -> Path:
    """The folder of a process that forks: one for each worker, also for those that are forked, and for each start."""
    folder = Path(tempfile.mkdtemp(prefix="rdc-steps-", dir=os.environ[interpreters.HOME]))
    os.mkfifo(folder / "calls")
    (folder / "bin").mkdir()
    python = shutil.which("python3") or ""
    for name, text in (("call", ""), ("bin/python3", ONLY_PROGRAMS.format(python))):
        (folder / name).write_text(CALL.format(folder, text), encoding="utf-8")
        (folder / name).chmod(0o755)
    if loads:
        _, request, begun = _asked([python], folder, dict(os.environ), 0)
        channel = _connected(options, loads, dict(begun))
        with _given(b"") as nothing:
            _send(channel, {**request, "steps": str(folder)}, [nothing.fileno()] * 3)
        atexit.register(_end_steps, channel.close, folder, os.getpid())
        return folder
    start = f"import sys; sys.path.append({str(STEPS.parent)!r}); import steps; steps.main(*sys.argv[1:])"
    words = [python, *options, "-c", start, str(folder), interpreters.kept_code()]
    server = subprocess.Popen(words, stdin=subprocess.PIPE)
    atexit.register(_end_steps, server.communicate, folder, os.getpid())
    return folder


def _end_steps(end: Callable[[], object], folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # a process that a test forked is not the last that needs it
        end()
        shutil.rmtree(folder, ignore_errors=True)
