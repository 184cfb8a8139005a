# --- Commands that outlive a runner that was killed: found again by pid and start time (R2).
GRACE = 5.0
TOLERANCE = 5  # ticks; a number is not given again that fast

def ticks():
    """Return the time as /proc counts it, in ticks since the machine started; None where there is no /proc.

    A command's start is known by this: to look it up in /proc would wait for the shell to be loaded.
    """
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return None
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))

def is_alive(process):  # Tell whether a recorded process still lives (another one may have its number by now).
    if process["since"] is None:
        return False
    try:
        with open(f"/proc/{process['pid']}/stat", "rb") as file:
            stat = file.read()
    except OSError:
        return False
    fields = stat[stat.rindex(b")") + 2 :].split()
    return fields[0] not in (b"Z", b"X") and abs(int(fields[19]) - int(process["since"])) <= TOLERANCE

def signal_group(group, *numbers):  # Send signals to a process group that may be gone.
    for number in numbers:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)

def end_groups(processes):  # End the process groups of processes that were left behind.
    left = list(processes)
    for process in left:
        signal_group(process["pid"], signal.SIGTERM, signal.SIGCONT)
    deadline = time.monotonic() + GRACE
    while any(map(is_alive, left)) and time.monotonic() < deadline:
        time.sleep(0.02)
    for process in left:
        signal_group(process["pid"], signal.SIGKILL)

