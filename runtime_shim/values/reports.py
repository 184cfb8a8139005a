"""Reports: files that collect answers, each under a heading with the date."""

import os
import stat
import time
from contextlib import suppress

from runtime_shim.engine.journal import Record
from runtime_shim.engine.outcomes import Done
from runtime_shim.engine.private import Folder, is_link
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension
from runtime_shim.engine.walk import Move
from runtime_shim.io.whole_files import inner, put

REPORTS = "reports"


def add_block(folder: Folder, report: str, place: int, text: str) -> None:
    """Insert a block into a report at an offset, unless it is there."""
    name, before, block = f"{report}.md", b"", text.encode("utf-8", "replace")
    if is_link(name, folder.at):  # an agent may have replaced it
        raise OSError(0, "it is a link")
    with suppress(FileNotFoundError), open(folder.open(name, os.O_RDONLY), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "it is not a regular file")
        before = file.read()
    if before[place : place + len(block)] != block:
        put(folder, name, before[:place] + block + before[place:])


class Reports(Extension):
    """Programs with reports."""

    folders = (REPORTS,)
    _said = ""  # the text of the next outcome

    @staticmethod
    def suits(program: Table) -> bool:
        """Return whether a step has a report, or a text names the directory of reports."""
        return "folder" in program or any("report" in node for node in program["nodes"].values())

    def with_text(self, text: str, done: Done) -> Done:
        """Remember the text of an outcome until it is recorded."""
        self._said = text
        return done

    def _texts(self, name: str) -> dict[str, str]:
        """Return the texts that a step adds to reports, including those of parallel entries."""
        node, text = self.session.program["nodes"].get(name, {}), self._said
        self._said = ""
        if "report" not in node:
            return {}
        notes = [note for note in self.session.state.notes if note["kind"] == "entry"]
        notes.sort(key=lambda note: note["entry"])
        return {**{f"{name}_{note['entry']}": note["answer"] or "" for note in notes}, node["report"]: text}

    def record(self, record: Record) -> Record:
        """Record the text and offset that a step adds to each report, so that it is added only once."""
        if record.get("kind") != "done":
            return record
        date, added = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()), {}
        for report, text in self._texts(record["node"]).items():
            if text := self.session.mask(text):
                path = os.path.join(self.session.store.folder, REPORTS, f"{report}.md")
                size = os.path.getsize(path) if os.path.isfile(path) and not os.path.islink(path) else 0
                added[report] = (size, "\n" * bool(size) + f"## {date}\n\n{text}\n")
        return {**record, "reports": added} if added else record

    def open(self) -> None:
        """Set the slot for the directory, and complete the reports of a resumed run."""
        session, slot = self.session, self.session.program.get("folder")
        if slot:
            session.state.registers[slot] = os.path.join(session.store.folder, REPORTS)
        self.after_step()

    def event(self, event: str, _fields: Table) -> None:
        """Create the directory when a run starts or resumes."""
        if event == "run_started":
            os.close(self.session.store.within.enter(REPORTS).at)

    def after_step(self, _move: "Move | None" = None) -> None:
        """Add the last step's answers, unless they are there."""
        session = self.session
        done = session.state.finished[-1:] if session.store.within else ()  # else the files are on another machine
        for report, (place, text) in (done[0] if done else {}).get("reports", {}).items():
            try:
                with inner(session.store.within, REPORTS) as folder:
                    add_block(folder, report, place, text)
            except OSError as error:
                again = f"when it is writable again: {session.call('resume')}"
                raise UsageError(again, f"cannot write the report {report}: {error.strerror}") from None
