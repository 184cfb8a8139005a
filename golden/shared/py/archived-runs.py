# --- Archived runs: listed, and pruned where the operator says so (E12).
AGES = {"h": 3600, "d": 86400, "w": 7 * 86400}

# An archived journal, and when it was written to for the last time.
Archived = collections.namedtuple("Archived", "path ended")

def archived(session):  # Return the archived runs, the newest first.
    folder = os.path.join(session.store.directory, "history")
    found = []
    with suppress(FileNotFoundError):
        files = [entry for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False)]
        found = [Archived(file.path, file.stat().st_mtime) for file in files]
    return sorted(found, key=lambda one: (one.ended, one.path), reverse=True)

def told_run(session, one):  # Return how an archived run went, as a line.
    name = os.path.basename(one.path)
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.ended))
    try:
        records = read_journal(one.path)[0]
        state = replay(records, one.path) if records else None
    except (RefusedError, OSError):
        state = None
    if state is None:
        return f"{when}  DAMAGED  {name}"
    where = state.message if state.condition in ("complete", "stop") else f"at {state.node}"
    version = "this version" if session.is_same(state) else f"version {state.program[:8]}"
    return one_line(f"{when}  {state.condition.upper()}  {name}  {version}  {where}").rstrip()

def outdated(runs, given):  # Return the runs that go: all but the newest N, or those that ended longer ago than an AGE.
    number = re.fullmatch(r"([0-9]{1,6})([hdw]?)", given)
    if not number:
        raise RefusedError(f"--prune {one_line(given)!a}: take how many to keep, or an age such as 12h, 30d or 8w")
    if not number[2]:
        return runs[int(number[1]) :]
    return [one for one in runs if one.ended < time.time() - int(number[1]) * AGES[number[2]]]

def remove(one):  # Delete an archived run with all that was kept of it; its journal goes last.
    import shutil
    for kept in KEPT:
        with suppress(FileNotFoundError):
            shutil.rmtree(f"{one.path}.{kept}")
    os.unlink(one.path)

def history(session):  # List the archived runs, or delete some.
    runs = archived(session)
    if session.options.prune is None:
        return session.display.say([told_run(session, one) for one in runs] or ["No run was archived here."])
    gone = outdated(runs, session.options.prune)
    for one in gone:
        remove(one)
    return session.display.say([f"{len(gone)} of {len(runs)} archived runs were deleted."])

COMMANDS["history"] = ("list and prune archived runs", history)
OPTIONS += [
    ("history", "--prune", "N|AGE", "delete all but the newest N, or what is older than 12h, 30d, 8w"),
    ("history", "--state-dir", "DIR", "where the state is kept"),
]
'''

if __name__ == "__main__":
    sys.exit(main(built(runbook)))
