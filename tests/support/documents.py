"""Short-hands for tests over whole documents."""

from pathlib import Path
from textwrap import dedent

from compiler.diagnostics.model import Diagnostic
from compiler.driver import Compilation, Settings, compile_file
from compiler.ir.program import Program


def compiled(folder: Path, text: str, files: dict[str, str] | None = None, **settings: object) -> Compilation:
    """What becomes of a document in a folder of its own, beside other files."""
    (folder / "rdc.toml").touch()
    for name, content in {**(files or {}), "main.runbook.md": text}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(content), encoding="utf-8")
    return compile_file(str(folder / "main.runbook.md"), Settings(**settings))  # type: ignore[arg-type]


def program_at(path: Path | str) -> Program:
    """The program of a file, which has no errors."""
    found = compile_file(str(path))
    assert found.program, found.diagnostics
    return found.program


def findings(compilation: Compilation) -> list[str]:
    """The findings as `CODE line:column`, in order, without those of empty steps: most small documents have one."""
    return [finding(item) for item in compilation.diagnostics if item.code != "RD118"]


def finding(item: Diagnostic) -> str:
    """One finding as `CODE line:column`."""
    return f"{item.code} {item.span.line}:{item.span.column}" if item.span else item.code
