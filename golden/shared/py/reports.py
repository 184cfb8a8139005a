# --- Reports: answers are added to files, each below a heading with the date, in a folder that texts name.
REPORTS = "reports"
def add_block(folder, report, place, text):
    name, before, block = f"{report}.md", b"", text.encode("utf-8", "replace")
    if is_link(name, folder.at):  # an agent may have put anything in its place
        raise OSError(0, "it is a link")
    with suppress(FileNotFoundError), open(folder.open(name, os.O_RDONLY), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "it is not a regular file")
        before = file.read()
    if before[place : place + len(block)] != block:
        put(folder, name, before[:place] + block + before[place:])

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
    def told(self, text, done):
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
        date, added = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()), {}
        for report, text in self._texts(record["node"]).items():
            if text := self.session.mask(text):
                path = os.path.join(self._folder, f"{report}.md")
                size = os.path.getsize(path) if os.path.isfile(path) and not os.path.islink(path) else 0
                added[report] = (size, "\n" * bool(size) + f"## {date}\n\n{text}\n")
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

