# --- A run: the loop that does one step after the other and records each before it goes on.
class Session(Telling):
    answers = ("", ())  # the digest of the file of answers, and what is left of it
    def __init__(self, program, options, display, kinds, host=Host()):
        self.program, self.options, self.display, self.host = program, options, display, host
        self.kinds = {task: performer for kind in kinds for task, performer in kind.performers.items()}
        self.extensions = [kind(self) for kind in kinds]
        # The methods of the extensions for a moment, in order.
        self.at = functools.cache(lambda name: [getattr(one, name) for one in self.extensions if hasattr(one, name)])
        self.each("prepare")
        directory = (options.state_dir or os.path.join(OURS, program["name"])).rstrip("/") or "/"
        self.store = Store(directory, {"", *(kind.mode for kind in kinds)})
        self.is_interactive = display.is_terminal and sys.stdin.isatty()
        doing = [name for name, node in program["nodes"].items() if node["task"] in self.kinds]
        self.places = {name: f"{place}/{len(doing)}" for place, name in enumerate(doing, start=1)}
        self._began, self._done = time.monotonic(), 0
        self.identity = functools.cache(lambda: identified(program, self.through("identify", without_places(program))))
    # --- The extensions ---
    def each(self, moment, *about):
        return [act(*about) for act in self.at(moment)]
    def gathered(self, moment, *about):
        return [one for found in self.each(moment, *about) for one in found]
    def through(self, moment, value, *about):
        for change in self.at(moment):
            value = change(*about, value)
        return value
    def call(self, *words):
        default = ("--state-dir", self.options.state_dir) if self.options.state_dir else ()
        place = [default, *self.each("repeat", words[0])][-1]
        command = f"{self.options.prog} {' '.join(map(shlex.quote, [*words, *place]))}"
        return str(next(filter(None, self.each("call", words)), command))
    def mask(self, text):
        return self.through("mask", text)
    def told(self, done, text):
        return self.through("told", done, text)
    # --- The state ---
    def alone(self):
        if self.options.command != "run" and not os.path.exists(self.store.path):
            self.read()
        self.store.lock()
    def is_same(self, state):
        return bool(self.identity()["program"] == state.program)
    def read_state(self):
        state = self.store.read()
        if state is not None:
            self.each("read", state)
        return state
    def read(self, begins=False):
        old, about, reset = self.read_state(), self.program, f"to archive it:  {self.call('reset')}"
        if old is None and not begins:
            raise RefusedError(f"no run has begun here ({self.store.directory}); begin one: {self.call('run')}")
        if old is None or (begins and old.condition in ENDED):
            return old
        is_same = self.is_same(old)
        is_fine = is_same or bool(self.options.adopt)
        if not is_fine and (old.name, old.source) != (about["name"], about["source"]):
            theirs = f"{self.store.directory} has the state of {old.name} ({old.source}, run {old.begin['run']})"
            raise RefusedError(reset, f"{theirs}, not of {about['name']} ({about['source']}): use --state-dir")
        if begins:
            again = self.call("resume", *["--adopt"][is_same:])
            choices = [f"to resume it:   {again}"] if old.node in self.places else []
            version = "" if is_same else ", of a different version of this program"
            raise RefusedError(*choices, reset, f"an unfinished run is at step {old.node}{version}")
        if not is_fine and old.condition not in ENDED:
            raise self.of_another_version(old)
        return old
    def of_another_version(self, old):
        how = f"to resume with this version: {self.call('resume', '--adopt')}"
        found = differences(old.nodes, self.identity()["nodes"])
        return RefusedError(*found, how, "this run belongs to a different version of this program")
    def adopt(self):
        old, new, state = self.state.registers, self.program["registers"], self.state
        if state.node not in self.places:
            raise RefusedError(f"the run is at step {state.node}, which this program does not have")
        condition = state.condition if self.performers[state.node].recovers else "waiting"
        kept = {name: old[name] for name in {*new} & {*old} if isinstance(old[name], int) == isinstance(new[name], int)}
        stand = {"time": utc_now(), "condition": condition, "registers": {**new, **kept}}
        self.record({"kind": "adopt", **self.identity(), **stand})
    def beside(self):
        return {path: ending for found in self.each("beside") for path, ending in found.items()}
    # --- The run ---
    def take(self, state=None):
        self.each("before_run", state)
        self.signals = Signals()
        self.display.gives_up = self.signals.has_come
        with self.signals:  # a person may be asked, and a pipe is waited for until its other end is opened
            self.state = state or State([self._first_record()])
            nodes, performer = self.program["nodes"], functools.cache(lambda task: self.kinds[task](self))
            self.performers = {name: performer(nodes[name]["task"]) for name in self.places}
            self.ask = functools.partial(question, self.display, self.signals)
            self.each("open")
            if self.options.events is not None and not self.options.dry_run:
                self._events = os.open(self.options.events, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    def _first_record(self):
        registers = {**self.program["registers"]}
        for more in self.each("registers"):
            registers.update(more)
        move = follow(self.program, {"go": self.program["entry"]}, registers)
        run = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.urandom(4).hex()}"
        version = {"format": FORMAT, "edition": self.host.edition, "run": run, **self.identity()}
        where = {"time": utc_now(), "cwd": os.getcwd(), "registers": dict(move.registers), "node": move.node}
        return self.through("record", {"kind": "begin", **version, **where, **self.stand(move)})
    def is_over(self, name):
        return self.options.only is not None and name not in self.options.only
    def stand(self, move, before=None, begins=True):
        node = self.program["nodes"][move.node]
        if node["task"] == "end":
            return {"condition": node["result"], "message": self.filled(node, "message", move.registers)}
        is_begun = begins and not self.is_over(move.node)
        condition = ("ready", "running")[is_begun] if self.kinds[node["task"]].recovers else "waiting"
        return self.through("stand", {"condition": condition}, move, before)
    def record(self, record, sync=True):
        record = self.through("record", record)
        self.store.append(record, sync)
        self.state.apply(record)
        try:
            self.each("written", record)
        except OSError:
            if record["kind"] == "done":  # what the run has just come to has not begun
                self.rest()
            raise
    def emit(self, event, is_between=False, **fields):
        fields = {"step" if key == "node" else key: value for key, value in fields.items()}
        try:
            self.each("event", event, fields)
            if self.options.events is not None:
                about = {"event": event, "time": utc_now(), "run": self.state.begin["run"], **fields}
                self.display.put(encoder()(self.through("record", about)) + "\n", self._events)
        except OSError as error:
            if is_between:
                self.rest()
            if error.filename:
                raise
            raise RefusedError(f"{self.options.events}: cannot write the event {event}: {error.strerror}") from None
    def go(self, resumed):
        state = self.state
        if resumed:
            self.each("resumed")
        self.emit("run_started", not resumed, name=self.program["name"], resumed=resumed)
        try:
            if resumed and state.condition == "running":
                self._do_next(state.node, is_interrupted=True)
            while state.condition not in ENDED:
                if self.is_over(state.node):
                    step = f"step {' '.join(self.options.PLACE)} is completed"
                    self.display.rule(step if self.options.PLACE else f"run {state.begin['run']} is open")
                    return EXIT_COMPLETE
                self._do_next(state.node)
        except Waiting as reason:
            self.each("waits")
            return self._leave("waiting", EXIT_WAITING, *reason.args)
        except Interrupted:
            return self._leave("interrupted", EXIT_INTERRUPTED, f"to continue: {self.call('resume')}")
        self.each("end")
        self.emit("run_finished", result=state.condition, message=state.message)
        if done := self._done:
            self.display.line(f"{done} step{'s' * (done > 1)} run in {duration(time.monotonic() - self._began)}")
        self.display.rule(f"{state.condition.upper()} {one_line(state.message)}".rstrip())
        return EXIT_COMPLETE if state.condition == "complete" else EXIT_STOP
    def _leave(self, how, code, *hints):
        self.emit(f"run_{how}", node=self.state.node)
        for line in (*hints, f"{how.upper()} {self.label(self.state.node)}"):
            self.display.rule(line)
        return code
    def _do_next(self, name, is_interrupted=False):
        performer, begun = self.performers[name], time.monotonic()
        if is_interrupted and (decided := self.through("given", performer.recover(name))):
            self.announce(name, "interrupted")
            return self.settle(name, decided, 0.0)
        self.heed()
        about = self.about(name)
        details = [f"instance {'.'.join(map(str, about['instances'].values()))}"] if about["instances"] else []
        self.announce(name, *details, *([f"attempt {about['attempt']}"] if about["attempt"] > 1 else ()))
        self.emit("step_started", True, **about)
        perform = [performer.perform, *filter(None, self.each("before_step", name))][-1]
        if is_interrupted or (self.state.condition != "running" and performer.recovers):
            self.record({"kind": "resume", "condition": "running", "time": utc_now()})
        done = perform(name, self.program["nodes"][name])
        self._done += 1
        return self.settle(name, done, time.monotonic() - begun)
    def settle(self, name, done, seconds, begins=True):
        move = advance(self.program, name, self.state.registers, done.outcome, done.verbs)
        result = {**self.about(name), "outcome": done.outcome, "how": done.how, "says": move.says}
        result.update(seconds=round(seconds, 3), next=move.node)
        is_there, word = self.store.is_there(), word_of(self.program["nodes"][name], done.outcome)
        stand, ended = self.stand(move, self.state, begins and is_there), f"{self.label(name)} ended with {word}"
        try:
            self.record({"kind": "done", **result, "changed": move.changed, **stand, **(done.note or {})})
        except RefusedError as error:
            is_unknown = self.performers[name].recovers
            again = ("resume", "--assume", done.outcome) if is_unknown else ("answer", name, word.lower())
            how = f"make room, then: {self.call(*again)}"
            raise RefusedError(f"{ended}, but this could not be recorded ({error}); {how}") from None
        if not is_there:  # a folder that was moved away has the record
            raise self._lost(f"{ended}, which is lost")
        details = ", ".join(filter(None, [done.how, duration(seconds), one_line(move.says)]))
        self.display.line(f"    {self.display.paint(word, done.outcome)}  {self.display.paint(details, 'dim')}")
        self.emit("step_finished", True, **result)
        self.tell_passed(move)
        self.each("after_step", move)
    def heed(self):
        if self.signals.has_come():
            self.rest()
            raise Interrupted
        if not self.store.is_there():
            raise self._lost(f"{self.label(self.state.node)} was not begun")
    def rest(self):
        if self.state.condition == "running" and not self.options.dry_run:
            self.record({"kind": "rest", "condition": "ready"})
    def _lost(self, what):
        moved = f"if the folder was moved, put it back, then: {self.call('resume')}"
        lost = f"if it is lost, start again: {self.call('run')}"
        elsewhere = "to keep it from the commands of the run, name another folder with --state-dir"
        reason = f"{self.store.directory} was removed or replaced during the run; {what}"
        return RefusedError(moved, lost, elsewhere, reason)

