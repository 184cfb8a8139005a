# --- The stream of events for machines: JSON lines appended to a file.
class Events:
    """Writes events, or nothing where no file was named."""

    def __init__(self, path, run, gives_up):
        self._path = path
        self._run = run
        self._gives_up = gives_up
        self._file = -1
        if path is not None:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)

    def emit(self, event, **fields):  # Append one event; one that nobody takes is lost when the run is told to end.
        if self._path is None:
            return
        import json

        line = json.dumps({"event": event, "time": utc_now(), "run": self._run, **fields}) + "\n"
        try:
            send(self._file, line.encode(), self._gives_up)
        except OSError as error:
            raise RefusedError(f"{self._path}: cannot write the event {event}: {error.strerror}") from None

