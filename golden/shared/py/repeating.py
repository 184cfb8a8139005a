# --- Which options a run was given: whoever answers by hand is reminded of them, and their values are kept nowhere.
REMINDED = (
    "--agent",
    "--agent-for",
    "--tool",
    "--agent-model",
    "--agent-timeout",
    "--agent-retries",
    "--mock",
    "--out",
)

def options_of(options, _before):  # Return the options of this call that a later one has to repeat.
    known = {name for _, name, _, _ in OPTIONS}
    found = [name for name in REMINDED if name in known and getattr(options, name[2:].replace("-", "_"), None)]
    return found or None

def reminder(session):  # Name the options that the run was given last.
    given = agreed(session.state).get("given", ())
    return f"   (with {', '.join(given)}, as before)" if given else ""

AGREES["given"] = options_of
HINTS.append(reminder)

