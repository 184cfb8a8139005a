"""The stream of events for machines: JSON lines appended to a file."""

import os
from typing import Callable, Optional

from runtime_shim.output import send
from runtime_shim.program import RefusedError
from runtime_shim.state import utc_now


class Events:
    """Writes events, or nothing where no file was named."""

    def __init__(self, path: Optional[str], run: str, gives_up: Callable[[], bool]) -> None:
        self._path = path
        self._run = run
        self._gives_up = gives_up
        self._file = -1
        if path is not None:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)

    def emit(self, event: str, **fields: object) -> None:
        """Append one event; one that nobody takes is lost when the run is told to end."""
        if self._path is None:
            return
        import json

        line = json.dumps({"event": event, "time": utc_now(), "run": self._run, **fields}) + "\n"
        try:
            send(self._file, line.encode(), self._gives_up)
        except OSError as error:
            raise RefusedError(f"{self._path}: cannot write the event {event}: {error.strerror}") from None
