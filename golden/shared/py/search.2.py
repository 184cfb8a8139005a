# --- The search for a validation pattern: in a process of its own, where it can be interrupted and has a limit (I12).
class SearchError(Exception):
    """What kept a process from looking for a pattern."""

def child_says(processes, code, given, seconds, *flags):
    """Return what a small program of Python says of a JSON value, in a process of its own."""
    words = [sys.executable, "-I", *flags, "-W", "ignore", "-c", code, str(seconds)]
    call = Call(f"exec {shlex.join(words)}", os.environb, json.dumps(given).encode(), lambda _lines: None)
    (answered,) = exchange(processes, [call], seconds)
    if answered.trouble:
        raise SearchError(answered.trouble)
    return answered.answer

