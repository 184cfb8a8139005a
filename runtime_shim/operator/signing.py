"""Who decided about a run, and why: what an operator says is recorded with it."""

import os
import re
from contextlib import suppress
from typing import Optional

from runtime_shim.engine.command_line import OPTIONS
from runtime_shim.engine.display import HIDDEN, one_line
from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import RECORDS, TAKES, Session
from runtime_shim.engine.state import State
from runtime_shim.engine.status import ASSUMED, FACTS, KNOWN, TAILS

LONGEST = {"by": 200, "note": 2000}  # characters
SIGNED = ("done", "entry", "resume")  # kinds of records
TOLD_HOW = ("fail", "failed", "goto")  # outcomes
DUE: list[str] = []  # the subcommand whose decision is still to be recorded


def user() -> str:
    """Return the name of the user, or else the number."""
    import pwd

    with suppress(KeyError):
        name = os.environ.get("LOGNAME") or os.environ.get("USER") or pwd.getpwuid(os.getuid()).pw_name
        return one_line(name)[: LONGEST["by"]] or str(os.getuid())
    return str(os.getuid())


def said(session: Session) -> Record:
    """Return who decides and why, as far as the options say."""
    found = {key: getattr(session.options, key, None) for key in LONGEST}
    return {key: text for key, text in found.items() if text or (text is not None and key == "by")}


def sign_next(session: Session, state: Optional[State]) -> None:
    """See to it that a decision of this call is signed."""
    command = session.options.command
    decides = command in ("answer", "goto") or (command == "resume" and state and state.condition == "running")
    DUE[:] = [command] if decides else []
    for key, text in said(session).items():
        if re.search(rf"{HIDDEN}|[\n\t]", text) or not 0 < len(text.strip()) <= len(text) <= LONGEST[key]:
            raise RefusedError(f"--{key} takes one line of 1 to {LONGEST[key]:,} characters that print")
        if not (decides or session.is_interactive):
            raise RefusedError(f"--{key} signs a decision, and there is none to make here: leave it out")


def signed(session: Session, record: Record) -> Record:
    """Return a record with who decided and why; a resume has one decision, and what is answered at the terminal."""
    if record.get("kind") not in SIGNED or not (DUE or record.get("how") == "answered here"):
        return record
    if session.options.command == "resume":
        DUE.clear()
    return {**record, "by": user(), **said(session)}


def decisions(_program: Table, state: State) -> Table:
    """Return who decided what, for the status."""
    keys, again = (*KNOWN, "by", "note"), ("after", "by", "note", "time")
    return {
        "finished": [{"step": one["node"], **{key: one[key] for key in keys if key in one}} for one in state.finished],
        "decisions": [{key: one[key] for key in again if key in one} for one in state.decided if "by" in one],
    }


def told_by(record: Table) -> str:
    """Return who decided and why, in words."""
    return ": ".join([f"by {record['by']}", *filter(None, [record.get("note")])]) if "by" in record else ""


def decided_lines(_session: Session, facts: Table, record: Optional[Table]) -> list[str]:
    """Return what stands below a step: why it failed, where the run was moved, and who decided."""
    place = next((number for number, each in enumerate(facts["finished"], 1) if each is record), 0)
    is_told = record and record["outcome"] in TOLD_HOW and record["how"] not in ASSUMED
    about = [record["how"] if is_told else "", told_by(record)] if record else []
    again = (f"the next one was run again, {told_by(one)}" for one in facts["decisions"] if one["after"] == place)
    return [f"        {one_line(line)}" for line in (", ".join(filter(None, about)), *again) if line]


TAKES.append(sign_next)
RECORDS.insert(0, signed)
FACTS.append(decisions)
TAILS.append(decided_lines)
OPTIONS += [
    ("resume answer goto", "--by", "WHO", "who decides (default: the name of the user)"),
    ("resume answer goto", "--note", "TEXT", "why"),
]
