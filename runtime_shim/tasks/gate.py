"""Gates: a person approves or rejects; one call opens one gate."""

import os
from typing import ClassVar

from runtime_shim.engine.journal import Record
from runtime_shim.engine.outcomes import Done
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension, Performers, Session, Subcommands
from runtime_shim.engine.texts import one_line
from runtime_shim.tasks.ask import answer
from runtime_shim.tasks.replies import Questions


class Gates(Questions):
    """Runs gates. An answer that names no step opens none."""

    keys = ("reason",)
    asks = False

    def perform(self, name: str, node: Table) -> Done:
        """Get the decision. `--human` approves only the first gate of a call."""
        options = self.session.options
        if not options.human:
            return super().perform(name, node)
        options.human = False
        return Done("approved", "answered here", {"flag": "--human"})

    def from_file(self, name: str) -> "Done | None":
        """Return the decision in the file of answers, unless the file has changed since the run got it."""
        files: dict[str, str] = self.session.through("brought", {})
        if not any(self.session.state.brought.get(path, mark) != mark for path, mark in files.items()):
            return super().from_file(name)
        if self.take(name) is not None:
            path = one_line(self.session.options.answers)
            self.session.display.rule(f"{path} has changed since this run first used it, so it decides no gate")
        return None

    def is_named(self, said: str, name: str, _node: Table) -> bool:
        """Return whether a word names this gate: its name, or that of a step with only this gate."""
        nodes = self.session.program["nodes"].items()
        steps = {gate: node.get("step", gate.rpartition("/")[0]) for gate, node in nodes if node["task"] == "gate"}
        found = [said] if said in steps else [gate for gate, step in steps.items() if step == said]
        if len(found) > 1:
            raise UsageError(f"{one_line(said)} has several gates; name one: {', '.join(found)}")
        return found == [name]


def approve(session: Session) -> int:
    """Approve the named gate."""
    options = session.options
    if not options.gate:
        raise UsageError("approve needs --gate ID")
    options.command, options.STEP, options.REPLY = "answer", options.gate, "approved"
    return answer(session)


class GateTasks(Extension):
    """Programs with gates."""

    needs = ("gate",)
    commands: ClassVar[Subcommands] = {"approve": ("approve a gate: `approve --gate ID`", approve)}
    options = (
        ("run resume", "--human", "", "approve the first gate that the run reaches"),
        ("approve", "--gate", "ID", "the waiting gate (required)"),
    )
    performers: ClassVar[Performers] = {"gate": Gates}

    def brought(self, files: dict[str, str]) -> dict[str, str]:
        """Return this call's file of answers by its paths, with its digest. A pipe cannot change later."""
        path, scope, mark = self.session.options.answers, "".join(self.session.each("scope")), self.session.answers[0]
        if mark and os.path.isfile(path):  # it has been read
            found = {os.path.realpath(path), os.path.abspath(path)}
            files = {f"{scope}{each}": mark for each in found if not each.startswith(("/dev/fd/", "/dev/std"))}
        return files

    def record(self, record: Record) -> Record:
        """Note in the first record of a call which file of answers it brought."""
        known = self.session.state.brought if hasattr(self.session, "state") else {}
        new = {path: mark for path, mark in self.brought({}).items() if path not in known}
        return {**record, "brought": new} if new and "kind" in record else record
