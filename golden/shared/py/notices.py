# --- Notices: a command of the operator that is told when a run waits or ends (E11).
TOLD = ("run_waiting", "run_interrupted", "run_finished")
NOTICE_SECONDS = 30.0
IGNORED = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTTOU)  # by Python and by this runner

def notify(session, event, fields):
    """Tell the command of the operator; whatever comes of that changes nothing for the run."""
    command = getattr(session.options, "notify", None)
    if event not in TOLD or not command:
        return
    about = {"event": event, "time": utc_now(), "run": session.state.begin["run"], **fields}
    about.update(name=session.program["name"], title=session.program["title"])
    for look in RECORDS:
        about = look(session, about)
    try:
        problem = _told(session, command, json.dumps(about).encode() + b"\n")
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", "") or str(error)
    if problem:
        session.display.line(f"    --notify: {problem}")

def _told(session, command, given):  # Run the command with the event on standard input, and return what went wrong.
    import tempfile
    with tempfile.TemporaryFile() as file:  # a command that reads nothing holds nobody up
        file.write(given)
        file.seek(0)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        files = [(os.POSIX_SPAWN_DUP2, file.fileno(), 0), *((os.POSIX_SPAWN_DUP2, nowhere, to) for to in (1, 2))]
        masks = {"setsigmask": session.signals.before, "setsigdef": IGNORED}
        try:
            group = os.posix_spawnp("sh", ["sh", "-c", command], os.environ, file_actions=files, setpgroup=0, **masks)
        finally:
            os.close(nowhere)
    return _watched(group)

def _watched(group):  # Wait until the command ends, or its time does.
    deadline = time.monotonic() + NOTICE_SECONDS
    while True:
        pid, status = os.waitpid(group, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
            return f"the command ended with {code}" if code else ""
        if time.monotonic() > deadline:
            signal_groups([group], signal.SIGKILL)
            os.waitpid(group, 0)
            return f"the command took longer than {NOTICE_SECONDS:.0f} s, and was ended"
        time.sleep(0.01)

EVENTS.append(notify)
OPTIONS.append(("run resume", "--notify", "COMMAND", "called when the run waits or ends, the event on standard input"))

