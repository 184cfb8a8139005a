# --- The command line of a program.
NO_PLACE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ELOOP)
BEGINNINGS = []  # what registers are given when a run begins

class Commandline:
    """What the subcommands of a program share."""

    def __init__(self, program, options, display):
        self.program, self.options, self.display = program, options, display
        self.call = partial(call_of, options)
        self.store = Store((options.state_dir or os.path.join(".rdc", program["name"])).rstrip("/") or "/")

    @cached_property
    def hash(self):  # The hash by which a state knows this program.
        return program_hash(self.program)

    def session(self, signals, state=None):  # Return a run of the program, from its beginning or from a state.
        if state is None:
            given = {name: value for look in BEGINNINGS for name, value in look(self.program, self.options).items()}
            state = State(first_record(self.program, given))
        return Session(self.program, self.options, self.display, signals, state)

    @contextmanager
    def locked(self):  # Hold signals back and every other run away.
        if self.options.command != "run" and not os.path.exists(self.store.path):
            raise RefusedError(self._nothing())
        with Signals() as signals:
            self.display.gives_up = signals.has_come
            self.store.lock()
            try:
                yield signals
            finally:
                self.store.unlock()

    def known_state(self):  # Read the state; refuses that of another program (R4).
        state, reading = self.store.read()
        if state is None:
            raise RefusedError(self._nothing())
        if state.program == self.hash or self.options.adopt:
            return state, reading
        self.check_document(state)
        if state.condition not in ENDED:
            raise RefusedError(
                *differences(state.units, self.program),
                f"to resume with this version all the same: {self.call('resume', '--adopt')}",
                "this run belongs to a different version of this program",
            )
        return state, reading

    def check_document(self, state):
        """Refuse the state of another document: its runs are not this program's to go on with."""
        about = self.program
        if (state.source, state.name) != (about["source"], about["name"]) and state.program != self.hash:
            key = "name" if state.source == about["source"] else "source"
            raise RefusedError(
                f"to archive that run: {self.call('reset')}",
                f"the state in {self.store.directory} is that of {getattr(state, key)} (run {state.begin['run']}), "
                f"this is {about[key]}: use --state-dir, or archive it with reset",
            )

    def _nothing(self):
        return f"no run has begun here ({self.store.directory}); begin one: {self.call('run')}"

    def say(self, lines):  # Write lines to standard output.
        encoding = sys.stdout.encoding or "utf-8"
        text = "".join(clean(line) + "\n" for line in lines)
        with naming("standard output"):
            put(sys.stdout, text.encode(encoding, "backslashreplace").decode(encoding), lambda: False)
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
            line.check_document(old)
            _refuse_another(line, old)
        session = line.session(signals)
        if old is not None:
            line.store.archive(old.begin["run"])
            _, reading = line.store.read()
        session.journal = line.store.journal(reading)
        session.journal.append(session.state.begin)
        return session.go(resumed=False)

def _refuse_another(line, old):
    """Refuse to begin a run while one is under way; options that decide about that one go to `resume`."""
    options, is_same = line.options, old.program == line.hash
    decision = ["--rerun-interrupted"] if options.rerun_interrupted else []
    decision += ["--assume", options.assume] if options.assume else []
    resume = line.call("resume", *([] if is_same else ["--adopt"]), *decision)
    can_go_on = line.program["units"].get(old.node, {}).get("task") in PERFORMERS
    raise RefusedError(
        *[f"to resume it:   {resume}"][:can_go_on],
        f"to archive it:  {line.call('reset')}",
        f"an unfinished run stands at {old.node}{'' if is_same else ', of a different version of this program'}",
    )

def resume(line):  # Go on with a run.
    with line.locked() as signals:
        state, reading = line.known_state()
        session = line.session(signals, state)
        session.journal = line.store.journal(reading)
        os.chdir(state.begin["cwd"])  # M2: where the run was started from
        if state.condition not in ENDED and state.program != line.hash:
            session.adopt()
        return session.go(resumed=True)

def status(line):  # Say where the run stands.
    import json

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

