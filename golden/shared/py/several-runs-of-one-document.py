# --- Several runs of one document: each has a name and a place of its own; what a call was given is repeated (E12).
NAMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
REPEATED = ("--agent", "--agent-for", "--tool", "--logs", "--log-limit", "--notify")

def choose_place(program, options):  # Keep a run with a name apart; no program has a name with an @.
    name = getattr(options, "as", None)
    if name is None:
        return
    if not NAMED.fullmatch(name):
        raise RefusedError(f"--as {one_line(name)!a}: take letters, digits, `.`, `_` and `-`, at most 64")
    if options.state_dir:
        raise RefusedError("--as and --state-dir both say where the state is: give one of them")
    options.state_dir = os.path.join(OURS, f"{program['name']}@{name}")

def repeated(options, command):
    """Return the words that a printed command repeats, so that it means this run and goes on as this call does."""
    name, found = getattr(options, "as", None), []
    if name is not None:
        found += ["--as", name]
    elif options.state_dir:
        found += ["--state-dir", options.state_dir]
    for owners, option, takes, _ in OPTIONS:
        given = getattr(options, option.strip("-").replace("-", "_"), None)
        if option in REPEATED and command in owners.split() and command != "run" and given:
            for value in given if isinstance(given, list) else [given]:
                found += [option, value] if takes else [option]
    return tuple(found)

def list_runs(session):  # Say where all runs of the document stand.
    name = session.program["name"]
    found = sorted(os.listdir(OURS)) if os.path.isdir(OURS) else []
    places = [os.path.join(OURS, each) for each in found if each == name or each.startswith(f"{name}@")]
    lines = []
    for place in places:
        store, label = Store(place), os.path.basename(place).partition("@")[2] or "-"
        try:
            is_busy, state = store.is_busy(), store.read()
        except (RefusedError, OSError) as error:
            lines.append(f"{label}  DAMAGED  {one_line(str(error))}")
            continue
        if state is not None:
            word = "running" if is_busy and state.condition not in ENDED else state.condition
            word = "interrupted" if word == "running" and not is_busy else word
            where = state.message if state.condition in ENDED else f"at {state.node}"
            lines.append(one_line(f"{label}  {word.upper()}  {state.begin['run']}  {where}").rstrip())
    return session.display.say(lines or ["No run has begun here."])

def status(session):  # Say where the run stands, or where all of them do.
    if not session.options.all:
        return Subcommands.status(session)
    if session.options.state_dir or session.options.json:
        raise RefusedError("status --all takes no --as, --state-dir or --json")
    return list_runs(session)

CHECKS.append(choose_place)
REPEATS.append(repeated)
COMMANDS["status"] = (COMMANDS["status"][0], status)
OPTIONS += [
    ("run resume status steps reset answer goto history", "--as", "NAME", "a run of its own beside others"),
    ("status", "--all", "", "all runs of the document, a line each"),
]

