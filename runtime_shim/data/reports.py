"""Reports: answers are added to files, each below a heading with the date (I29), in a folder that texts name (I30)."""

import os

from runtime_shim.data.whole_files import add_block, inner, report_blocks
from runtime_shim.engine.journal import Record
from runtime_shim.engine.lifecycle import Done, Extension
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.walk import Move

REPORTS = "reports"


class Reports(Extension):
    """Programs with reports."""

    _said = ""  # the text of the outcome that is about to be recorded

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether a step has a report, or a text names their folder."""
        return "folder" in program or any("report" in node for node in program["nodes"].values())

    @property
    def _folder(self) -> str:
        """Where the reports of a run lie."""
        return os.path.join(self.session.store.folder, REPORTS)

    def beside(self) -> dict[str, str]:
        """Return their folder."""
        return {REPORTS: REPORTS}

    def told(self, text: str, done: Done) -> Done:
        """Keep the text of an outcome until that is recorded."""
        self._said = text
        return done

    def _texts(self, name: str) -> dict[str, str]:
        """Return what is added to which report after a step: of a parallel step, to those of its entries too."""
        node, text = self.session.program["nodes"].get(name, {}), self._said
        self._said = ""
        if "report" not in node:
            return {}
        notes = [note for note in self.session.state.notes if note["kind"] == "entry"]
        notes.sort(key=lambda note: note["entry"])
        return {**{f"{name}_{note['entry']}": note["answer"] or "" for note in notes}, node["report"]: text}

    def record(self, record: Record) -> Record:
        """Write into the record of a step what is added where, so that it is added once, whatever happens then."""
        if record.get("kind") != "done":
            return record
        texts = {report: self.session.mask(text) for report, text in self._texts(record["node"]).items()}
        added = report_blocks(self._folder, texts)
        return {**record, "reports": added} if added else record

    def open(self) -> None:
        """Let texts say where the reports lie now, and see to those of a run that goes on."""
        session, slot = self.session, self.session.program.get("folder")
        if slot:
            session.state.registers[slot] = self._folder
        self._write()

    def event(self, event: str, _fields: Table) -> None:
        """Make the folder where a run begins or goes on."""
        if event == "run_started":
            with inner(self.session.store.within, REPORTS):
                pass

    def after_step(self, _move: Move) -> None:
        """Write where a step is done."""
        self._write()

    def _write(self) -> None:
        """Add what the last step that is done has answered, as far as it is not there."""
        session, finished = self.session, self.session.state.finished
        for report, (place, text) in (finished[-1] if finished else {}).get("reports", {}).items():
            try:
                with inner(session.store.within, REPORTS) as folder:
                    add_block(folder, report, place, text)
            except OSError as error:
                again = f"once it can be written: {session.call('resume')}"
                raise RefusedError(again, f"the report {report} cannot be written: {error.strerror}") from None
