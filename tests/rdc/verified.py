"""Generated files for the tests of `rdc verify`: each is compiled once, and then written wherever a test needs it."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from backends.registry import BACKENDS, load
from tests.support.cli import GOOD, call, document

NAMES = {name: f"deploy{load(name).suffix}" for name in BACKENDS if name != "json"}
"""Of the outputs, by target. JSON has no place for a header."""


@cache
def generated(target: str, options: tuple[str, ...], text: str, out: str) -> dict[str, bytes]:
    """A document and what it becomes, compiled once for all tests."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / ".git").mkdir()
        (folder / out).parent.mkdir(parents=True, exist_ok=True)
        document(folder, "deploy.runbook.md", text)
        call("compile", "deploy.runbook.md", "--to", target, *options, "-o", out, cwd=folder).exits(0)
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def compiled(folder: Path, target: str = "python", *options: str, text: str = GOOD, out: str = "") -> Path:
    (folder / ".git").mkdir(exist_ok=True)
    for name, data in generated(target, options, text, out or NAMES[target]).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder / (out or NAMES[target])


def alone(folder: Path, target: str = "python", *options: str, text: str = GOOD, out: str = "") -> Path:
    path = compiled(folder, target, *options, text=text, out=out)
    (folder / "deploy.runbook.md").unlink()
    return path
