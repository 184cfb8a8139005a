# --- Ends of nested runbooks, from which a run goes on (M8).
def nested_end(name, unit):
    """Return the end of a nested runbook as people read it, by the paths of inclusion: `lint.runbook.md: STOP`."""
    place, suffix, _ = name.rpartition(".runbook.md")
    path = place.partition("/")[2]
    return f"{path}{suffix}: {unit['result'].upper()}" if path else f"{name}: {unit['result'].upper()}"

def show_ends(session, move):  # Show the ends that a run has passed.
    for name in move.passed:
        unit = session.program["units"][name]
        if unit["task"] == "end":
            message = filled(unit, unit.get("message", ""), move.registers)
            session.display.line("    " + one_line(f"{nested_end(name, unit)} {message}"))

PASSES.append(show_ends)

