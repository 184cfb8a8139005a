"""Compare the first files of a project with the existing ones, and write the missing ones (B-7)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from compiler.frontends import all_options
from compiler.project import CONFIGURATION, Project, read_configuration
from rdc.atomic import File, write_all
from rdc.building.configuring import rules
from rdc.building.sources import files_below
from rdc.starting.files import Wanted, patterns, starters


class Started(Struct, frozen=True):
    """The written files, the existing files, and the lines that these lack, all by path."""

    written: Sequence[str]
    kept: Sequence[str]
    lacking: Sequence[tuple[str, str]]


def start(root: str, wanted: Wanted) -> Started:
    """Write the first files of the project in the current folder, all or none.

    Args:
        root: The current folder, as an absolute path without links.
        wanted: The request.

    Raises:
        OSError: A file cannot be read or written; `filename` is its path.
    """
    configuration = read_configuration(Project(root), all_options())
    own, _ = rules(configuration)  # the build reports the errors
    path = next(iter(configuration.sources), CONFIGURATION)
    globs = [glob for rule in own for glob in rule.patterns] or patterns(wanted)
    every = starters(wanted, files_below(root, globs), path, own)
    there = {starter: found for starter in every if (found := _present(starter.paths))}
    new = [File(Path(one.paths[0]), one.text.encode()) for one in every if one not in there]
    write_all(new)
    return Started(
        [str(file.path) for file in new],
        list(there.values()),
        [(found, one.lines) for one, found in there.items() if _lacks(found, one.needs)],
    )


def _present(paths: Sequence[str]) -> str | None:
    """Return the first existing path. A broken link counts as existing."""
    return next((path for path in paths if Path(path).is_symlink() or Path(path).exists()), None)


def _lacks(path: str, needs: Sequence[str]) -> bool:
    text = Path(path).read_text(encoding="utf-8", errors="replace") if needs else ""
    return not all(need in text for need in needs)
