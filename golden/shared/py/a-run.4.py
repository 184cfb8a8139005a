# --- A run: the loop that does one unit after the other and records each before it goes on.
RECENT = 12  # units that are told, if there are more

# What came of a unit, and how.
Done = namedtuple("Done", "outcome how note verbs", defaults=(MappingProxyType({}), VERBS,))

class Waiting(BaseException):
    """No error: the run cannot go on before somebody decides; the arguments say how, a line each."""

class Performer:  # Does the units of one kind of task. A module that knows a kind adds its class to PERFORMERS.
    keys = ("prompt", "block")  # the texts that say what a unit does
    recovers = False  # whether a unit can be interrupted half done, so that somebody must decide (R2)

    def __init__(self, session):
        self.session = session

    def rehearse(self, _name, _unit):  # Say what would come of a unit, without doing it.
        return Done("pass", "assumed")

    @staticmethod
    def replies(_unit):  # Return the replies with which a unit that waits is answered.
        return []

    @staticmethod
    def names(name, _unit):  # Return the names under which a unit that waits is answered.
        return [name]

    def given(self, name, reply, _how):  # Read the reply to a unit; None if the unit needs further ones.
        raise RefusedError(f"{name} takes no answer such as {one_line(reply)}")

PERFORMERS = {}
OPENS = []  # what modules read when a run is taken up
BEFORE = []  # what they do before a unit, or in its place

def told(done, text):  # Return an outcome to which a text belongs.
    return done

def call_of(options, *words):  # Return the command with which the operator calls a subcommand.
    place = ("--state-dir", options.state_dir) if options.state_dir else ()
    return f"{options.prog} {' '.join(map(quote, [*words, *place]))}"

def identity_of(program):  # Return the fields by which a record knows its program (R4).
    hashes = {"program": program_hash(program), "units": unit_digests(program)}
    return {"time": utc_now(), "name": program["name"], "source": program["source"], **hashes}

def first_record(program, options):  # Return the record with which a run begins.
    registers = {**program.get("registers", {})}
    move = enter(program, program["entry"], registers)
    run = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.urandom(4).hex()}"
    where = {"cwd": os.getcwd(), "registers": dict(move.registers), "node": move.node}
    stand = where_it_stands(program, move, None)
    return {"kind": "begin", "format": 2, "run": run, **identity_of(program), **where, **stand}

def where_it_stands(program, move, before, begins=True):  # Say what a run does where it moved.
    unit = program["units"][move.node]
    if unit["task"] == "end":
        return {"condition": unit["result"], "message": filled(unit, unit.get("message", ""), move.registers)}
    doing = "running" if begins else "ready"
    stand = {"condition": doing if PERFORMERS[unit["task"]].recovers else "waiting"}
    return stand

