"""Folders with a generated program of any format in them, for the Python target and for the Make target."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from backends.registry import load
from compiler.driver import compile_file
from tests.robustness.forked import CommandResult
from tests.support import warm

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


def generate(folder: Path, document: str, target: str) -> Path:
    """Write a document and what it becomes; the name of the program is `main`."""
    (folder / "rdc.toml").touch()
    source = folder / "main.runbook.md"
    source.write_text(document, encoding="utf-8")
    compilation = compile_file(str(source))
    assert compilation.program, compilation.diagnostics
    text = load(target).emit(compilation.program, {}).text
    assert text
    path = folder / {"make": "Makefile", "python": "main.py"}[target]
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def environment(**more: str) -> dict[str, str]:
    """The environment without what make, which runs these tests, and rdc put there."""
    hidden = ("RDC_", "MAKE", "MFLAGS")
    return {**{name: value for name, value in os.environ.items() if not name.startswith(hidden)}, **more}


class Place:
    """A folder with a program that is called as a process."""

    def __init__(self, folder: Path, document: str, target: str = "python") -> None:
        self.folder = folder
        self.target = target
        folder.mkdir(parents=True, exist_ok=True)
        self.script = generate(folder, document, target)
        self.state = folder / ".rdc" / {"make": "main.make", "python": "main"}[target]
        self.journal = self.state / "journal"

    @property
    def command(self) -> list[str]:
        """The words that call the program."""
        return ["make", "--no-print-directory"] if self.target == "make" else [sys.executable, str(self.script)]

    def call(self, *words: str, **more: str) -> CommandResult:
        """Call the program to its end."""
        done = warm.run([*self.command, *words], cwd=self.folder, env=environment(**more), timeout=PATIENCE)
        return CommandResult(done.returncode, done.stdout.decode(), done.stderr.decode())

    def log(self) -> list[str]:
        """What the commands have written into `log`."""
        path = self.folder / "log"
        return path.read_text(encoding="utf-8").split() if path.exists() else []

    def write_log(self, words: list[str]) -> None:
        """What the commands have done so far."""
        (self.folder / "log").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")


def archived(path: Path) -> bytes:
    """The journal of a run in the history: a file, or in a folder with what else belongs to the run."""
    return (path / "journal" if path.is_dir() else path).read_bytes()


def run_words(place: Place, verb: str) -> list[str]:
    """The words that begin a run or go on with it, with answers."""
    (place.folder / "answers").write_text("yes\n", encoding="utf-8")
    return [verb, "--answers", "answers"]


def end_of(done: CommandResult) -> str:
    """The line that says how it ended."""
    return (done.err.splitlines() or [""])[-1]


ENDINGS = {"runbook": "runbook.md", "playbook": "playbook.md", "workflow": "workflow.yaml", "spec": "stepspec.yaml"}


class Generated:
    """A folder with a document of some format and its Python program or Makefile, both called `main`."""

    def __init__(
        self, folder: Path, kind: str, document: str, target: str = "python", *, operator: str = "full"
    ) -> None:
        self.folder = folder
        self.target = target
        (folder / "rdc.toml").touch()
        source = folder / f"main.{ENDINGS[kind]}"
        source.write_text(document, encoding="utf-8")
        compilation = compile_file(str(source))
        assert compilation.program, compilation.diagnostics
        emission = load(target).emit(compilation.program, {"operator": operator})
        assert emission.text, emission.diagnostics
        self.script = folder / {"make": "Makefile", "python": "main.py"}[target]
        self.script.write_text(emission.text, encoding="utf-8")
        self.script.chmod(0o755)
        for companion in emission.companions:
            (folder / companion.path).parent.mkdir(exist_ok=True)
            (folder / companion.path).write_text(companion.text, encoding="utf-8")
        is_native = target == "make" and not emission.companions
        self.state = folder / ".rdc" / ("main.make" if is_native else "main")

    def call(self, *words: str, stdin: str = "", **more: str) -> CommandResult:
        """Call the program to its end."""
        command = ["make", "--no-print-directory"] if self.target == "make" else [sys.executable, str(self.script)]
        given = stdin.encode("utf-8", "replace")
        done = warm.run([*command, *words], cwd=self.folder, env=environment(**more), input=given, timeout=PATIENCE)
        return CommandResult(
            done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        )
