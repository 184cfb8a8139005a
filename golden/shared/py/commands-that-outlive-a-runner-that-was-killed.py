# --- Commands that outlive a runner that was killed: found again by pid and start time (R2).
GRACE = 5.0  # seconds from SIGTERM to SIGKILL
TOLERANCE = 5  # ticks; a number is not given again that fast

def ticks():  # Return the time as /proc counts it, in ticks since the machine started; None where there is no /proc.
    has_clock = hasattr(time, "CLOCK_BOOTTIME")
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")) if has_clock else None

def is_alive(process):  # Tell whether a recorded process still lives; another one may have its number by now.
    with suppress(OSError), open(f"/proc/{process['pid']}/stat", "rb") as file:
        state, *fields = file.read().rpartition(b")")[2].split()
        since = process["since"]
        return since is not None and state not in (b"Z", b"X") and abs(int(fields[18]) - int(since)) <= TOLERANCE
    return False

def signal_group(group, *numbers):  # Send signals to a process group that may be gone.
    for number in numbers:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)

def end_groups(left):  # End the process groups of processes that were left behind.
    for process in left:
        signal_group(process["pid"], signal.SIGTERM, signal.SIGCONT)
    deadline = time.monotonic() + GRACE
    while any(map(is_alive, left)) and time.monotonic() < deadline:
        time.sleep(0.02)
    for process in left:
        signal_group(process["pid"], signal.SIGKILL)

