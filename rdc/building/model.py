"""The options of a build, its rules and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from compiler.diagnostic import Diagnostic
from compiler.source import Source
from rdc.building.plan import Rule


class WorkerError(Exception):
    """A process that compiled documents was killed."""


class Wishes(Struct, frozen=True):
    """The options of a build.

    `ci` forbids approvals and ignores the records of earlier builds. `jobs` is the number of processes, 0 for one per
    core. `pins` are items that were just copied to the configuration, which approves them.
    """

    check: bool = False
    prune: bool = False
    strict: bool = False
    approved: tuple[str, ...] = ()
    jobs: int = 0
    ci: bool = False
    pins: tuple[str, ...] = ()


class Outcome(Struct, frozen=True):
    """The result of a build: its diagnostics, and the paths of written and removed files, relative to the root.

    `total` is the number of generated files. `unknown` are approved items that no file has, and `left` lists the
    leftover files.
    """

    diagnostics: Sequence[Diagnostic]
    sources: Mapping[str, Source]
    written: Sequence[str] = ()
    removed: Sequence[str] = ()
    total: int = 0
    unknown: Sequence[str] = ()
    left: Sequence[str] = ()
    has_rules: bool = True


class Told(Struct, frozen=True):
    """The build rules of the configuration, and the errors in them."""

    rules: Sequence[Rule]
    diagnostics: Sequence[Diagnostic]
    sources: Mapping[str, Source]
