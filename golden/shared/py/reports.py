# --- Reports: answers are added to files, each below a heading with the date (I29), in a folder that texts name (I30).
REPORTS = "reports"

class Reports(Extension):
    _said = ""  # the text of the outcome that is about to be recorded
    @staticmethod
    def suits(program):
        return "folder" in program or any("report" in node for node in program["nodes"].values())
    @property
    def _folder(self):
        return os.path.join(self.session.store.folder, REPORTS)
    def beside(self):
        return {REPORTS: REPORTS}
    def told(self, done, text):
        self._said = text
        return done
    def _texts(self, name):
        node, text = self.session.program["nodes"].get(name, {}), self._said
        self._said = ""
        if "report" not in node:
            return {}
        notes = [note for note in self.session.state.notes if note["kind"] == "entry"]
        notes.sort(key=lambda note: note["entry"])
        return {**{f"{name}_{note['entry']}": note["answer"] or "" for note in notes}, node["report"]: text}
    def record(self, record):
        if record.get("kind") != "done":
            return record
        texts = {report: self.session.mask(text) for report, text in self._texts(record["node"]).items()}
        added = report_blocks(self._folder, texts)
        return {**record, "reports": added} if added else record
    def open(self):
        session, slot = self.session, self.session.program.get("folder")
        if slot:
            session.state.registers[slot] = self._folder
        self._write()
    def event(self, event, _fields):
        if event == "run_started":
            with inner(self.session.store.within, REPORTS):
                pass
    def after_step(self, _move):
        self._write()
    def _write(self):
        session, finished = self.session, self.session.state.finished
        for report, (place, text) in (finished[-1] if finished else {}).get("reports", {}).items():
            try:
                with inner(session.store.within, REPORTS) as folder:
                    add_block(folder, report, place, text)
            except OSError as error:
                again = f"once it can be written: {session.call('resume')}"
                raise RefusedError(again, f"the report {report} cannot be written: {error.strerror}") from None

