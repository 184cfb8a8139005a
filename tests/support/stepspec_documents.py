"""Short-hands for tests over step specifications."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

from compiler.driver import Compilation, Settings, compile_file
from compiler.ir.program import Program
from tests.support.documents import finding

NAME = "main.stepspec.yaml"


def compiled(
    folder: Path, text: str | bytes, files: Mapping[str, str] | None = None, name: str = NAME, *, link: bool = True
) -> Compilation:
    """What becomes of a specification in a folder of its own, beside other files."""
    (folder / "rdc.toml").touch()
    for other, content in (files or {}).items():
        (folder / other).parent.mkdir(parents=True, exist_ok=True)
        (folder / other).write_text(dedent(content), encoding="utf-8")
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(dedent(text).encode() if isinstance(text, str) else text)
    return compile_file(str(folder / name), Settings(link=link))


def steps(folder: Path, text: str, config: str = "{}") -> Compilation:
    """What becomes of a specification with these steps; the first of them stands in line 4."""
    head = f"workflow: {{module: m, workflow: w}}\nconfig: {config}\nstep_specs:\n"
    return compiled(folder, head + dedent(text).lstrip("\n"))


def findings(compilation: Compilation) -> list[str]:
    """The findings as `CODE line:column`, in order."""
    return [finding(item) for item in compilation.diagnostics]


def program_of(compilation: Compilation) -> Program:
    """The program of a specification, which must have no errors."""
    assert compilation.program, [item.message for item in compilation.diagnostics]
    return compilation.program
