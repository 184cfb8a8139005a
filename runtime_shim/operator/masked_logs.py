"""Logs without secrets."""

from runtime_shim.engine.session import Session
from runtime_shim.operator.logs import Logs, Mask

LONGEST_LINE, LONGEST_SECRET = 1 << 20, 1 << 17  # bytes; variables have 128 KiB at most


def cut_at(text: str, mask: Mask) -> int:
    """Return where to cut output: after the last line, since a secret may be cut in two, or in a very long line."""
    end = text.rfind("\n") + 1
    if len(text) - end > LONGEST_LINE:  # cut it outside of secrets
        whole, places = mask(text), range(len(text) - LONGEST_SECRET, 0, -LONGEST_SECRET)
        return next((place for place in places if mask(text[:place]) + mask(text[place:]) == whole), 0)
    return end


class MaskedLogs(Logs):
    """Logs with masked secrets."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._rests: dict[int, bytes] = {}  # the start of a line, by log

    def keep(self, log: int, data: bytes) -> None:
        """Keep the complete lines; the rest of a line waits for more output."""
        text, mask = (self._rests.pop(log, b"") + data).decode("utf-8", "surrogateescape"), self.session.mask
        end = cut_at(text, mask) if data else len(text)
        self._rests[log] = text[end:].encode("utf-8", "surrogateescape")
        if end:
            super().keep(log, mask(text[:end]).encode("utf-8", "surrogateescape"))
        if not data:
            super().keep(log, b"")