class Session:  # One run of a program by one process, which holds the lock.
    def __init__(self, program, options, display, signals, state):
        self.program, self.options, self.display, self.signals, self.state = program, options, display, signals, state
        self.call = partial(call_of, options)
        self.ask = partial(question, display, signals)
        self.journal = None
        self.answers = None
        self.is_interactive = display.is_terminal and sys.stdin.isatty()
        doing = {name: unit["task"] for name, unit in program["units"].items() if unit["task"] in PERFORMERS}
        self._performers = {task: PERFORMERS[task](self) for task in sorted(set(doing.values()))}
        self._places = {name: f"{place}/{len(doing)}" for place, name in enumerate(doing, start=1)}
        with signals.listening():  # a pipe is waited for until its other end is opened
            for look in OPENS:
                look(self)
            if options.events is not None:
                self._events = os.open(options.events, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        self._began, self._done = time.monotonic(), 0

    @property
    def folder(self):  # The state directory, wherever the run has gone since it began.
        if self.journal is None:
            raise RefusedError("nothing is recorded in a dry run")
        return self.journal.folder

    def filled(self, unit, key):  # Return a text of a unit, whole.
        return filled(unit, unit.get(key, ""), self.state.registers)

    def label(self, name):  # Return a unit's name and title as people read them.
        return one_line(f"{name} {self.filled(self.program['units'][name], 'title')}")

    def texts(self, unit, key):  # Return a text of a unit as the lines in which it is shown.
        return [f"    {line}".rstrip() for line in clean(self.filled(unit, key)).strip("\n").splitlines()]

    def performer(self, name):  # Return what does a unit.
        return self._performers[self.program["units"][name]["task"]]

    def record(self, record, sync=True):  # Write a record to the journal and take it into account.
        if self.journal is not None:
            self.journal.append(record, sync)
        self.state.apply(record)

    def emit(self, event, is_between=False, **fields):  # Append an event for machines.
        if self.options.events is None:
            return
        about = {"event": event, "time": utc_now(), "run": self.state.begin["run"], **fields}
        try:
            send(self._events, (json.dumps(about) + "\n").encode(), self.signals.has_come)
        except OSError as error:
            if is_between:
                self.rest()
            raise RefusedError(f"{self.options.events}: cannot write the event {event}: {error.strerror}") from None

    def go(self, resumed):  # Walk to an end, or as far as possible, and return the exit code (R3).
        state = self.state
        self.emit("run_started", not resumed, name=self.program["name"], resumed=resumed)
        try:
            if resumed and state.condition == "running":
                self._take_up(state.node)
            while state.condition not in ENDED:
                self._do_next(state.node)
        except Waiting as reason:
            return self._leave("waiting", EXIT_WAITING, *reason.args)
        except Interrupted:
            return self._leave("interrupted", EXIT_INTERRUPTED, f"to go on: {self.call('resume')}")
        self.emit("run_finished", result=state.condition, message=state.message)
        if self._done:
            units = "1 unit" if self._done == 1 else f"{self._done} units"
            self.display.line(f"{units} run in {duration(time.monotonic() - self._began)}")
        self.display.rule(f"{state.condition.upper()} {one_line(state.message)}".rstrip())
        return EXIT_COMPLETE if state.condition == "complete" else EXIT_STOP

    def _leave(self, how, code, *hints):
        self.emit(f"run_{how}", unit=self.state.node)
        for line in (*hints, f"{how.upper()} {self.label(self.state.node)}"):
            self.display.rule(line)
        return code

    def _take_up(self, name):  # Go on at a unit that was interrupted, as somebody decides.
        done = self.performer(name).recover(name)
        if done is None:
            self._begin()
        else:
            self.display.started(self._places[name], self.label(name), ["interrupted"])
            self.settle(name, done, 0.0)

    def _begin(self):
        self.record({"kind": "resume", "condition": "running", "time": utc_now()})

    def _do_next(self, name):
        self.heed()
        unit, about, begun = self.program["units"][name], self._about(name), time.monotonic()
        details = [f"attempt {about['attempt']}"] if about["attempt"] > 1 else []
        self.display.started(self._places[name], self.label(name), details)
        self.emit("unit_started", True, **about)
        done = next(filter(None, (look(self, name) for look in BEFORE)), None)
        if self.state.condition == "ready" or (self.state.condition == "waiting" and self.performer(name).recovers):
            self._begin()
        done = done or self.performer(name).perform(name, unit)
        self._done += 1
        self.settle(name, done, time.monotonic() - begun)

    def settle(self, name, done, seconds, begins=True):  # Record an outcome and where the run goes: one record (R1).
        move = advance(self.program, name, self.state.registers, done.outcome, done.verbs)
        result = {**self._about(name), "outcome": done.outcome, "how": done.how, "says": move.says}
        result.update(seconds=round(seconds, 3), next=move.node)
        begins = begins and (self.journal is None or self.journal.is_there())
        stand = where_it_stands(self.program, move, self.state, begins)
        word = word_of(self.program["units"][name], done.outcome)
        ended = f"{self.label(name)} ended with {word}"
        try:
            self.record({"kind": "done", **result, "changed": move.changed, **stand, **done.note})
        except VanishedError as error:
            raise self._vanished(f"{ended}, and this is lost: {error}") from None
        except RefusedError as error:
            recovers = self.performer(name).recovers
            again = self.call(*(("resume", "--assume", done.outcome) if recovers else ("answer", name, word.lower())))
            raise RefusedError(f"{ended}, but this could not be recorded ({error}); make room, then: {again}") from None
        details = ", ".join(filter(None, [done.how, duration(seconds), one_line(move.says)]))
        self.display.line(f"    {self.display.paint(word, done.outcome)}  {self.display.paint(details, 'dim')}")
        self.emit("unit_finished", True, **result)

    def heed(self):  # Begin no unit when the run was told to end, or when its state has vanished.
        if self.signals.has_come():
            self.rest()
            raise Interrupted
        if self.journal is not None and not self.journal.is_there():
            with suppress(VanishedError):  # a folder that was moved away shall say so
                self.rest()
            raise self._vanished(f"{self.journal.loss}; {self.label(self.state.node)} was not begun")

    def rest(self):  # Record that the unit at which the run stands has not begun: nobody need decide about it.
        if self.state.condition == "running":
            self.record({"kind": "rest", "condition": "ready"})

    def _vanished(self, reason):  # Say what can be done about a run without state.
        return VanishedError(
            f"if the folder was moved, put it back, then: {self.call('resume')}",
            f"if it is lost, begin anew:                  {self.call('run')}",
            "to keep the state where no command of the run removes it, name another folder with --state-dir",
            reason,
        )

    def _about(self, name):
        unit, registers = self.program["units"][name], self.state.registers
        numbers = {"attempt": attempt_of(unit, registers), "instances": instances_of(unit, registers)}
        return {"unit": name, "title": self.filled(unit, "title"), **numbers}

    def adopt(self):  # Go on with a program that is not the one the run began with (R4).
        node, old, condition = self.state.node, self.state.registers, self.state.condition
        if node not in self._places:
            raise RefusedError(f"the run stands at {node}, which this program does not have")
        if not self.performer(node).recovers:
            condition = "waiting"
        elif condition == "waiting":  # it asked, and is a command now, which has not begun
            condition = "ready"
        registers = {**self.program.get("registers", {})}
        for name, new in registers.items():
            if isinstance(old.get(name, new), int) == isinstance(new, int):  # it is a counter, or a text, in both
                registers[name] = old.get(name, new)
        self.record({"kind": "adopt", **identity_of(self.program), "condition": condition, "registers": registers})

