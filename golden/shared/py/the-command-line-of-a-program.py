# --- The command line of a program.
class Commandline:  # What the subcommands of a program share.
    def __init__(self, program, options, display):
        self.program, self.options, self.display = program, options, display
        self.call = partial(call_of, options)
        self.store = Store((options.state_dir or os.path.join(".rdc", program["name"])).rstrip("/") or "/")
        self.none = f"no run has begun here ({self.store.directory}); begin one: {self.call('run')}"

    def session(self, signals, state=None):  # Return a run of the program, from its beginning or from a state.
        state = state or State(first_record(self.program, self.options))
        return Session(self.program, self.options, self.display, signals, state)

    @contextmanager
    def locked(self):  # Hold signals back and every other run away.
        if self.options.command != "run" and not os.path.exists(self.store.path):
            raise RefusedError(self.none)
        with Signals() as signals:
            self.display.gives_up = signals.has_come
            with self.store.locked():
                yield signals

    def is_same(self, state):  # Tell whether a state belongs to this version of the program (R4).
        return bool(program_hash(self.program) == state.program)

    def known_state(self):  # Read the state; refuses that of another program (R4).
        state, reading = self.store.read()
        if state is None:
            raise RefusedError(self.none)
        if self.options.adopt or self.is_same(state):
            return state, reading
        self.check_document(state)
        if state.condition not in ENDED:
            raise RefusedError(
                *differences(state.units, self.program),
                f"to resume with this version all the same: {self.call('resume', '--adopt')}",
                "this run belongs to a different version of this program",
            )
        return state, reading

    def check_document(self, state):  # Refuse the state of another document.
        about, key = self.program, "source" if state.source != self.program["source"] else "name"
        if getattr(state, key) != about[key] and not self.is_same(state):
            raise RefusedError(
                f"to archive that run: {self.call('reset')}",
                f"the state in {self.store.directory} is that of {getattr(state, key)} (run {state.begin['run']}), "
                f"this is {about[key]}: use --state-dir, or archive it with reset",
            )

    def say(self, lines):  # Write lines to standard output.
        with naming("standard output"):
            put(sys.stdout, "".join(clean(line) + "\n" for line in lines))
        return EXIT_COMPLETE

def run(line):  # Begin a run, unless one is under way.
    if line.options.dry_run:
        line.options.events = None
        with Signals() as signals:
            line.display.gives_up = signals.has_come
            session = line.session(signals)
        return line.say(rehearse(session))
    with line.locked() as signals:
        old, reading = line.store.read()
        if old is not None and old.condition not in ENDED:
            _refuse_another(line, old)
        session = line.session(signals)
        if old is not None:
            line.store.archive(old.begin["run"])
            reading = Reading([])
        session.journal = line.store.journal(reading)
        session.journal.append(session.state.begin)
        return session.go(resumed=False)

def _refuse_another(line, old):  # Refuse a run while another is under way, which options may be about.
    line.check_document(old)
    options, version = line.options, "" if line.is_same(old) else ", of a different version of this program"
    words = ["--adopt"] if version else []
    words += ["--rerun-interrupted"] if options.rerun_interrupted else []
    words += ["--assume", options.assume] if options.assume else []
    ways = [f"to resume it:   {line.call('resume', *words)}", f"to archive it:  {line.call('reset')}"]
    is_there = old.node in line.program["units"]
    raise RefusedError(*ways[not is_there :], f"an unfinished run stands at {old.node}{version}")

def resume(line):  # Go on with a run.
    with line.locked() as signals:
        state, reading = line.known_state()
        session = line.session(signals, state)
        session.journal = line.store.journal(reading)
        os.chdir(state.begin["cwd"])  # M2: where the run was started from
        if state.condition not in ENDED and not line.is_same(state):
            session.adopt()
        return session.go(resumed=True)

def status(line):  # Say where the run stands.
    state = line.known_state()[0] if os.path.exists(line.store.path) else None
    facts = describe(line.program, state, line.store.is_busy(), line.call)
    return line.say([json.dumps(facts, indent=2)] if line.options.json else status_lines(line.program, facts))

def reset(line):  # Archive a run, a damaged one too.
    with line.locked():
        try:
            state, _ = line.store.read()
            name = state.begin["run"] if state is not None else "empty"
        except RefusedError:
            name = time.strftime("damaged-%Y%m%dT%H%M%SZ", time.gmtime())
        line.display.rule(f"the run was archived as {line.store.archive(name)}")
    return EXIT_COMPLETE

