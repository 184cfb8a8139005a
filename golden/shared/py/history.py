# --- Archived runs: listed, and pruned where the operator says so (E12).
ARCHIVED = re.compile(r"((run-)?[0-9T]{14,15}Z?-[0-9a-f]{8}|damaged-[0-9]{8}T[0-9]{6}Z|empty)(-2)*")  # a run's name
HOURS = {"h": 1, "d": 24, "w": 7 * 24}

def archived(session):
    folder = os.path.join(session.store.directory, "history")
    if os.path.islink(folder):
        raise RefusedError(f"{folder} is a link: name the state directory that it belongs to with --state-dir")
    files = os.scandir(folder) if os.path.isdir(folder) else ()
    runs = [file for file in files if ARCHIVED.fullmatch(file.name) and file.is_file(follow_symlinks=False)]
    return sorted(((file.stat().st_mtime, file.path) for file in runs), reverse=True)

def place_of(path, modes, is_busy=False):
    state = replay(read_journal(path)[0], path, modes)
    if state.condition in ENDED:
        return state.condition.upper(), state.message, state
    word = "running" if is_busy else state.condition.replace("running", "interrupted")
    return word.upper(), f"at {state.node}", state

def told_run(session, ended, path):
    when, name = time.strftime("%Y-%m-%d %H:%M", time.localtime(ended)), os.path.basename(path)
    try:
        word, where, state = place_of(path, session.store.modes)
    except (RefusedError, OSError, IndexError):
        return f"{when}  DAMAGED  {name}"
    version = "this version" if session.is_same(state) else f"version {state.program[:8]}"
    return one_line(f"{when}  {word}  {name}  {version}  {where}")

def outdated(runs, given):
    number = re.fullmatch(r"([0-9]{1,6})([hdw]?)", given)
    if not number:
        raise RefusedError(f"--prune {one_line(given)!a}: give how many to keep, or an age such as 12h, 30d or 8w")
    if number[2]:
        since = time.time() - int(number[1]) * HOURS[number[2]] * 3600
        return [path for ended, path in runs if ended < since]
    return [path for _, path in runs[int(number[1]) :]]

def history(session):
    import shutil

    runs = archived(session)
    if session.options.prune is None:
        return session.display.say([told_run(session, *run) for run in runs] or ["No run was archived here."])
    gone = outdated(runs, session.options.prune)
    for path in gone:
        for folder in (f"{path}.{ending}" for ending in set(session.beside().values())):
            if os.path.isdir(folder) and not os.path.islink(folder):
                shutil.rmtree(folder)
            if os.path.isfile(folder):
                os.unlink(folder)
        os.unlink(path)
    return session.display.say([f"{len(gone)} of {len(runs)} archived runs were deleted."])

class History(Extension):
    commands = {"history": ("list and prune archived runs", history)}
    options = (
        ("history", "--prune", "N|AGE", "delete all but the newest N, or what is older than 12h, 30d, 8w"),
        ("history", "--state-dir", "DIR", "where the state is kept"),
    )

EXTENSIONS = (
    Shell, Asks, Stepping, History,
)  # in the order in which they take part


if __name__ == "__main__":
    sys.exit(main(built(runbook, EXTENSIONS), EXTENSIONS, host=Host(edition="commands d6f36e15af02")))
