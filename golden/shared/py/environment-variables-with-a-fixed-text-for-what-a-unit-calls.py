# --- Environment variables with a fixed text for what a unit calls (I25).
def constants_of(unit, _registers):  # Return the variables of a unit that no run changes.
    return dict(unit.get("env", {}))

VARIABLES.append(constants_of)

