"""Generated programs of any format, called as processes: for tests that must survive every rewrite of the runtime."""

from __future__ import annotations

import sys
from pathlib import Path

from backends.registry import load
from compiler.driver import compile_file
from tests.robustness.forked import CommandResult
from tests.robustness.places import PATIENCE, environment
from tests.support import warm

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
