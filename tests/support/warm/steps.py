"""Programs that runners and make call, as processes that begin at once: one process forks for each of them.

They start a shell script instead of the interpreter. The script tells the process its number and waits; the process
forks a child that takes over the words, the environment, the folder and the files of the script, as `/proc` shows them.
It has loaded what programs import, and compiled the texts that a program consists of. So a call takes a fourth of the
time. What looks at the process itself, as by `/proc/$PPID/environ`, has to begin as a real one.

Run as a script it is that process; its words are a folder, and the one of code that is kept.
"""

from __future__ import annotations

import builtins
import gc
import hashlib
import os
import re
import selectors
import signal
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, NamedTuple, NoReturn

if TYPE_CHECKING:
    from tests.support.warm import codes
else:
    import codes  # stands beside this script

STANDARD = (
    *("datetime", "difflib", "encodings.ascii", "encodings.utf_8_sig", "fcntl", "getpass", "gzip", "hashlib", "json"),
    *("math", "select", "shlex", "shutil", "subprocess", "tarfile", "tempfile", "termios", "threading"),
    "urllib.request",
)
"""Of the standard library, what programs import; it says nothing about a program that it finds them loaded."""

EMPTY, FILLED = b'ModuleType("rdc_runtime")', b"runtime_of(RUNTIME)"
"""How a program makes the module of a runtime beside it, and how it gets one that has its definitions already."""

HASH = re.compile(rb'"(rdc_\w+\.py)": "(\w{64})"')
"""What a program knows of a file of its runtime."""


