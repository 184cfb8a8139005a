"""Folders with a generated program of any format in them, for the Python target and for the Make target."""

import os
import sys
from pathlib import Path

from backends.registry import load
from compiler.driver import compile_file
from tests.support import warm
from tests.support.cli import Result
from tests.support.cli import document as write

PATIENCE = 30.0
FLOW = """\
# Flow
## 1. One
```bash
echo one >> log
```
## 2. Look
Is it good?
- YES: CONTINUE
- NO: STOP
## 3. Three
```bash
echo three >> log
```
- PASS: COMPLETE "Out it goes"
"""
PLAIN = "# Plain\n\n## 1. One\n\n```sh\necho one >> log\n```\n\n## 2. Three\n\n```sh\necho three >> log\n```\n"


class CommandResult(Result):
    @property
    def last(self) -> str:
        return (self.err.splitlines() or [""])[-1]


def environment(**more: str) -> dict[str, str]:
    """The environment without what make, which runs these tests, and rdc put there."""
    hidden = ("RDC_", "MAKE", "MFLAGS")
    return {**{name: value for name, value in os.environ.items() if not name.startswith(hidden)}, **more}


ENDINGS = {"runbook": "runbook.md", "playbook": "playbook.md", "workflow": "workflow.yaml", "spec": "stepspec.yaml"}


class Place:
    """A folder with a document and its Python program or Makefile, both called `main`, which is called as a process."""

    def __init__(
        self, folder: Path, document: str, target: str = "python", kind: str = "runbook", **options: object
    ) -> None:
        self.folder, self.target = folder, target
        write(folder, "rdc.toml", "")
        compilation = compile_file(str(write(folder, f"main.{ENDINGS[kind]}", document)))
        assert compilation.program, compilation.diagnostics
        emission = load(target).emit(compilation.program, options)
        assert emission.text, emission.diagnostics
        self.script = folder / {"make": "Makefile", "python": "main.py"}[target]
        self.script.write_text(emission.text, encoding="utf-8")
        self.script.chmod(0o755)
        for companion in emission.companions:
            write(folder, companion.path, companion.text)
        is_native = target == "make" and not emission.companions
        self.state = folder / ".rdc" / ("main.make" if is_native else "main")
        self.journal = self.state / "journal"

    @property
    def command(self) -> list[str]:
        return ["make", "--no-print-directory"] if self.target == "make" else [sys.executable, str(self.script)]

    def call(self, *words: str, stdin: str = "", **more: str) -> CommandResult:
        command, given = [*self.command, *words], stdin.encode("utf-8", "replace")
        done = warm.run(command, cwd=self.folder, env=environment(**more), input=given, timeout=PATIENCE)
        output = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        return CommandResult(done.returncode, *output)

    def log(self) -> list[str]:
        path = self.folder / "log"
        return path.read_text(encoding="utf-8").split() if path.exists() else []

    def write_log(self, words: list[str]) -> None:
        (self.folder / "log").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")


class Generated(Place):
    """The same of any format, with all that operators can do."""

    def __init__(
        self, folder: Path, kind: str, document: str, target: str = "python", *, operator: str = "full"
    ) -> None:
        super().__init__(folder, document, target, kind, operator=operator)


def archived(path: Path) -> bytes:
    """The journal of a run in the history: a file, or in a folder with what else belongs to the run."""
    return (path / "journal" if path.is_dir() else path).read_bytes()


def run_words(place: Place, verb: str) -> list[str]:
    """The words that begin a run or go on with it, with answers."""
    (place.folder / "answers").write_text("yes\n", encoding="utf-8")
    return [verb, "--answers", "answers"]
