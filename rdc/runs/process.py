"""`rdc run` as a separate process, because a session takes over the signals, folder and output of its process."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from threading import Thread

from msgspec import Struct

from runtime_shim.engine.program import EXIT_REFUSED

ERROR = "rdc: error: "
"""The start of the line with the reason of a refusal."""


class Ended(Struct, frozen=True):
    """How a process ended: its exit code (None: it is still running), its output, and its messages."""

    code: int | None
    output: bytes = b""
    messages: str = ""

    @property
    def refusal(self) -> str:
        """The reason why `rdc run` refused to do anything, or ""."""
        reasons = [line.removeprefix(ERROR) for line in self.messages.splitlines() if line.startswith(ERROR)]
        return reasons[-1] if self.code == EXIT_REFUSED and reasons else ""


def run_process(words: Sequence[str], folder: str, given: str = "", timeout: float | None = None) -> Ended:
    """Run `rdc run` with these words until it ends, or until the time limit.

    No output goes to a pipe, so the run continues after this process ends. A keyboard interrupt interrupts the run too.
    `given` is the standard input, and `timeout` is in seconds.
    """
    from tempfile import TemporaryFile  # noqa: PLC0415 (slow to import, and `rdc run` itself does without it)

    command = [sys.executable, "-P", "-m", "rdc", "run", "--", *words]  # -P: it imports nothing from the folder
    with TemporaryFile() as entered, TemporaryFile() as output, TemporaryFile() as messages:
        entered.write(given.encode("utf-8", "surrogateescape"))
        entered.seek(0)
        process = subprocess.Popen(  # noqa: S603 (a list of words)
            command, cwd=folder, stdin=entered, stdout=output, stderr=messages, start_new_session=True
        )
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            Thread(target=process.wait, daemon=True).start()  # so that it does not stay as a zombie
            return Ended(None)
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
        output.seek(0)
        messages.seek(0)
        return Ended(code, output.read(), messages.read().decode(errors="replace"))
