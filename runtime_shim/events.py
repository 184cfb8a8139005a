"""The stream of events for machines: JSON lines appended to a file."""

import json
import os
from typing import Optional

from runtime_shim.program import RefusedError
from runtime_shim.state import utc_now


class Events:
    """Writes events, or nothing where no file was named."""

    def __init__(self, path: Optional[str], run: str) -> None:
        self._path = path
        self._run = run
        self._file = -1
        if path is not None:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)

    def emit(self, event: str, **fields: object) -> None:
        """Append one event."""
        if self._path is None:
            return
        line = json.dumps({"event": event, "time": utc_now(), "run": self._run, **fields}) + "\n"
        try:
            os.write(self._file, line.encode())
        except OSError as error:
            raise RefusedError(f"{self._path}: cannot write the event {event}: {error.strerror}") from None
