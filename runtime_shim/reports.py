"""Reports: answers are added to files, each below a heading with the date (I29), in a folder that texts name (I30)."""

import os
import stat
import time

from runtime_shim.journal import Record, sync_directory
from runtime_shim.program import RefusedError, Table
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
    found[unit["report"]] = text
    return {report: text for report, text in found.items() if text}


def announced(session: Session, record: Record) -> Record:
    """Write into the record of a unit what is added where, so that it is added once, whatever happens then."""
    if record.get("kind") != "done":
        return record
    date, added = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()), {}
    for report, text in texts_of_reports(session, record["unit"]).items():
        size = size_of(os.path.join(folder_of(session), f"{report}.md"))
        added[report] = [size, "\n" * bool(size) + f"## {date}\n\n{masked(text)}\n"]
    return {**record, "reports": added} if added else record


def size_of(path: str) -> int:
    """Return the size of a report; what is in its place and none has none."""
    try:
        about = os.lstat(path)
    except OSError:
        return 0
    return about.st_size if stat.S_ISREG(about.st_mode) else 0


def write(session: Session) -> None:
    """Add what the last unit that is done has answered, as far as it is not there."""
    finished = session.state.finished
    for report, (place, text) in (finished[-1] if finished else {}).get("reports", {}).items():
        try:
            add(folder_of(session), f"{report}.md", place, text.encode("utf-8", "replace"))
        except OSError as error:
            again = f"once it can be written: {session.call('resume')}"
            raise RefusedError(again, f"the report {report} cannot be written: {error.strerror}") from None


def add(folder: str, name: str, place: int, block: bytes) -> None:
    """Add a block to a file at a place, unless it stands there; the file changes whole or not at all."""
    path, draft = os.path.join(folder, name), os.path.join(folder, f".{name}.new")
    before = read(path)
    if before[place : place + len(block)] == block:
        return
    os.makedirs(folder, exist_ok=True)
    with open(draft, "wb") as file:
        file.write(before[:place] + block + before[place:])
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)
    sync_directory(folder)


def read(path: str) -> bytes:
    """Read a report; what an agent may have put in its place is not followed, nor waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is not a regular file")
        return file.read()


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
