# --- Contracts: the stages of steps, done one by one (I32), all of an attempt within one time limit (B7).
STEP_SECONDS = 1800  # the time limit of an attempt where the configuration says none (B7)
LONGEST_ATTEMPT = 10**8  # seconds: no timer of the system takes much more
HANDED = {"evidence": "RDC_EVIDENCE_FILE", "drrs": "RDC_DRR_FILE"}  # what an executor may hand over, and where
KINDS_OF_STAGES = ("inputs", "context", "tool", "execute", "guardrails", "validation", "outputs")  # in order

# What came of a stage: what is wrong, "" if nothing is, what is kept of it in the journal (B18), a remark.
Found = collections.namedtuple("Found", "error kept remark", defaults=('',))

class LateError(Exception):
    """The time of an attempt is over."""

def filled_values(contract, value, registers):
    """Return a JSON value with the placeholders in its strings filled in (B3)."""
    if isinstance(value, str):
        return filled(contract, value, registers)
    if isinstance(value, list):
        return [filled_values(contract, item, registers) for item in value]
    if isinstance(value, dict):
        return {key: filled_values(contract, item, registers) for key, item in value.items()}
    return value

def spec_of(session, step):  # Return the specification of a step with its placeholders filled in.
    contract = session.program["contract"]
    return filled_values(contract, contract["steps"][step], session.state.registers)

def config_of(session):  # Return the configuration of a contract.
    return session.program["contract"].get("config", {})

def paths_of(session, node):  # Return the paths of a stage with their placeholders filled in.
    return [filled(node, path, session.state.registers) for path in node.get("paths", ())]

def _place(node):
    return KINDS_OF_STAGES.index(node["stage"]), node.get("place", 0)

def attempt_so_far(nodes, state):
    """Return the records of the stages that the attempt under way has done: their places rise (I32)."""
    node = nodes[state.node]
    found = []
    for record in reversed(state.finished):
        earlier = nodes.get(record["node"], {})
        if earlier.get("step") != node["step"] or "stage" not in earlier or _place(earlier) >= _place(node):
            break
        found.insert(0, record)
        node = earlier
    return found

def found_so_far(session, key):  # Return what the stages of the attempt under way have found under a key.
    records = attempt_so_far(session.program["nodes"], session.state)
    return [record["found"][key] for record in records if key in record.get("found", {})]

class Stages(Prompts, Conversing):  # Does the stages of steps; STAGES has a function for each kind.
    keys = ()
    recovers = True
    _attempt = ("", 0)
    _ends = 0.0
    def perform(self, name, node):  # Do a stage, as far as the time limit of its attempt lets it.
        self._begin(node)
        self.session.heed()
        try:
            found = STAGES[node["stage"]](self, name, node) if self.seconds_left() > 0 else Found(self.late, {})
        except LateError:
            found = Found(self.late, {})
        if isinstance(found, Done):
            return found
        if not found.error and node["stage"] != "outputs" and self.seconds_left() <= 0:
            found = found._replace(error=self.late)
        note = {"found": found.kept} if found.kept else None
        return Done("fail" if found.error else "pass", found.error or found.remark, note)
    @property
    def root(self):  # The folder that the paths of a specification are in.
        return self.session.state.begin["cwd"]
    @property
    def limit(self):  # How many seconds an attempt may take.
        seconds = config_of(self.session).get("step_timeout_seconds", STEP_SECONDS)
        return min(seconds, LONGEST_ATTEMPT)
    @property
    def late(self):  # What is said of an attempt whose time is over.
        return f"the attempt took longer than {duration(self.limit)}"
    def _begin(self, node):  # Begin to count the seconds of an attempt; a call that resumes one begins anew.
        attempt = (node["step"], attempt_of(node, self.session.state.registers))
        if attempt != self._attempt:
            self.begin_again(node)
    def begin_again(self, node):  # Count the seconds of an attempt from here on.
        attempt = (node["step"], attempt_of(node, self.session.state.registers))
        self._attempt, self._ends = attempt, time.monotonic() + self.limit
    def seconds_left(self, most=math.inf):
        """Return how many seconds the attempt still has, `most` if it has more; 0 for none."""
        return max(math.ceil(min(self._ends - time.monotonic(), most)), 0)
    def time_limit(self, most=math.inf):
        """Return the same for what is to be called now, for which 0 would be no limit; raises LateError."""
        seconds = self.seconds_left(most)
        if seconds <= 0:
            raise LateError
        return seconds
    def execute(self, name, node, command, request, folder):
        """Run an executor, whose output is shown; it gets a file, since it may read it whenever it likes."""
        import tempfile  # slow to import, as is what it needs, and most calls of a program execute nothing
        self.keep(PROMPTS, name, request)
        handed = {variable: os.path.join(folder, key) for key, variable in HANDED.items()}
        words, limit = [b"sh", b"-c", os.fsencode(command)], self.time_limit()
        try:
            with tempfile.TemporaryFile(buffering=0) as file:  # it has no name: nothing of it is ever left
                file.write(request.encode("utf-8", "replace"))
                file.seek(0)
                given = [(os.POSIX_SPAWN_DUP2, file.fileno(), 0)]
                group = self.processes.spawn(SH, words, self.environment(node, **handed), given)
        except OSError as error:
            raise self.not_begun(name, error) from None
        (code,) = self.processes.watch([group], limit)
        if code is None:
            raise LateError
        return code
    def is_mocked(self, _kind, _name):  # Tell whether a file answers in place of what would be called.
        return False
    @staticmethod
    def replies(_node):  # Return the words of a stage.
        return list(BINARY)
    def recover(self, name):  # Do a stage again that was interrupted; about a command, somebody decides (R2).
        is_decided = self.session.options.assume or is_command(self.session, self.session.program["nodes"][name])
        return super().recover(name) if is_decided else None
    def preview(self, name, node):  # Say what a stage would do; a file of answers may say what comes of it.
        done = self.from_file(name) if node["stage"] == "execute" else None
        return done or Done("pass", f"would {PREVIEWS[node['stage']](self.session, node)}")
STAGES = {}
PREVIEWS = {}  # what each kind would do, in words
COMMANDED = []  # what modules know of stages that run a command of somebody

def is_command(session, node):  # Tell whether a stage runs a command that may have changed something.
    return any(look(session, node) for look in COMMANDED)

PERFORMERS["stage"] = Stages

