"""The code of scripts, compiled once for all processes of a run of the tests, and how a process runs it.

To compile a program takes longer than most calls of it, and most of its text is a runtime that is the same in many. So
a program is split where its runtime starts, and the code of each long part is kept in a folder, like the interpreter
keeps the code of modules. It runs in the same place, with the same lines. The server that forks uses this, and so does
the `python3` that comes first on PATH, so this module imports little and nothing of the tests.
"""

import _imp
import atexit
import marshal
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import CodeType, ModuleType

RUNTIME = b"\n# The runtime of rdc "
"""A line above the modules of a runtime starts with this."""

BESIDE = b'return compile(code, self.path, "exec")'
"""What a program does with a runtime in a file of its own."""

LONG = 8_000
"""From so many bytes on a part is stored."""

PLAIN = {"-I", "-B", "-E", "-P", "-s", "-u"}
"""Options that leave a script as it is."""


def code_of(text: bytes, path: str, folder: str) -> list[CodeType]:
    """Return the code of a script, in one or two parts; raise SyntaxError where it has none."""
    start = text.find(RUNTIME) + 1
    if start and b"__future__" not in text[:start]:
        with suppress(SyntaxError):  # such a line stands inside of a string
            return [
                _code_of(text[:start], path, 0, folder),
                _code_of(text[start:], path, text.count(b"\n", 0, start), folder),
            ]
    return [_code_of(text, path, 0, folder)]


def _code_of(part: bytes, path: str, line: int, folder: str) -> CodeType:
    if len(part) < LONG:
        return _placed(compile(part, path, "exec", dont_inherit=True), path, line)
    cached = os.path.join(folder, _imp.source_hash(0, part).hex())  # noqa: PTH118 (pathlib takes longer to import)
    with suppress(OSError, EOFError, ValueError), open(cached, "rb") as file:  # noqa: PTH123
        # To load from the file itself would read it in thousands of pieces.
        return _placed(marshal.loads(file.read()), path, line)
    code = compile(part, path, "exec", dont_inherit=True)
    _keep(code, cached)
    return _placed(code, path, line)


def _keep(code: CodeType, path: str) -> None:
    """Write code for other processes, unless this one may not write."""
    own = f"{path}.{os.getpid()}"
    try:
        with open(own, "xb") as file:  # noqa: PTH123
            file.write(marshal.dumps(code))
        os.replace(own, path)  # noqa: PTH105
    except OSError:
        with suppress(OSError):
            os.unlink(own)  # noqa: PTH108


def _placed(code: CodeType, path: str, line: int) -> CodeType:
    """Return code as if it were compiled in a file behind so many lines."""
    if not line:
        _imp._fix_co_filename(code, path)  # type: ignore[attr-defined]  # as the interpreter does for modules
        return code
    constants = tuple([_placed(each, path, line) if isinstance(each, CodeType) else each for each in code.co_consts])
    return code.replace(co_filename=path, co_firstlineno=code.co_firstlineno + line, co_consts=constants)


def compiling(folder: str) -> Callable[[bytes, str, str], CodeType]:
    """Return the `compile` of a program that has its runtime beside it and compiles that itself."""

    def compiled(text: bytes, path: str, mode: str) -> CodeType:
        assert mode == "exec"
        return _code_of(text, path, 0, folder)

    return compiled


def start(folder: str) -> None:
    """Run the script that this interpreter starts with and end, if its code is worth keeping."""
    script = sys.argv[0]
    options = sys.orig_argv[1 : sys.orig_argv.index(script)] if script in sys.orig_argv else [script]
    if not PLAIN.issuperset(options) or script in {"", "-", "-c", "-m"} or not os.path.isfile(script):  # noqa: PTH113
        return
    with suppress(OSError, SyntaxError):  # the interpreter reports these itself
        with open(script, "rb") as file:  # noqa: PTH123
            text = file.read()
        main = sys.modules["__main__"]
        if BESIDE in text:
            main.__dict__["compile"] = compiling(folder)
        if len(text) < LONG:
            return
        path = os.path.abspath(script)  # noqa: PTH100
        codes = code_of(text, path, folder)
        main.__file__ = path
        if not (sys.flags.isolated or sys.flags.safe_path):
            sys.path.insert(0, os.path.dirname(os.path.realpath(script)))  # noqa: PTH120
        run(codes, main)


def take_environment(environment: Mapping[str, str]) -> None:
    """Have an environment, as a process has that begins; LC_CTYPE is what the interpreter made of it (PEP 538)."""
    coerced = {name: value for name, value in os.environ.items() if name == "LC_CTYPE"}
    os.environ.clear()
    os.environ.update({**coerced, **environment})


def run(codes: list[CodeType], main: ModuleType) -> None:
    """Run code as the main module, and end this process like an interpreter does."""
    try:
        for code in codes:
            exec(code, main.__dict__)
    except SystemExit as ended:
        end(ended.code)
    except BaseException as error:  # noqa: BLE001 (an interpreter does the same)
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
        sys.excepthook(type(error), error, error.__traceback__)
        end(1, is_interrupted=isinstance(error, KeyboardInterrupt))
    end(None)


def end(code: object, *, is_interrupted: bool = False) -> None:
    """End like an interpreter, but leave the loaded modules alone: to take them apart would copy them."""
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()  # waits for threads
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    if is_interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code & 0xFF if isinstance(code, int) else int(code is not None))
