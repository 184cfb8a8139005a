# --- The program table: what may go wrong with it, and which program a state belongs to (R4).
EXIT_COMPLETE, EXIT_STOP, EXIT_REFUSED, EXIT_WAITING, EXIT_INTERRUPTED = 0, 1, 2, 75, 130  # R3

class RefusedError(Exception):
    """A reason to go no further, after lines with details, for the operator; the exit code is 2 (R3)."""

@contextmanager
def naming(path):  # See to it that an error of the system names the file that it is about.
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise

def digest(text):  # Return the SHA-256 of a text in hexadecimal.
    import hashlib  # what is slow to import is imported late: `--help` does not need it

    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()

def _hash_of(value):  # Return the hash of a value, which is the same wherever and whenever it is made.
    return digest(json.dumps(value, sort_keys=True, separators=(",", ":")))

def _identity(unit):  # Return what makes a unit what it is: all but its place, so that a line may shift (R4).
    return {key: value for key, value in unit.items() if key != "at"}

def program_hash(program):  # Return the hash by which a state knows its program.
    whole = {key: program.get(key, {}) for key in ("entry", "registers", "scopes")}
    return _hash_of({**whole, "units": {name: _identity(unit) for name, unit in program["units"].items()}})

def unit_digests(program):  # Return a short digest of each unit, by which two programs are compared.
    return {name: _hash_of(_identity(unit))[:12] for name, unit in program["units"].items()}

def differences(recorded, program):  # Say which units were added, removed and changed since.
    now = unit_digests(program)
    added = [name for name in now if name not in recorded]
    removed = [name for name in recorded if name not in now]
    changed = [name for name in now if recorded.get(name, now[name]) != now[name]]
    groups = (("added", added), ("removed", removed), ("changed", changed))
    found = [f"{word}: {', '.join(names)}" for word, names in groups if names]
    return found or ["no unit differs, only where the program begins or what it counts"]

