"""Calls of a program that can be killed at any instant at which they touch the disk."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from runtime_shim.editions import main
from runtime_shim.engine.outcomes import Host
from runtime_shim.stepspec.attempt import Found, Stages
from runtime_shim.stepspec.stages import StepStages

Table = dict[str, Any]
Script = Callable[[str, Table], Found]
TOUCHES = ("write", "fsync", "fdatasync", "replace", "rename", "unlink", "makedirs", "mkdir")
KILLED, BROKEN = 137, 99  # exit codes: of a call that was killed, and of one that raised


class Disk:
    """The calls that touch the disk, counted; at the one with the number `kill_at` the process ends, as by SIGKILL."""

    def __init__(self, kill_at: int | None) -> None:
        self._count, self._kill_at = 0, kill_at

    def touching(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """A call that may be the last one; of a text that is written then, half may be on disk."""

        def touch(*args: Any, **more: Any) -> Any:
            if real.__name__ == "write" and args[0] <= 2:
                return real(*args, **more)
            if self._count == self._kill_at:
                if real.__name__ == "write":
                    real(args[0], args[1][: len(args[1]) // 2])
                os._exit(KILLED)
            self._count += 1
            return None if "sync" in real.__name__ else real(*args, **more)  # a kill is no loss of power

        return touch


def call(program: Table, folder: Path, words: list[str], script: Script, kill_at: int | None = None) -> int:
    """Call a program, in a process of its own, with stages that a script does; returns the exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        os._exit(_called(program, folder, words, script, kill_at))
    except BaseException:  # noqa: BLE001 (nothing of this process may go on in the tests)
        with (folder / "log").open("a", encoding="utf-8") as log:
            log.write(traceback.format_exc())
    os._exit(BROKEN)


def _called(program: Table, folder: Path, words: list[str], script: Script, kill_at: int | None) -> int:
    def scripted(_stages: Stages, name: str, step: Table) -> Found:
        return script(name, step)

    log = os.open(folder / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for number in (1, 2):
        os.dup2(log, number)
    os.chdir(folder)
    disk = Disk(kill_at)
    touched: Table = {name: disk.touching(getattr(os, name)) for name in TOUCHES}
    kinds = dict.fromkeys(StepStages.kinds, scripted)
    with patch.object(StepStages, "kinds", kinds), patch.multiple(os, **touched):
        return main(program, words, Host("program"))
