"""Runbooks with declarations, and what is found in them."""

from pathlib import Path

from compiler.ir.edges import Keep
from compiler.ir.program import Program
from compiler.ir.verify import verify
from tests.support.documents import compiled

COMMAND = "```sh\n{}\n```\n"
KEEP = Keep("id", "output", "id")
OUTPUT = COMMAND.format('echo "id=3" >> "${RDC_OUTPUT:-/dev/null}"')


def document(options: str, body: str) -> str:
    """A runbook with options under `rdc`, each in a line."""
    lines = "".join(f"  {line}\n" for line in options.strip("\n").split("\n"))
    return f"---\nrdc:\n{lines}---\n{body}"


def program_of(folder: Path, options: str, body: str, files: dict[str, str] | None = None) -> Program:
    compilation = compiled(folder, document(options, body), files)
    assert compilation.program, compilation.diagnostics
    verify(compilation.program)
    return compilation.program


def problem(folder: Path, options: str, body: str = "## 1. A\n" + OUTPUT) -> tuple[str, str, str]:
    """The place, the message and the remedy of the only finding."""
    compilation = compiled(folder, document(options, body))
    (found,) = [item for item in compilation.diagnostics if item.code not in {"RD118", "RD409"}]
    assert found.span
    return f"{found.code} {found.span.line}:{found.span.column}", found.message, found.help
