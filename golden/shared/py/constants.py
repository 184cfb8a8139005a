# --- Environment variables with a fixed text for what a step calls (I25).
def constants_of(node, _registers):  # Return the variables of a step that no run changes.
    return dict(node.get("env", {}))

VARIABLES.append(constants_of)

