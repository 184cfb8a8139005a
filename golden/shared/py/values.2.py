# --- Values: what commands get as environment variables and give by the file that RDC_OUTPUT names (I7, I9).
LARGEST_VARIABLE = 65_536  # bytes

class UnfitError(ValueError):
    """A value that no environment variable can have, or a file of values that is malformed."""

def check_value(name, value):  # Refuse a value that no environment variable can have.
    if "\0" in value:
        raise UnfitError(f"{name} has a NUL character, which no environment variable can have")
    if len(value.encode("utf-8", "surrogatepass")) > LARGEST_VARIABLE:
        raise UnfitError(f"{name} is longer than {LARGEST_VARIABLE:,} bytes")

def texts_of(node, registers):  # Return the environment variables that slots give a step; one that is unset gives none.
    places = node.get("texts", {}).items()
    return {variable: registers[slot] for variable, slot in places if registers[slot] is not None}

