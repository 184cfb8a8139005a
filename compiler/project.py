"""The project that a document belongs to: its root folder, its configuration, and safe look-up of files in it (V11)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from compiler.diagnostic import Diagnostic
from compiler.files import Refusal, read_source
from compiler.options import Options, document_options
from compiler.source import Source

CONFIGURATION = "rdc.toml"
_PYPROJECT = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class Project:
    """`root` is an absolute path without links."""

    root: Path

    def read(self, path: str) -> Source | Refusal:
        """The document at a path that the user gave."""
        absolute = Path(os.path.realpath(path))
        name = absolute.relative_to(self.root).as_posix() if absolute.is_relative_to(self.root) else absolute.name
        return read_source(absolute, path, name)

    def find(self, source: Source, reference: str) -> Source | Refusal:
        """The document that another one refers to: beside it, else from the root; never outside of the root (V11)."""
        if PurePosixPath(reference).is_absolute() or "\\" in reference:
            return _outside(reference, "is not a relative path with `/`")
        beside = os.path.normpath(os.path.join(os.path.dirname(source.name), reference))  # noqa: PTH118, PTH120 (lexical)
        for name in dict.fromkeys((beside, os.path.normpath(reference))):
            if name.startswith(".."):
                return _outside(reference, "leaves the project by `..`")
            path = self.root / name
            if not path.resolve().is_relative_to(self.root):
                return _outside(reference, "leads out of the project through a link")
            if path.exists():
                return read_source(path, self._shown(source, name), name)
        problem = f"there is no runbook `{reference}` in this folder or in the project root"
        return Refusal("RD301", problem, "correct the path; `rdc check --no-link` checks a document on its own")

    def _shown(self, source: Source, name: str) -> str:
        """What messages call a document: relative to where the user called the one that refers to it from."""
        base = source.path.removesuffix(source.name) if source.path.endswith(source.name) else ""
        return base + name


def _outside(reference: str, problem: str) -> Refusal:
    remedy = "a runbook is named by a relative path inside of the project (the folder with `.git` or `rdc.toml`)"
    return Refusal("RD302", f"`{reference}` {problem}", remedy)


def open_project(path: str) -> Project:
    """The project of a file: the nearest folder above it with `.git` or a configuration, else its own folder."""
    folder = Path(os.path.realpath(path)).parent
    return Project(next((above for above in (folder, *folder.parents) if _is_root(above)), folder))


def _is_root(folder: Path) -> bool:
    if (folder / ".git").exists() or (folder / CONFIGURATION).exists():
        return True
    return "[tool.rdc" in _text(folder / _PYPROJECT)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def read_options(project: Project) -> tuple[Options, list[Diagnostic]]:
    """The options that the project's configuration sets for all documents: `rdc.toml`, else `[tool.rdc]`."""
    path = project.root / CONFIGURATION
    pyproject = not path.exists()
    path = project.root / _PYPROJECT if pyproject else path
    text = _text(path)
    if not text or (pyproject and "[tool.rdc" not in text):
        return Options(), []
    import tomllib  # noqa: PLC0415 (most projects configure nothing, and importing it takes time)

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Options(), [_invalid(path, str(error))]
    if pyproject:
        table = table.get("tool", {}).get("rdc", {})
    options, problems = document_options(table)
    return options, [_invalid(path, problem) for problem in problems]


def _invalid(path: Path, problem: str) -> Diagnostic:
    remedy = "see `rdc explain RD501` for what can be set"
    return Diagnostic("RD501", os.path.relpath(path), None, f"the configuration is not valid: {problem}", remedy)