class Texts:
    """The code of programs and of the texts beside them, and the modules that these fill."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._codes: dict[bytes, CodeType] = {}
        self._compile = builtins.compile
        self._modules: dict[tuple[str, ...], tuple[ModuleType, frozenset[bytes]]] = {}
        self._done: frozenset[bytes] = frozenset()

    def load(self, name: str, folder: Path) -> None:
        """Compile what a program consists of, unless it is known, and run the definitions of its runtime."""
        program = Path(folder, name)
        with suppress(OSError, SyntaxError, ValueError):
            text = program.read_bytes()
            self._load(text, str(program))
            hashes = {known[1].decode(): known[2].decode() for known in HASH.finditer(text)}
            if EMPTY in text and hashes and tuple(hashes.values()) not in self._modules:
                self._fill(program.parent, hashes)

    def _load(self, text: bytes, path: str) -> CodeType:
        if text not in self._codes:
            own = text.replace(EMPTY, FILLED) if codes.BESIDE in text else text
            self._codes[text] = codes.compiling(self._folder)(own, path, "exec")
        return self._codes[text]

    def _fill(self, folder: Path, hashes: Mapping[str, str]) -> None:
        """Make a module for the files that have these hashes; a program refuses others."""
        texts = {folder / name: Path(folder, name).read_bytes() for name in hashes}
        if [hashlib.sha256(text).hexdigest() for text in texts.values()] != [*hashes.values()]:
            return
        module = sys.modules["rdc_runtime"] = ModuleType("rdc_runtime")
        with suppress(Exception):  # which the program meets itself
            for path, text in texts.items():
                exec(self._load(text, str(path)), module.__dict__)
            self._modules[tuple(hashes.values())] = module, frozenset(texts.values())
        del sys.modules["rdc_runtime"]

    def runtime_of(self, hashes: Mapping[str, str]) -> ModuleType:
        """The module for files with these hashes; it is empty where none of them was loaded."""
        module, self._done = self._modules.get(tuple(hashes.values())) or (ModuleType("rdc_runtime"), frozenset())
        return module

    def compile(self, text: object, path: str, mode: str, *more: object, **named: object) -> object:
        """Is `compile`, and knows what was loaded; only a traceback would show that its path was another."""
        if not isinstance(text, bytes) or mode != "exec":
            return self._compile(text, path, mode, *more, **named)  # type: ignore[call-overload]  # passed on
        if text in self._done:
            return self._compile("", path, mode)
        return self._codes.get(text) or self._compile(text, path, mode, *more, **named)  # type: ignore[call-overload]


class Call(NamedTuple):
    """A caller that waits and the child that runs for it, with a file for each that tells when it has ended."""

    caller: str
    child: int
    caller_ends: int
    child_ends: int


def serve(folder: Path, texts: Texts) -> tuple[str, list[str], dict[str, str]]:
    """Fork for each call. It returns in each child: the number of the caller, its words and its environment."""
    calls = os.open(folder / "calls", os.O_RDWR)  # always open for writing, so reading never ends
    with selectors.DefaultSelector() as selector:
        selector.register(calls, selectors.EVENT_READ)
        selector.register(0, selectors.EVENT_READ)  # at its end the tests have ended
        for caller in callers(selector, folder, calls):
            try:
                words, environment = asked(caller)
                texts.load(words[words[0] == "-"], Path("/proc", caller, "cwd"))
                ends = os.pidfd_open(int(caller))
            except (OSError, ValueError):  # it was killed meanwhile
                (folder / caller).unlink(missing_ok=True)
                continue
            child = os.fork()
            if not child:
                return caller, words, environment
            watch(selector, Call(caller, child, ends, os.pidfd_open(child)))
    raise AssertionError


def callers(selector: selectors.BaseSelector, folder: Path, calls: int) -> Iterator[str]:
    """The numbers of callers as they come, without end; those that wait are answered in between."""
    while True:
        for key, _ in selector.select():
            if key.fd == 0:
                end_all(selector)
            elif key.fd == calls:
                yield from os.read(calls, 4096).decode().split()
            else:
                look(selector, folder, key)


def watch(selector: selectors.BaseSelector, call: Call) -> None:
    """Hear when the child or its caller ends."""
    for file in (call.caller_ends, call.child_ends):
        selector.register(file, selectors.EVENT_READ, call)


def look(selector: selectors.BaseSelector, folder: Path, key: selectors.SelectorKey) -> None:
    """End the child of a caller that has ended, or tell a caller how its child has ended."""
    call: Call = key.data
    if key.fd not in selector.get_map():  # both have ended
        return
    selector.unregister(key.fd)
    if key.fd == call.caller_ends:
        kill(call.child)
        return
    if call.caller_ends in selector.get_map():
        selector.unregister(call.caller_ends)
    answer(folder / call.caller, call)


def kill(child: int) -> None:
    """Kill a child and what it has begun; one that is not yet in a session of its own has begun nothing."""
    for send, number in ((os.killpg, child), (os.kill, child)):
        with suppress(ProcessLookupError):
            send(number, signal.SIGKILL)


def end_all(selector: selectors.BaseSelector) -> NoReturn:
    """Kill the children that run, and end."""
    for key in selector.get_map().values():
        if key.data and key.fd == key.data.child_ends:
            kill(key.data.child)
    os._exit(0)


def asked(caller: str) -> tuple[list[str], dict[str, str]]:
    """The words of a call behind the name of the script, and its environment."""
    _, _, *words = os.fsdecode(Path("/proc", caller, "cmdline").read_bytes()).split("\0")[:-1]
    words = words[words[0] == "-I" :]  # as this process was started
    pairs = os.fsdecode(Path("/proc", caller, "environ").read_bytes()).split("\0")[:-1]
    return words, dict(pair.split("=", 1) for pair in pairs)


def answer(place: Path, call: Call) -> None:
    """Tell a caller how its child has ended."""
    os.close(call.caller_ends)
    os.close(call.child_ends)
    status = os.waitstatus_to_exitcode(os.waitpid(call.child, 0)[1])
    with suppress(OSError):  # nobody waits any more
        file = os.open(place, os.O_WRONLY | os.O_NONBLOCK)
        os.write(file, b"%d\n" % (status if status >= 0 else 128 - status))
        os.close(file)
    place.unlink()


def begin(caller: str, environment: dict[str, str]) -> None:
    """Be the process that a caller asks for."""
    os.setsid()
    for number, theirs in enumerate((3, 4, 2)):
        file = os.open(f"/proc/{caller}/fd/{theirs}", flags_of(caller, theirs) | os.O_NOCTTY)
        if stat.S_ISREG(os.fstat(file).st_mode) and number == 0:
            os.lseek(file, position_of(caller, theirs), os.SEEK_SET)
        os.dup2(file, number)
        os.close(file)
    os.chdir(f"/proc/{caller}/cwd")
    codes.take_environment(environment)


def flags_of(caller: str, number: int) -> int:
    """How to open a file of a caller: behind what is there, if that is to be written."""
    is_file = stat.S_ISREG(Path(f"/proc/{caller}/fd/{number}").stat().st_mode)
    return os.O_RDONLY if number == 3 else os.O_WRONLY | (os.O_APPEND if is_file else 0)


def position_of(caller: str, number: int) -> int:
    """How far a file of a caller is read."""
    return int(Path(f"/proc/{caller}/fdinfo/{number}").read_text(encoding="utf-8").split()[1])


def perform(words: list[str]) -> None:
    """Run a script as `python3` or `python3 -I` does, or standard input as `python3 -I -` does, and end."""
    program = ModuleType("__main__")
    program.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = program
    if words[0] == "-":
        sys.argv = words
        codes.run([compile(sys.stdin.buffer.read(), "<stdin>", "exec", dont_inherit=True)], program)
    path = os.path.join(os.getcwd(), words[0])  # noqa: PTH109, PTH118 (pathlib takes `./` away)
    sys.argv = words
    if not sys.flags.isolated:
        sys.path[0] = str(Path(path).resolve().parent)
    program.__dict__["__file__"] = path
    code = compile(Path(path).read_bytes(), path, "exec")
    codes._imp._fix_co_filename(code, path)  # type: ignore[attr-defined]  # it was loaded by another path
    codes.run([code], program)


def main(folder: str, stored: str) -> None:
    """Serve, if need be in a process that has loaded more; a child goes on as an interpreter that has just begun."""
    for name in STANDARD:
        import_module(name)
    texts = Texts(stored)
    gc.freeze()
    caller, words, environment = serve(Path(folder), texts)
    gc.disable()  # a call ends soon
    begin(caller, environment)
    builtins.compile = texts.compile  # type: ignore[assignment]  # which has overloads
    builtins.__dict__["runtime_of"] = texts.runtime_of
    perform(words)


if __name__ == "__main__":
    main(*sys.argv[1:])
