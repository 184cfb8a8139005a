# --- The command line of a program.
class Subcommands(Session):  # What an operator can have a program do; each returns the exit code.
    def run(self):  # Begin a run, unless one is under way.
        if self.options.dry_run:
            self.take()
            return self.display.say(preview(self))
        self.alone()
        old = self.read(begins=True)
        self.take()
        if old is not None:
            self.store.archive(old.begin["run"])
        self.store.open()
        self.store.append(self.state.begin)
        return self.go(resumed=False)
    def resume(self):  # Go on with a run.
        self.alone()
        self.take(self.read())
        self.store.open()
        os.chdir(self.state.begin["cwd"])  # M2: where the run was started from
        if self.state.condition not in ENDED and not self.is_same(self.state):
            self.adopt()
        return self.go(resumed=True)
    def status(self):  # Say where the run stands.
        is_busy = self.store.is_busy()  # asked first: a run that ends between the two has not been interrupted
        facts = describe(self, self.read() if os.path.exists(self.store.path) else None, is_busy)
        return self.display.say([json.dumps(facts, indent=2)] if self.options.json else status_lines(self, facts))
    def reset(self):  # Archive a run, a damaged one too.
        self.alone()
        name = time.strftime("damaged-%Y%m%dT%H%M%SZ", time.gmtime())
        with suppress(RefusedError, OSError):
            state = self.store.read()
            name = state.begin["run"] if state is not None else "empty"
        self.display.rule(f"the run was archived as {self.store.archive(name)}")
        return EXIT_COMPLETE

COMMANDS = {
    "run": ("begin a run", Subcommands.run),
    "resume": ("go on with a run", Subcommands.resume),
    "status": ("say where the run stands", Subcommands.status),
    "steps": ("list the steps", lambda session: session.display.say(steps_lines(session.program))),
    "reset": ("archive the run, to begin anew", Subcommands.reset),
}
# The subcommands that have an option, its name, what it takes (`...`: several times), what it is for.
OPTIONS = [
    ("run resume status steps reset answer", "--state-dir", "DIR", "where the state is kept"),
    ("run resume", "--answers", "FILE", "REPLY or STEP REPLY, a line each"),
    ("run resume", "--rerun-interrupted", "", "run the interrupted command again"),
    ("run resume", "--assume", "WORD", "the outcome of the interrupted command"),
    ("run resume answer", "--events", "FILE", "append what happens, as JSON lines"),
    ("run", "--dry-run", "", "show the path; do and record nothing"),
    ("resume status", "--adopt", "", "accept the state of another version"),
    ("status", "--json", "", "for machines"),
]
ASKS = []  # what modules do before the words of a call are read
CHECKS = []  # what they make of the options

def help_of(program, prog, command):  # Return what the program, or one of its commands, tells of itself.
    lines = [f"  {name:7} {text}" for name, (text, _) in COMMANDS.items()]
    if command in COMMANDS:
        lines = [f"  {name + ' ' + takes:32}{text}" for own, name, takes, text in OPTIONS if command in own.split()]
    return [f"usage: {prog} {command} [OPTION]...", "", program["title"], "", *lines]

def read_words(prog, command, words):  # Read the options and words that follow a subcommand, in any order.
    known = {option: takes for owners, option, takes, _ in OPTIONS if command in owners.split()}
    found = {option: None if takes else False for _, option, takes, _ in OPTIONS}
    many = {name for _, name, takes, _ in OPTIONS if "..." in takes}
    found.update({option: [] for option in many})
    due = [option for option in known if option[0] != "-"]
    rest, see = iter(words), f"(see: {prog} {command} --help)"
    for word in rest:
        option, equals, value = word.partition("=")
        if due and not word.startswith("--"):
            found[due.pop(0)] = word
            continue
        if option not in known or (equals and not known[option]):
            raise RefusedError(f"unrecognized arguments: {word} {see}")
        if known[option] and not equals:
            value = next(rest, "--")
            if value.startswith("--"):
                raise RefusedError(f"argument {option}: expected {known[option]} {see}")
        if option in many:
            found[option].append(value)
            continue
        found[option] = value if known[option] else True
    if due:
        raise RefusedError(f"the following arguments are required: {' '.join(due)} {see}")
    options = {option.strip("-").replace("-", "_"): value for option, value in found.items()}
    return types.SimpleNamespace(**options, prog=prog, command=command)

def execute(program, words, prog, display):  # Do what the subcommand says.
    for look in ASKS:
        look(words)
    command = words[0] if words else ""
    if {"-h", "--help"} & set(words if command in COMMANDS else words[:1]):
        return display.say(help_of(program, prog, command if command in COMMANDS else "COMMAND"))
    if command not in COMMANDS:
        wrong = f"no command {command!a}" if words else "no subcommand was given"
        raise RefusedError(f"{wrong}: there are {', '.join(COMMANDS)} (see: {prog} --help)")
    options = read_words(prog, command, words[1:])
    outcomes = {word for node in program["nodes"].values() for word in node.get("words", BINARY)}
    if options.assume and (options.rerun_interrupted or options.assume not in outcomes):
        raise RefusedError(f"--assume takes one of {', '.join(sorted(outcomes))}, and no --rerun-interrupted beside it")
    for check in CHECKS:
        check(program, options)
    with naming("the current folder"):
        session = Subcommands(program, options, display)
    try:
        return COMMANDS[command][1](session)
    except OSError as error:
        if error.filename and session.store.involves(error.filename):
            error.strerror = f"{error.strerror}; choose another place with --state-dir"
        raise

def main(program, argv=None, prog=None):  # Do what the command line says and return the exit code.
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # the next file that is opened would take its place
            setattr(sys, name, open(os.open(os.devnull, os.O_RDWR), "r+", encoding="utf-8"))
    is_direct = "/" in sys.argv[0] and os.access(sys.argv[0], os.X_OK)
    prog = prog or ("" if is_direct else "python3 ") + shlex.quote(sys.argv[0])
    with suppress(KeyboardInterrupt):
        return _do(program, sys.argv[1:] if argv is None else argv, prog, Display(sys.stderr))
    return EXIT_INTERRUPTED

def _do(program, words, prog, display):
    try:
        return execute(program, words, prog, display)
    except RefusedError as refusal:
        *details, reason = refusal.args
    except BrokenPipeError:  # who reads the output has seen enough
        return EXIT_COMPLETE
    except OSError as error:
        details, reason = [], f"{error.filename}: {error.strerror}" if error.filename else str(error)
    except Interrupted:
        display.rule("INTERRUPTED before anything was done")
        return EXIT_INTERRUPTED
    for text in (*details, f"error: {reason}"):
        display.rule(text)
    return EXIT_INTERRUPTED if display.gives_up() else EXIT_REFUSED

