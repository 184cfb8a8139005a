"""Many calls of a generated Python file: it is loaded once, and each call is a fork of that process.

Run as a script, this is the process: it reads a list of words for each call, as JSON lines, and answers each with the
exit code and what was said.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

TRACEBACK = 70
"""The exit code of a call that raised an exception."""


class CommandResult(NamedTuple):
    """What came of a call."""

    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line on standard error."""
        return (self.err.splitlines() or [""])[-1]


class Calls:
    """A generated file that is called again and again, in its folder."""

    def __init__(self, script: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(script)],
            cwd=script.parent,
            env={**os.environ, "PYTHONUTF8": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate(timeout=20)

    def __call__(self, *words: str) -> CommandResult:
        """Call the file with these words."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        return CommandResult(*json.loads(self._process.stdout.readline()))


def serve(script: str) -> None:
    """Answer call after call."""
    program = runpy.run_path(script)
    for line in sys.stdin:
        paths = [Path(f".{name}") for name in ("out", "err")]
        child = os.fork()
        if not child:
            os._exit(perform(program, script, json.loads(line), paths))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps([code, *(path.read_text(encoding="utf-8") for path in paths)]), flush=True)


def perform(program: dict[str, Any], script: str, words: list[str], paths: list[Path]) -> int:
    """Call the program in this process, which ends then."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in enumerate(paths, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.argv = [script, *words]
    try:
        code: int = program["main"](program["built"](program["runbook"], program["EXTENSIONS"]), program["EXTENSIONS"])
    except BaseException:  # noqa: BLE001 (that none gets here is what is tested)
        traceback.print_exc()
        code = TRACEBACK
    sys.stdout.flush()
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    serve(sys.argv[1])
