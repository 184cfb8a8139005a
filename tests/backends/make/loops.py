"""Makefiles that run by themselves: how their loop ended, terminals for make, and processes that it has begun."""

import os
import re
import signal
import subprocess
from functools import cache
from pathlib import Path

from compiler.ir.program import Program
from tests.support.backend_programs import Made
from tests.support.documents import program_at
from tests.support.makefiles import Place, environment
from tests.support.process import Screen

RUN = ".rdc/main.make/run"


@cache
def compiled(path: Path) -> Program:
    return program_at(path)


def written(folder: Path, name: str, document: str, **options: str) -> Made:
    """A folder with a document of any format, its Makefile, and the program beside it."""
    (folder / "rdc.toml").touch()
    (folder / name).write_text(document, encoding="utf-8")
    return Made(folder, compiled(folder / name), **options)


def code(done: subprocess.CompletedProcess[str]) -> int:
    """The exit code of the loop, which make shows after `Error`; make itself ends with 0 or 2."""
    if not done.returncode:
        return 0
    found = re.findall(r"(?:run|resume|retry|clean)\] Error (\d+)", done.stderr)
    return int(found[-1]) if found else -1


def ending(done: subprocess.CompletedProcess[str]) -> tuple[int, str]:
    """How the loop ended, and the last line on standard output."""
    return code(done), (done.stdout.splitlines() or [""])[-1]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def locks(place: Place) -> list[str]:
    return [path.name for path in (place.folder / ".rdc" / "main.make").iterdir() if path.name.startswith("lock")]


def holder(place: Place) -> int:
    """The loop that runs."""
    return int(str((place.folder / ".rdc" / "main.make" / "lock").readlink()).split("@")[0])


class Terminal(Screen):
    """make with a terminal of its own, at which a person types."""

    def __init__(self, place: Place | Made, *words: str) -> None:
        super().__init__(["make", *words], place.folder, environment({}))

    def answer(self, text: str, after: str) -> None:
        """Type a text once another one was shown, behind what was typed last."""
        self.expect(re.escape(after))
        self.type(text)

    def end(self) -> str:
        """Wait for the end; the last line of rdc."""
        self.close()
        return str(re.findall("rdc: .*$", self.seen.replace("\r", ""), re.MULTILINE)[-1])

    def end_with_its_window(self) -> None:
        """Close the terminal, and send the signal that the shell sends then which has begun make."""
        os.close(self._terminal)
        os.killpg(self.pid, signal.SIGHUP)
        os.waitpid(self.pid, 0)
