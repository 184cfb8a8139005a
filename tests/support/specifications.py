"""Specifications for tests, compiled as a user's are, and called as processes."""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from backends.python.step_calls import author_calls
from compiler.driver import Settings, compile_file
from compiler.ir.program import Program
from compiler.passes import optimize
from tests.support import warm
from tests.support.process import ROOT, SCRIPT


def program_of(document: object, folder: Path) -> Program:
    """The program of a document, which is written as JSON."""
    path = folder / "specs.stepspec.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    (folder / "rdc.toml").touch()
    found = compile_file(str(path), Settings())
    assert found.program is not None, found.diagnostics
    return found.program


def table_of(document: object, folder: Path) -> dict[str, Any]:
    """What the engine runs."""
    return author_calls(optimize(program_of(document, folder))).built()


class CommandResult(NamedTuple):
    """The exit code of a call, and what it said."""

    code: int
    out: str
    err: str


class Place:
    """A folder with a compiled program."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.folder, self._program = folder, program

    def __call__(self, *words: str) -> CommandResult:
        done = warm.run([sys.executable, self._program, *words], cwd=self.folder, loads="runtime_shim")
        result = CommandResult(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in result.err
        return result

    def record(self, name: str) -> Any:
        (path,) = self.folder.glob(f".rdc/*/run-*/{name}.json")
        return json.loads(path.read_text(encoding="utf-8"))

    def statuses(self) -> list[str]:
        return [step["status"] for step in self.record("manifest")["steps"]]


def compiled_to(folder: Path, document: object) -> Path:
    """The compiled program of a document, in a folder; it imports the runtime, which a file that people get has."""
    path = folder / "program.py"
    table = author_calls(optimize(program_of(document, folder), jumps=False)).built()
    found = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n"
    path.write_text(SCRIPT.format(program=table).replace("import sys\n", found, 1), encoding="utf-8")
    return path