def help_of(program, prog, command):  # Return what the program, or one of its commands, tells of itself.
    lines = [f"usage: {prog} COMMAND [OPTION]...", "", clean(program["title"]), "", "commands:"]
    lines += [f"  {name:8}{text}" for name, (text, _) in COMMANDS.items()]
    if command:
        lines = [f"usage: {prog} {command} [OPTION]...", "", f"{COMMANDS[command][0]}.", ""]
        lines += [
            f"  {name + ' ' + takes:32}{text}" for owners, name, takes, text in OPTIONS if command in owners.split()
        ]
    return "\n".join(lines)

def read_words(prog, words):
    """Read the command line: a subcommand, and in any order its options and the words that it takes."""
    command, *rest = words
    known = {option: takes for owners, option, takes, _ in OPTIONS if command in owners.split()}
    found = {
        option: [] if "..." in takes else None if takes else False for option, takes in known.items()
    }
    due, wrong = [option for option in known if not option.startswith("--")], ""
    while rest and not wrong:
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        if due and not word.startswith("--"):
            found[due.pop(0)] = word
        elif option not in known or (equals and not known[option]):
            wrong = f"unrecognized arguments: {word}"
        elif known[option] and not equals and (not rest or rest[0].startswith("--")):
            wrong = f"argument {option}: expected {known[option]}"
        else:
            given = value if equals else rest.pop(0) if known[option] else True
            found[option] = [*found[option], given] if isinstance(found[option], list) else given
    if wrong or due:
        reason = wrong or f"the following arguments are required: {' '.join(due)}"
        raise RefusedError(f"{reason} (see: {prog} {command} --help)")
    options = {option.strip("-").replace("-", "_"): value for option, value in found.items()}
    return SimpleNamespace(**{"answers": None, "events": None, "adopt": False, **options}, prog=prog, command=command)

def command_name():  # Return the words by which this program was called.
    script = sys.argv[0]
    direct = "/" in script and os.access(script, os.X_OK)
    return quoted(script) if direct else f"python3 {quoted(script)}"

def open_streams():
    """Open what was closed when the program was started: the next file that is opened would take its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))

def execute(program, words, prog, display):  # Do what the subcommand says.
    command = words[0] if words else ""
    if {"-h", "--help"} & set(words[: 2 if command in COMMANDS else 1]):
        put(sys.stdout, help_of(program, prog, command if command in COMMANDS else "") + "\n", lambda: False)
        return EXIT_COMPLETE
    if command not in COMMANDS:
        if not words:
            display.line(help_of(program, prog, ""))
        raise RefusedError(f"{f'no command {command!a}' if words else 'no subcommand was given'} (see: {prog} --help)")
    options, units = read_words(prog, words), program["units"].values()
    strange = {unit["task"] for unit in units} - {"branch", "end", *PERFORMERS}
    if strange:
        raise RefusedError(f"this program has units that nothing here can do: {', '.join(sorted(strange))}")
    assumed, known = getattr(options, "assume", None), {word for unit in units for word in words_of(unit)}
    if assumed and (options.rerun_interrupted or assumed not in known):
        raise RefusedError(f"--assume takes one of {', '.join(sorted(known))}, and no --rerun-interrupted beside it")
    with naming("the current folder"):
        os.getcwd()
    line = Commandline(program, options, display)
    try:
        return COMMANDS[command][1](line)
    except VanishedError as error:
        *details, reason = error.args
        raise RefusedError(
            *details,
            f"if the folder was moved, put it back, then: {line.call('resume')}",
            f"if it is lost, begin anew:                  {line.call('run')}",
            "to keep the state where no command of the run removes it, name another folder with --state-dir",
            reason,
        ) from None
    except OSError as error:
        if error.errno in NO_PLACE and line.store.involves(str(error.filename)):
            reason = f"{error.filename}: {error.strerror}; choose another place with --state-dir"
            raise RefusedError(reason) from None
        raise

def main(program, argv=None, prog=None):  # Do what the command line says and return the exit code.
    open_streams()
    display = Display(sys.stderr)
    try:
        return _do(program, sys.argv[1:] if argv is None else argv, prog or command_name(), display)
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
        details, reason = [], ""
    for detail in details:
        display.rule(detail)
    display.rule(f"error: {reason}" if reason else "INTERRUPTED before anything was done")
    return EXIT_REFUSED if reason else EXIT_INTERRUPTED

