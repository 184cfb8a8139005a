"""Signatures: who made a decision about a run, and why."""

import re

from runtime_shim.engine.journal import Record, picked
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension
from runtime_shim.engine.state import LONGEST_NAME, MOVES, State, user
from runtime_shim.engine.status import ASSUMED, told_by
from runtime_shim.engine.texts import HIDDEN, one_line

LONGEST = {"by": LONGEST_NAME, "note": 2000}  # characters
SIGNED = ("done", "entry", "item", "resume")  # kinds of records


class Signing(Extension):
    """Signs the decisions that a call makes."""

    options = (
        ("resume answer goto approve retry", "--by", "WHO", "who decides (default: the user)"),
        ("resume answer goto approve retry", "--note", "TEXT", "the reason"),
    )
    _is_due = False  # whether this call's decision is not recorded yet

    def _said(self) -> Record:
        return {key: text for key in LONGEST if (text := getattr(self.session.options, key)) is not None}

    def before_run(self, state: "State | None") -> None:
        """Check the options of a signature."""
        session, command = self.session, self.session.options.command
        self._is_due = command in ("answer", *MOVES) or bool(
            command == "resume" and state and state.condition == "running"
        )
        raises = any(getattr(session.options, f"max_{limit}", None) is not None for limit in ("visits", "steps"))
        decides = self._is_due or (command == "resume" and (raises or getattr(session.options, "override", None)))
        for key, text in self._said().items():
            if re.search(rf"{HIDDEN}|[\n\t]", text) or not 0 < len(text.strip()) <= len(text) <= LONGEST[key]:
                raise UsageError(f"--{key} takes one line of 1 to {LONGEST[key]:,} printable characters")
            if not (decides or session.is_interactive):
                raise UsageError(f"--{key} signs a decision, but there is nothing to decide")

    def record(self, record: Record) -> Record:
        """Add the signature to decisions: one for each resume, and each answer at the terminal."""
        if "visits" in record or (record.get("kind") == "agreed" and "max_steps" in record["agreed"]):  # raised limits
            return {**record, "by": user(), **self._said()}
        if record.get("kind") not in SIGNED or not (self._is_due or record.get("how") == "answered here"):
            return record
        if self.session.options.command in ("resume", "retry"):
            self._is_due = False
        return {**record, "by": user(), **self._said()}

    def facts(self, state: State) -> Table:
        """Return who decided to run a step again."""
        return {"decisions": [picked(one, ("after", "by", "note", "time")) for one in state.decided if "by" in one]}

    def lines(self, facts: Table, record: "Table | None") -> list[str]:
        """Return lines below a step: why it failed, where the run was moved, and who decided."""
        place = next((number for number, each in enumerate(facts["finished"], 1) if each is record), 0)
        is_told = record and record["outcome"] in ("fail", "failed", *MOVES) and record["how"] not in ASSUMED
        about = [record["how"] if is_told else "", told_by(record)] if record else []
        again = (f"the next step was run again, {told_by(one)}" for one in facts["decisions"] if one["after"] == place)
        return [f"        {one_line(line)}" for line in (", ".join(filter(None, about)), *again) if line]
