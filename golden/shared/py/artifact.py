# --- The file that a good run leaves (I28): written once, whole or not at all, after the run is known to be complete.
def write_whole(path, data, by=''):
    """Write a file that has its name once it is whole; what is no regular file, such as a pipe, is written to."""
    path = os.path.realpath(path)
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        with open(path, "wb") as file:
            file.write(data)
        return
    draft = f"{path}{by}.new"
    try:
        with open(draft, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            os.unlink(draft)
        raise

def leave(session):  # Write the file at the end of a run, unless that was done.
    state, artifact = session.state, session.program["artifact"]
    text = state.registers[artifact["slot"]]
    if state.condition != "complete" or text is None or any(note["kind"] == "left" for note in state.notes):
        return
    suffix = SUFFIXES.get(session.filled(artifact, "type"), OTHER)
    out = agreed(state).get("out")
    name, data = f"{session.program['name']}.{suffix}", masked(text).encode("utf-8", "replace")
    path = out or os.path.join(session.store.folder, name)
    try:
        write_whole(path, data, f".{os.getpid()}") if out else session.store.within.put(name, data, lasts=True)
    except OSError as error:
        raise RefusedError(
            f"to write it: {session.call('resume', '--out', 'FILE')}",
            f"the run is complete, but {path} cannot be written: {error.strerror}",
        ) from None
    session.record({"kind": "left", "path": path})
    session.display.line(f"    {path}")

def prepare(program, _options):  # Have the file archived with its run, whatever its type was.
    KEPT.extend(f"{program['name']}.{suffix}" for suffix in dict.fromkeys([*SUFFIXES.values(), OTHER]))

def out_of(options, _before):  # Return the file that the operator names, wherever the run goes on.
    return os.path.abspath(options.out) if getattr(options, "out", None) else None

ENDS.append(leave)
CHECKS.append(prepare)
AGREES["out"] = out_of
OPTIONS.append(("run resume", "--out", "FILE", "where the last output is written, instead of the state directory"))

