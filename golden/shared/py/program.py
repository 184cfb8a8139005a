# --- The program table: what may go wrong with it, and which program a state belongs to (R4).
EXIT_COMPLETE, EXIT_STOP, EXIT_REFUSED, EXIT_WAITING, EXIT_INTERRUPTED = 0, 1, 2, 75, 130  # R3

class RefusedError(Exception):
    pass

def read_json(path, text):  # any JSON value
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"{path}: not JSON, which a program reads (`rdc run` reads YAML too): {error}") from None

Host = collections.namedtuple("Host", "prog parse edition", defaults=('', read_json, '',))

@contextmanager
def naming(path):
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise

def digest(value):
    import hashlib  # what is slow to import is imported late: `--help` does not need it

    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()

def identified(program, nodes):
    whole = {key: program.get(key, {}) for key in ("entry", "registers", "scopes")}
    hashes = {"program": digest({**whole, "nodes": nodes}), "nodes": {name: digest(nodes[name])[:12] for name in nodes}}
    return {"name": program["name"], "source": program["source"], **hashes}

def without_places(program):
    return {name: {key: node[key] for key in node if key != "at"} for name, node in program["nodes"].items()}

def differences(recorded, now):
    found = {"added": [], "removed": [], "changed": []}
    for name in {**now, **recorded}:
        if now.get(name) != recorded.get(name):
            found["added" if name not in recorded else "changed" if name in now else "removed"].append(name)
    lines = [f"{how}: {', '.join(names)}" for how, names in found.items() if names]
    return lines or ["no step differs, only where the program begins or what it counts"]