COMMANDS = {
    "run": ("begin a run", run),
    "resume": ("go on with a run", resume),
    "status": ("say where the run stands", status),
    "steps": ("list the units", lambda line: line.say(steps_lines(line.program))),
    "reset": ("archive the run, to begin anew", reset),
}
OPTIONS = [
    ("run resume status steps reset answer", "--state-dir", "DIR", "where the state is kept"),
    ("run resume", "--answers", "FILE", "RESULT or UNIT RESULT, a line each"),
    ("run resume", "--rerun-interrupted", "", "run the interrupted command again"),
    ("run resume", "--assume", "WORD", "the outcome of the interrupted command"),
    ("run resume answer", "--events", "FILE", "append what happens, as JSON lines"),
    ("run", "--dry-run", "", "show the walk; do and record nothing"),
    ("resume status", "--adopt", "", "accept the state of another version"),
    ("status", "--json", "", "for machines"),
]
"""The subcommands that have an option, its name, what it takes (`...`: several times), what it is for."""

DEFAULTS = {"answers": None, "events": None, "adopt": False, "assume": None}

def help_of(program, prog, command):  # Return what the program, or one of its commands, tells of itself.
    lines = [f"  {name:8}{text}" for name, (text, _) in COMMANDS.items()]
    if command in COMMANDS:
        lines = [f"  {name + ' ' + takes:32}{text}" for owners, name, takes, text in OPTIONS if command in owners]
    return [f"usage: {prog} {command or 'COMMAND'} [OPTION]...", "", program["title"], "", *lines]

def read_words(prog, command, words):  # Read the options and words that follow a subcommand, in any order.
    known = {option: takes for owners, option, takes, _ in OPTIONS if command in owners.split()}
    found = {name: [] if "..." in takes else None if takes else False for name, takes in known.items()}
    due, rest, see = [name for name in known if name[0] != "-"], list(words), f"(see: {prog} {command} --help)"
    while rest:
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        if due and not word.startswith("--"):
            found[due.pop(0)] = word
        elif option not in known or (equals and not known[option]):
            raise RefusedError(f"unrecognized arguments: {word} {see}")
        elif known[option] and not equals and (not rest or rest[0].startswith("--")):
            raise RefusedError(f"argument {option}: expected {known[option]} {see}")
        else:
            given = value if equals else rest.pop(0) if known[option] else True
            found[option] = [*found[option], given] if isinstance(found[option], list) else given
    if due:
        raise RefusedError(f"the following arguments are required: {' '.join(due)} {see}")
    options = {option.strip("-").replace("-", "_"): value for option, value in found.items()}
    return SimpleNamespace(**{**DEFAULTS, **options}, prog=prog, command=command)

def execute(program, words, prog, display):  # Do what the subcommand says.
    command = words[0] if words else ""
    if {"-h", "--help"} & set(words[: 1 + (command in COMMANDS)]):
        put(sys.stdout, clean("\n".join(help_of(program, prog, command))) + "\n")
        return EXIT_COMPLETE
    if command not in COMMANDS:
        wrong = f"no command {command!a}" if words else "no subcommand was given"
        raise RefusedError(f"{wrong}: there are {', '.join(COMMANDS)} (see: {prog} --help)")
    options = read_words(prog, command, words[1:])
    outcomes = {word for unit in program["units"].values() for word in words_of(unit)}
    if options.assume and (options.rerun_interrupted or options.assume not in outcomes):
        raise RefusedError(f"--assume takes one of {', '.join(sorted(outcomes))}, and no --rerun-interrupted beside it")
    with naming("the current folder"):
        os.getcwd()
    line = Commandline(program, options, display)
    try:
        return COMMANDS[command][1](line)
    except OSError as error:
        if error.filename and line.store.involves(str(error.filename)):
            error.strerror = f"{error.strerror}; choose another place with --state-dir"
        raise

def main(program, argv=None, prog=None):  # Do what the command line says and return the exit code.
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # the next file that is opened would take its place
            setattr(sys, name, open(os.open(os.devnull, os.O_RDWR), "r+", encoding="utf-8"))
    script = sys.argv[0]
    is_direct = "/" in script and os.access(script, os.X_OK)
    prog = prog or (quote(script) if is_direct else f"python3 {quote(script)}")
    try:
        return _do(program, sys.argv[1:] if argv is None else argv, prog, Display(sys.stderr))
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED

def _do(program, words, prog, display):
    try:
        return execute(program, words, prog, display)
    except RefusedError as refusal:
        *details, reason = refusal.args
    except BrokenPipeError:  # who reads the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return EXIT_COMPLETE
    except OSError as error:
        details, reason = [], f"{error.filename}: {error.strerror}" if error.filename else str(error)
    except Interrupted:
        display.rule("INTERRUPTED before anything was done")
        return EXIT_INTERRUPTED
    for text in (*details, f"error: {reason}"):
        display.rule(text)
    return EXIT_REFUSED

