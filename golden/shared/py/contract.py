# --- Contracts: the stages of steps, done one by one (I32), all of an attempt within one time limit (B7).
STEP_SECONDS = 1800  # the time limit of an attempt where the configuration says none (B7)
LONGEST_ATTEMPT = 10**8  # seconds: no timer of the system takes much more
HANDED = {"evidence": "RDC_EVIDENCE_FILE", "drrs": "RDC_DRR_FILE"}  # what an executor may hand over, and where
KINDS_OF_STAGES = ("inputs", "context", "tool", "execute", "guardrails", "validation", "outputs")  # in order

Found = collections.namedtuple("Found", "error kept remark", defaults=('',))

class LateError(Exception):
    pass

def filled_values(contract, value, registers):  # any JSON value
    if isinstance(value, str):
        return filled(contract, value, registers)
    if isinstance(value, list):
        return [filled_values(contract, item, registers) for item in value]
    if isinstance(value, dict):
        return {key: filled_values(contract, item, registers) for key, item in value.items()}
    return value

def spec_of(session, step):
    contract = session.program["contract"]
    spec = filled_values(contract, contract["steps"][step], session.state.registers)
    return spec

def config_of(session):
    config = session.program["contract"].get("config", {})
    return config

def paths_of(session, node):
    return [filled(node, path, session.state.registers) for path in node.get("paths", ())]

def _place(node):
    return KINDS_OF_STAGES.index(node["stage"]), node.get("place", 0)

def attempt_so_far(nodes, state):
    node = nodes[state.node]
    found = []
    for record in reversed(state.finished):
        earlier = nodes.get(record["node"], {})
        if earlier.get("step") != node["step"] or "stage" not in earlier or _place(earlier) >= _place(node):
            break
        found.insert(0, record)
        node = earlier
    return found

def found_so_far(session, key):
    records = attempt_so_far(session.program["nodes"], session.state)
    return [record["found"][key] for record in records if key in record.get("found", {})]

StageKind = collections.namedtuple("StageKind", "do preview is_command")

class Stages(Prompts, Conversing):
    keys = ()
    recovers = True
    _attempt = ("", 0)
    _ends = 0.0
    def perform(self, name, node):
        self._begin(node)
        self.session.heed()
        try:
            found = self.kinds[node["stage"]].do(self, name, node) if self.seconds_left() > 0 else Found(self.late, {})
        except LateError:
            found = Found(self.late, {})
        if isinstance(found, Done):
            return found
        if not found.error and node["stage"] != "outputs" and self.seconds_left() <= 0:
            found = found._replace(error=self.late)
        note = {"found": found.kept} if found.kept else None
        return Done("fail" if found.error else "pass", found.error or found.remark, note)
    @property
    def root(self):
        root = self.session.state.begin["cwd"]
        return root
    @property
    def limit(self):
        seconds = config_of(self.session).get("step_timeout_seconds", STEP_SECONDS)
        return min(seconds, LONGEST_ATTEMPT)
    @property
    def late(self):
        return f"the attempt took longer than {duration(self.limit)}"
    def _begin(self, node):
        attempt = (node["step"], attempt_of(node, self.session.state.registers))
        if attempt != self._attempt:
            self.begin_again(node)
    def begin_again(self, node):
        attempt = (node["step"], attempt_of(node, self.session.state.registers))
        self._attempt, self._ends = attempt, time.monotonic() + self.limit
    def seconds_left(self, most=math.inf):
        return max(math.ceil(min(self._ends - time.monotonic(), most)), 0)
    def time_limit(self, most=math.inf):
        seconds = self.seconds_left(most)
        if seconds <= 0:
            raise LateError
        return seconds
    def said(self, name, node, command, given, most=math.inf):
        seconds = self.time_limit(most)
        (answered,) = self.converse({**node, "timeout": seconds}, [(name, node, command, given)])
        if answered.trouble and self.seconds_left() <= 0:
            raise LateError
        return answered
    def execute(self, name, node, command, request, folder):
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
    def is_mocked(self, _kind, _name):
        return False
    @staticmethod
    def replies(_node):
        return list(BINARY)
    def recover(self, name):
        node = self.session.program["nodes"][name]
        is_decided = self.session.options.assume or self.kinds[node["stage"]].is_command(self.session, node)
        return super().recover(name) if is_decided else None
    def preview(self, name, node):
        done = self.from_file(name) if node["stage"] == "execute" else None
        return done or Done("pass", f"would {self.kinds[node['stage']].preview(self.session, node)}")

class Placeholders(Extension):
    options = (("run", "--var", "NAME=VALUE...", "the same as --input"),)
    @staticmethod
    def suits(program):
        return "contract" in program and bool(program.get("inputs"))
    def prepare(self):
        options = self.session.options
        options.input = [*options.input, *options.var]
    def open(self):
        session = self.session
        nodes = session.program["nodes"].values() if session.options.command == "run" else ()
        for node in nodes:
            for path in paths_of(session, node):
                if os.path.isabs(path) or os.pardir in path.split(os.sep):
                    where = f"{one_line(path)} of step {node['step']}"
                    raise RefusedError(
                        f"the path {where} is not inside the project: give its placeholders other values"
                    )

