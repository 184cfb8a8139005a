"""Runs of a specification in this process, which can be killed at any instant at which they touch the disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import runtime_shim
from runtime_shim.contract import COMMANDED, STAGES, Found, Stages
from runtime_shim.run_files import RUNS
from runtime_shim.stepping import ONLY

Table = dict[str, Any]
TOUCHES = ("write", "fsync", "fdatasync", "replace", "rename", "unlink", "makedirs", "mkdir")
OPEN = Path("/proc/self/fd")
KINDS = ("inputs", "context", "tool", "execute", "guardrails", "validation", "outputs")
Script = Callable[[str, Table], Found]


class KilledError(BaseException):
    """What a kill is in this process: nothing that the run does afterwards reaches the disk."""


class Disk:
    """The calls that touch the disk, counted; the one of the number `kill_at` is not done, or only half done."""

    def __init__(self, kill_at: int | None) -> None:
        self.count, self._kill_at = 0, kill_at

    @property
    def is_dead(self) -> bool:
        return self._kill_at is not None and self.count > self._kill_at

    def touching(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def touch(*args: Any, **more: Any) -> Any:
            if real.__name__ == "write" and args[0] <= 2:
                return real(*args, **more)
            self.count += 1
            if not self.is_dead:
                return None if "sync" in real.__name__ else real(*args, **more)  # a kill is no loss of power
            if real.__name__ == "write" and self.count == (self._kill_at or 0) + 1:
                real(args[0], args[1][: len(args[1]) // 2])  # a torn write
            raise KilledError

        return touch


@contextmanager
def closing_files() -> Iterator[None]:
    """Close what a killed run has left open: its lock above all."""
    before = set(OPEN.iterdir())
    try:
        yield
    finally:
        for path in set(OPEN.iterdir()) - before:
            try:
                os.close(int(path.name))
            except OSError:
                continue


def call(program: Table, folder: Path, words: list[str], script: Script, kill_at: int | None = None) -> int | None:
    """Call a program with stages that a script does; the exit code, None for a call that was killed."""

    def scripted(_stages: Stages, name: str, unit: Table) -> Found:
        return script(name, unit)

    for name in runtime_shim.modules(program):
        import_module(f"runtime_shim.{name}")
    disk, here = Disk(kill_at), Path.cwd()
    RUNS.clear()
    ONLY.clear()
    touched = {name: disk.touching(getattr(os, name)) for name in TOUCHES}
    with (
        closing_files(),
        (folder / "log").open("a", encoding="utf-8") as log,
        patch.dict(STAGES, dict.fromkeys(KINDS, scripted)),
        patch.object(sys, "stderr", log),
        patch.object(sys, "stdout", log),
        patch.multiple(os, **touched),
    ):
        os.chdir(folder)
        try:
            return runtime_shim.main(program, words, "program")
        except KilledError:
            return None
        finally:
            os.chdir(here)


@contextmanager
def deciding(kinds: Mapping[str, bool]) -> Iterator[None]:
    """Have somebody decide about stages of these kinds that a kill has cut off (R2)."""
    before = list(COMMANDED)
    COMMANDED[:] = [lambda _session, unit: kinds.get(unit["stage"], False)]
    try:
        yield
    finally:
        COMMANDED[:] = before
