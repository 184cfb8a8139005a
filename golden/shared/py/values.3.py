# --- Values: what commands get as environment variables and give by the file that RDC_OUTPUT names (I7, I9).
LARGEST_OUTPUT = 16 * 1024 * 1024  # bytes

class UnfitError(ValueError):
    """A value that no environment variable can have, or a file of values that is malformed."""

def read_regular(path):  # Read a file that a command may have replaced by anything; one that is gone holds nothing.
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnfitError("it is not a regular file")
        content = file.read(LARGEST_OUTPUT + 1)
    if len(content) > LARGEST_OUTPUT:
        raise UnfitError(f"it is larger than {LARGEST_OUTPUT:,} bytes")
    return content

