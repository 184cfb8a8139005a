"""The files that a run leaves: its reports, and the artifact of a complete one, written once and never partly."""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress

from runtime_shim.engine.journal import Record
from runtime_shim.engine.outcomes import Done
from runtime_shim.engine.private import Folder, is_link
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import one_line
from runtime_shim.engine.walk import Move
from runtime_shim.io.whole_files import inner, put, write_at
from runtime_shim.values.settings import AgentEdition, agreed

SUFFIXES = {
    "markdown": "md", "json": "json", "mermaid": "mmd", "chartjs": "json", "html_css": "html",
    "javascript": "js", "typescript": "ts",
}  # fmt: skip
OTHER = "txt"


def write_out(path: str, data: bytes) -> None:
    """Write a file atomically; write directly to anything that is not a regular file, such as a pipe."""
    path = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            file.write(data)
        return
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        write_at(folder, os.path.basename(path), data)
    finally:
        os.close(folder)


class Artifact(Extension):
    """Programs with an artifact."""

    needs = ("artifact",)
    options = (("run resume", "--out", "FILE", "write the last output here, not in the state directory"),)

    def beside(self) -> dict[str, str]:
        """Return the file under all names that it may have had."""
        name = self.session.program["name"]
        return {f"{name}.{suffix}": f"{name}.{suffix}" for suffix in (*SUFFIXES.values(), OTHER)}

    def end(self) -> None:
        """Write the file when a run is complete, unless it is written."""
        session, state, artifact = self.session, self.session.state, self.session.program["artifact"]
        text = state.registers[artifact["slot"]]
        if state.condition != "complete" or text is None or any(note["kind"] == "left" for note in state.notes):
            return
        out = agreed(state).get("out")
        name = f"{session.program['name']}.{SUFFIXES.get(session.filled(artifact, 'type'), OTHER)}"
        path, data = out or os.path.join(session.store.folder, name), session.mask(text).encode("utf-8", "replace")
        try:
            write_out(path, data) if out else put(session.store.within, name, data)
        except OSError as error:
            again = f"to write it: {session.call('resume', '--out', 'FILE')}"
            raise UsageError(again, f"the run is complete, but {path} cannot be written: {error.strerror}") from None
        session.record({"kind": "left", "path": path})
        session.display.line(f"    {path}")


OUTPUT = "output "
UNTOLD = ("last output", "prompt ", "__elicit_step_")  # slots that repeat others or are not outputs


def kept_slots(program: Table) -> Iterator[tuple[str, str]]:
    """Return each step and slot that keeps its answer, in order."""
    for name, node in program["nodes"].items():
        for edge in node.get("edges", ()):
            yield from ((name, effect[0]) for effect in edge.get("do", ()) if effect[1:2] == ["keep"])


def _sized(size: int) -> str:
    return f"{size:,} byte{'s' * (size != 1)}"


class OutputFiles(AgentEdition):
    """Shows the outputs of a run in its status."""

    def facts(self, state: State) -> Table:
        """Return the outputs so far."""
        rows: dict[str, Table] = {}
        for node, slot in dict.fromkeys(kept_slots(self.session.program)):
            text = state.registers.get(slot)
            if text is None or slot.startswith(UNTOLD):
                continue
            size, is_label = len(text.encode("utf-8", "replace")), slot.startswith(OUTPUT)
            row = rows.setdefault(node, {"step": node, "label": node, "names": {}})
            if is_label:
                row.update(label=slot[len(OUTPUT) :], bytes=size)
            else:
                row["names"][slot] = size
        return {"outputs": list(rows.values())} if rows else {}

    def lines(self, facts: Table, record: "Table | None") -> list[str]:
        """Return a line for each output, above the steps."""
        if record is not None or not facts.get("outputs"):
            return []
        lines = ["  outputs:"]
        for row in facts["outputs"]:
            whole = [_sized(row["bytes"])] if "bytes" in row else []
            parts = whole + [f"{name} {_sized(size)}" for name, size in row["names"].items()]
            lines.append("    " + one_line(f"{row['label']}: {', '.join(parts)}"))
        return lines


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

    def read(self, state: State) -> None:
        """Set the slot for the directory."""
        if slot := self.session.program.get("folder"):
            state.registers[slot] = os.path.join(self.session.store.folder, REPORTS)

    def open(self) -> None:
        """Set the slot of a new run, and complete the reports of a resumed one."""
        self.read(self.session.state)
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
