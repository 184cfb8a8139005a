# --- Notices: a command of the operator that is told when a run waits or ends.
TOLD = ("run_waiting", "run_interrupted", "run_finished")
NOTICE_SECONDS = 30
RESET = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTTOU)  # ignored by Python and by this runner

class Notices(Extension):
    options = (("run resume", "--notify", "COMMAND", "called when the run waits or ends, the event on standard input"),)
    def event(self, event, fields):
        session = self.session
        command = getattr(session.options, "notify", None)
        if event not in TOLD or not command:
            return
        about = {"event": event, "time": utc_now(), "run": session.state.begin["run"], **fields}
        about.update(name=session.program["name"], title=session.program["title"])
        about = session.through("record", about)
        try:
            problem = _told(session, command, json.dumps(about).encode() + b"\n")
        except (OSError, ValueError) as error:
            problem = str(error)
        if problem:
            session.display.line(f"    --notify: {problem}")
def _told(session, command, given):
    with file_with(given) as file, open(os.devnull, "wb") as nowhere:  # it need not read, nor print
        streams = (file, nowhere, nowhere)
        files = [(os.POSIX_SPAWN_DUP2, each.fileno(), number) for number, each in enumerate(streams)]
        deadline, before = time.monotonic() + NOTICE_SECONDS, signal.sigpending()
        group = os.posix_spawnp(
            "sh", ["sh", "-c", command], os.environ, file_actions=files, setpgroup=0,
            setsigmask=session.signals.before, setsigdef=RESET,
        )  # fmt: skip
    while time.monotonic() < deadline and not session.signals.stops & signal.sigpending() - before:
        time.sleep(0.01)
        pid, status = os.waitpid(group, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
            return f"the command ended with {code}" if code else ""
    signal_groups([group], signal.SIGKILL)
    os.waitpid(group, 0)
    return f"the command was ended: by you, or after {NOTICE_SECONDS} seconds"

