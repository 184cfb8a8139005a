"""The file that a complete run leaves, written once and never partly."""

import os
from collections.abc import Iterator

from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import one_line
from runtime_shim.io.whole_files import put, write_at
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
