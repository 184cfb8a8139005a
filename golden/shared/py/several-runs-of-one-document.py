# --- Several runs of one document: each has a name and a place of its own; what a call was given is repeated.
REPEATED = (
    *("--agent", "--agent-for", "--tool", "--logs", "--log-limit", "--notify"),
    *("--agent-model", "--agent-timeout", "--agent-retries", "--mock", "--executor"),
)  # options that say how a run goes on, and are kept nowhere
def list_runs(session):
    name, lines = session.program["name"], []
    for each in sorted(os.listdir(OURS)) if os.path.isdir(OURS) else []:
        own, _, label = each.partition("@")
        store = Store(os.path.join(OURS, each))
        if own != name or not os.path.lexists(store.path):
            continue
        try:
            word, where, state = place_of(store.path, session.store.modes, store.is_busy())
            lines.append(f"{label or '-'}  {word}  {state.begin['run']}  {where}")
        except (RefusedError, OSError, IndexError):
            lines.append(f"{label or '-'}  DAMAGED  {store.path}")
    return session.display.say([one_line(line) for line in lines] or ["No run has started here."])
def status_of_all(session):
    if not session.options.all:
        return status(session)
    if session.options.state_dir or session.options.json or session.options.adopt:
        raise RefusedError("status --all takes no other options")
    return list_runs(session)

class Several(Extension):
    commands = {"status": ("say where the run stands", status_of_all)}
    options = (
        ("run resume status steps reset answer approve goto timeline history", "--as", "NAME", "a run beside others"),
        ("status", "--all", "", "all runs of the document, a line each"),
    )
    def prepare(self):
        options, name = self.session.options, getattr(self.session.options, "as")
        if name is None:
            return
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
            rule = "begin with a letter or digit, then use letters, digits, `.`, `_` and `-`, at most 64 characters"
            raise RefusedError(f"--as {one_line(name)!a}: {rule}")
        if options.state_dir:
            raise RefusedError("--as and --state-dir both say where the state is: give one of them")
        options.state_dir = os.path.join(OURS, f"{self.session.program['name']}@{name}")
    def repeat(self, command):
        options = self.session.options
        found = ["--state-dir", options.state_dir] if options.state_dir else []
        if getattr(options, "as"):
            found = ["--as", getattr(options, "as")]
        known = [(name, takes) for owners, name, takes, _ in options.known if command in owners.split()]
        for option, takes in known if command != "run" else ():
            given = getattr(options, option[2:].replace("-", "_")) if option in REPEATED else None
            for value in given if isinstance(given, list) else filter(None, [given]):
                found += [option, value] if takes else [option]
        return tuple(found)

