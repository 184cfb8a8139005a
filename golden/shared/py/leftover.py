# --- Commands that outlive a runner that was killed: found again by pid and start time (R2).
GRACE = 5.0  # seconds from SIGTERM to SIGKILL

def started_at(pid):
    with suppress(OSError), open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
        state, *fields = file.read(4096).rpartition(b")")[2].split()
        return int(fields[18]) if state not in (b"Z", b"X") else None
    return None

def is_alive(process):
    pid, since = process["pid"], process["since"]
    began = started_at(pid) if (type(pid), type(since)) == (int, int) and pid > 1 else None  # no command is 0 or 1
    return began is not None and began == since

def signal_groups(groups, *numbers):
    for group in groups:
        for number in numbers:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)

def end_groups(left):
    groups = [process["pid"] for process in left]
    signal_groups(groups, signal.SIGTERM, signal.SIGCONT)
    deadline = time.monotonic() + GRACE
    while any(map(is_alive, left)) and time.monotonic() < deadline:
        time.sleep(0.02)
    signal_groups(groups, signal.SIGKILL)

