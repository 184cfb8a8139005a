"""Logs with a limit from the operator, and with the answers of agents."""

import os
import re
from typing import Any

from runtime_shim.engine.program import UsageError
from runtime_shim.engine.session import Options
from runtime_shim.engine.state import State
from runtime_shim.operator.logs import LOG_LIMIT, log_of
from runtime_shim.operator.masked_logs import MaskedLogs

SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}  # bytes


def limit_of(given: "str | None") -> int:
    """Return how many bytes of output to keep."""
    size = re.fullmatch(r"([1-9][0-9]{0,9})([kmg]?)(i?b)?", (given or str(LOG_LIMIT)).lower())
    if not size:
        raise UsageError(f"--log-limit {given!a}: expected a size such as 65536, 512k or 1M")
    return int(size[1]) * SIZES[size[2]]


class SizedLogs(MaskedLogs):
    """Logs of documents with agents, of a size that the operator chooses."""

    limited = ("run resume", "--log-limit", "SIZE", "keep only the end of each log (default: 1M)")
    options: Options = (*MaskedLogs.options, limited)
    _folder: Any = None

    def before_run(self, _state: "State | None") -> None:
        """Read the limit."""
        self.limit = limit_of(self.session.options.log_limit)

    def answered(self, answer: str) -> None:
        """Keep an answer, which is the output of its step."""
        state = self.session.state
        if self._folder is not None:
            name = log_of(len(state.finished) + 1, state.node)
            with open(self._folder.open(name, os.O_RDWR | os.O_APPEND | os.O_CREAT), "rb", 0) as log:
                self.keep(log.fileno(), f"{answer}\n".encode("utf-8", "surrogateescape"))
                self.keep(log.fileno(), b"")
