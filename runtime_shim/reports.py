"""Reports: answers are added to files, each below a heading with the date (I29), in a folder that texts name (I30)."""

import os

from runtime_shim.journal import Record
from runtime_shim.program import RefusedError, Table
from runtime_shim.report_files import add, blocks
from runtime_shim.session import EVENTS, OPENS, RECORDS, TELLS, Done, Session, masked
from runtime_shim.state import KEPT

REPORTS = "reports"
SAID: list[str] = []  # the text of the outcome that is about to be recorded


def folder_of(session: Session) -> str:
    """Return where the reports of a run lie."""
    return os.path.join(session.store.folder, REPORTS)


def remember(done: Done, text: str) -> Done:
    """Keep the text of an outcome until that is recorded."""
    SAID[:] = [text]
    return done


def texts_of_reports(session: Session, name: str) -> dict[str, str]:
    """Return what is added to which report after a unit: of a parallel step, to those of its entries too."""
    unit, text = session.program["units"].get(name, {}), "".join(SAID)
    SAID.clear()
    if "report" not in unit:
        return {}
    notes = [note for note in session.state.notes if note["kind"] == "entry"]
    found = {f"{name}_{note['entry']}": note["answer"] or "" for note in sorted(notes, key=lambda note: note["entry"])}
    return {**found, unit["report"]: text}


def announced(session: Session, record: Record) -> Record:
    """Write into the record of a unit what is added where, so that it is added once, whatever happens then."""
    if record.get("kind") != "done":
        return record
    texts = {report: masked(text) for report, text in texts_of_reports(session, record["unit"]).items()}
    added = blocks(folder_of(session), texts)
    return {**record, "reports": added} if added else record


def write(session: Session) -> None:
    """Add what the last unit that is done has answered, as far as it is not there."""
    finished = session.state.finished
    for report, (place, text) in (finished[-1] if finished else {}).get("reports", {}).items():
        try:
            add(folder_of(session), report, place, text)
        except OSError as error:
            again = f"once it can be written: {session.call('resume')}"
            raise RefusedError(again, f"the report {report} cannot be written: {error.strerror}") from None


def place_folder(session: Session) -> None:
    """Let texts say where the reports of this run lie now."""
    slot = session.program.get("folder")
    if slot:
        session.state.registers[slot] = folder_of(session)


def take_up(session: Session) -> None:
    """See to the reports of a run that goes on."""
    place_folder(session)
    write(session)


def follow_run(session: Session, event: str, _fields: Table) -> None:
    """Make the folder where a run begins or goes on, and write where a unit is done."""
    if event == "run_started":
        place_folder(session)
        os.makedirs(folder_of(session), exist_ok=True)
    if event == "unit_finished":
        write(session)


KEPT.append(REPORTS)
TELLS.append(remember)
RECORDS.append(announced)
OPENS.append(take_up)
EVENTS.append(follow_run)
