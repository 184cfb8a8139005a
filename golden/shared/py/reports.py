# --- Reports: answers are added to files, each below a heading with the date (I29), in a folder that texts name (I30).
REPORTS = "reports"
SAID = []  # the text of the outcome that is about to be recorded

def reports_folder(session):  # Return where the reports of a run lie.
    return os.path.join(session.store.folder, REPORTS)

def remember_answer(done, text):  # Keep the text of an outcome until that is recorded.
    SAID[:] = [text]
    return done

def texts_of_reports(session, name):
    """Return what is added to which report after a step: of a parallel step, to those of its entries too."""
    node, text = session.program["nodes"].get(name, {}), "".join(SAID)
    SAID.clear()
    if "report" not in node:
        return {}
    notes = [note for note in session.state.notes if note["kind"] == "entry"]
    found = {f"{name}_{note['entry']}": note["answer"] or "" for note in sorted(notes, key=lambda note: note["entry"])}
    return {**found, node["report"]: text}

def with_reports(session, record):
    """Write into the record of a step what is added where, so that it is added once, whatever happens then."""
    if record.get("kind") != "done":
        return record
    texts = {report: masked(text) for report, text in texts_of_reports(session, record["node"]).items()}
    added = report_blocks(reports_folder(session), texts)
    return {**record, "reports": added} if added else record

def write_reports(session):  # Add what the last step that is done has answered, as far as it is not there.
    finished = session.state.finished
    for report, (place, text) in (finished[-1] if finished else {}).get("reports", {}).items():
        try:
            add_block(REPORTS, report, place, text, session.store.within.at)
        except OSError as error:
            again = f"once it can be written: {session.call('resume')}"
            raise RefusedError(again, f"the report {report} cannot be written: {error.strerror}") from None

def place_reports_folder(session):  # Let texts say where the reports of this run lie now.
    slot = session.program.get("folder")
    if slot:
        session.state.registers[slot] = reports_folder(session)

def resume_reports(session):  # See to the reports of a run that goes on.
    place_reports_folder(session)
    write_reports(session)

def keep_up_reports(session, event, _fields):
    """Make the folder where a run begins or goes on, and write where a step is done."""
    if event == "run_started":
        place_reports_folder(session)
        session.store.within.inner(f"{REPORTS}/")
    if event == "step_finished":
        write_reports(session)

KEPT.append(REPORTS)
TELLS.append(remember_answer)
RECORDS.append(with_reports)
OPENS.append(resume_reports)
EVENTS.append(keep_up_reports)

