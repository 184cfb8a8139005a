"""Logs without secrets, and their limit."""

import os
import re
from typing import Any, Callable

from runtime_shim.engine.program import UsageError
from runtime_shim.engine.state import State
from runtime_shim.operator.logs import LOG_LIMIT, Logs, log_of

SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}  # bytes
LONGEST_LINE, LONGEST_SECRET = 1 << 20, 1 << 17  # bytes; variables have 128 KiB at most


def limit_of(given: str) -> int:
    """Return how many bytes of output to keep."""
    size = re.fullmatch(r"([1-9][0-9]{0,9})([kmg]?)(i?b)?", given.lower())
    if not size:
        raise UsageError(f"--log-limit {given!a}: expected a size such as 65536, 512k or 1M")
    return int(size[1]) * SIZES[size[2]]


def cut(text: str, mask: Callable[[str], str]) -> int:
    """Return where to cut output: after the last line, since a secret may be cut in two, or in a very long line."""
    end = text.rfind("\n") + 1
    if len(text) - end > LONGEST_LINE:  # cut it outside of secrets
        whole, places = mask(text), range(len(text) - LONGEST_SECRET, 0, -LONGEST_SECRET)
        return next((place for place in places if mask(text[:place]) + mask(text[place:]) == whole), 0)
    return end


class MaskedLogs(Logs):
    """Logs with masked secrets."""

    options = (*Logs.options, ("run resume", "--log-limit", "SIZE", "keep only the end of each log (default: 1M)"))
    _folder: Any = None

    def before_run(self, _state: "State | None") -> None:
        """Read the limit."""
        self.limit, self._rests = limit_of(self.session.options.log_limit or str(LOG_LIMIT)), dict[int, bytes]()

    def keep(self, log: int, data: bytes) -> None:
        """Keep the complete lines; the rest of a line waits for more output."""
        text, mask = (self._rests.pop(log, b"") + data).decode("utf-8", "surrogateescape"), self.session.mask
        end = cut(text, mask) if data else len(text)
        self._rests[log] = text[end:].encode("utf-8", "surrogateescape")
        if end:
            super().keep(log, mask(text[:end]).encode("utf-8", "surrogateescape"))
        if not data:
            super().keep(log, b"")

    def answered(self, answer: str) -> None:
        """Keep an answer, which is the output of its step."""
        state = self.session.state
        if self._folder is not None:
            name = log_of(len(state.finished) + 1, state.node)
            with open(self._folder.open(name, os.O_RDWR | os.O_APPEND | os.O_CREAT), "rb", 0) as log:
                self.keep(log.fileno(), f"{answer}\n".encode("utf-8", "surrogateescape"))
                self.keep(log.fileno(), b"")
