"""Time and memory of rdc for documents of any size: `python -m tests.robustness.size [CASE…]` prints a table of all."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Timer
from typing import NamedTuple

from backends.registry import BACKENDS
from tests.robustness.large import CASES, MAIN, OLD, files
from tests.support import warm
from tests.support.cli import environment

SECONDS, MEGABYTES = 30.0, 1024.0
"""What a process may take of the processor and of memory; most take a small part of it."""

PATIENCE = 4 * SECONDS
"""How long it may last on a machine that does other things too."""

COMMANDS = {
    "check": ("check", MAIN),
    **{target: ("compile", MAIN, "--to", target, "-o", "out") for target in BACKENDS},
    "graph": ("graph", MAIN, "--format", "dot", "-o", "out.dot"),
    "diff": ("diff", OLD, MAIN),
    "diff-dot": ("diff", OLD, MAIN, "--format", "dot", "-o", "out.dot"),
}


class Measured(NamedTuple):
    """How a process ended (a signal as a negative number), what it took, and its output."""

    code: int
    seconds: float
    megabytes: float
    output: str

    @property
    def is_well(self) -> bool:
        """Whether it ended in time with a result or with diagnostics, and within its memory."""
        bounded = self.seconds < SECONDS and self.megabytes < MEGABYTES
        return bounded and self.code in (0, 1, 2) and "Traceback" not in self.output and "internal" not in self.output


def write(name: str, folder: Path) -> None:
    """Writes the files of a case."""
    for file, text in files(name).items():
        (folder / file).write_text(text, encoding="utf-8", newline="")


def measure(command: str, folder: Path) -> Measured:
    """Runs a command in a folder; a process that lasts too long is killed."""
    for made in folder.glob("out*"):
        made.unlink()
    path = folder / "printed"
    with path.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "rdc", *COMMANDS[command]],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
        )
    patience = Timer(PATIENCE, process.kill)
    patience.start()
    _, status, usage = os.wait4(process.pid, 0)  # which tells what this one process took
    patience.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    output = path.read_text(encoding="utf-8", errors="replace")
    return Measured(process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output)


FEW_SECONDS = 8
"""What a small document may take of the processor; those that are tested took from 10 to 80."""


def limited(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run rdc with a limit of its time."""
    return timed(folder, "-m", "rdc", *words)


def timed(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with a limit of its time."""
    done = warm.run([sys.executable, *words], cwd=folder, env=environment(), timeout=120, seconds=FEW_SECONDS)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def main(names: list[str]) -> int:
    """Prints the table; exit code 1 if something is not well. A document with errors is refused alike by all."""
    wrong = 0
    for name in names or CASES:
        with tempfile.TemporaryDirectory() as temporary:
            write(name, Path(temporary))
            for command in COMMANDS:
                found = measure(command, Path(temporary))
                wrong += not found.is_well
                mark = "" if found.is_well else f"  <<< {found.output[-300:]}"
                figures = f"{found.code:>4} {found.seconds:6.2f} s {found.megabytes:6.0f} MB"
                print(f"{name:36} {command:9} {figures}{mark}", flush=True)
                if command == "check" and found.code:
                    break
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
