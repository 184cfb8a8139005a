# --- Attempts at a step: its stages are done one by one, all of an attempt within one time limit.
STEP_SECONDS = 1800  # the time limit of an attempt where the configuration says none
LONGEST_ATTEMPT = 10**8  # seconds: no timer of the system takes much more
HANDED = {"evidence": "RDC_EVIDENCE_FILE", "drrs": "RDC_DRR_FILE"}  # what an executor may hand over, and where
KINDS_OF_STAGES = ("inputs", "context", "tool", "execute", "guardrails", "validation", "outputs")  # in order
TOLD_ERRORS = 3  # errors of a kind that a message has; the journal has all

Found = collections.namedtuple("Found", "error kept remark", defaults=('',))

class LateError(Exception):
    pass
def some_of(errors):
    return "; ".join(errors[:TOLD_ERRORS]) + (
        f" and {len(errors) - TOLD_ERRORS} more" if len(errors) > TOLD_ERRORS else ""
    )
def filled_values(contract, value, registers):  # any JSON value
    return in_strings(lambda text: filled(contract, text, registers), value)
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
def masked(session, value):  # any JSON value
    if isinstance(value, list):
        return [masked(session, inner) for inner in value]
    if isinstance(value, dict):
        return {session.mask(name): masked(session, inner) for name, inner in value.items()}
    return session.mask(value) if isinstance(value, str) else value

class Stages(Prompts, Prompting):
    keys = ()
    recovers = True
    _attempt = ("", 0)
    _ends = 0.0
    def perform(self, name, node):
        self._begin(node)
        self.session.heed()
        late = Found(f"the attempt took longer than {duration(self._limit)}", {})
        try:
            found = self.kinds[node["stage"]](self, name, node) if self.seconds_left() > 0 else late
        except LateError:
            found = late
        except UnsafeError as error:
            found = Found(f"{'input' if node['stage'] == 'inputs' else 'output'} {error}", {})
        if isinstance(found, Done):
            return found
        if node["stage"] != "outputs" and self.seconds_left() <= 0:
            found = found._replace(error=late.error)
        note = {"found": masked(self.session, found.kept)} if found.kept else None
        return Done("fail" if found.error else "pass", found.error or found.remark, note)
    @property
    def root(self):
        root = self.session.state.begin["cwd"]
        return root
    @property
    def _limit(self):
        seconds = config_of(self.session).get("step_timeout_seconds", STEP_SECONDS)
        return min(seconds, LONGEST_ATTEMPT)
    def _begin(self, node):
        attempt = (node["step"], attempt_of(node, self.session.state.registers))
        if attempt != self._attempt:
            self._attempt = attempt
            self.begin_again()
    def begin_again(self):
        self._ends = time.monotonic() + self._limit
    def seconds_left(self):
        return max(math.ceil(self._ends - time.monotonic()), 0)
    def time_limit(self, most=LONGEST_ATTEMPT):
        seconds = min(self.seconds_left(), most)
        if seconds <= 0:
            raise LateError
        return seconds
    def said(self, name, node, command, given, most=LONGEST_ATTEMPT):
        (answered,) = self.converse({**node, "timeout": self.time_limit(most)}, [(name, node, command, given)])
        return answered
    def execute(self, name, node, command, request, folder):
        self.keep(PROMPTS, name, request)
        handed = {variable: os.path.join(folder, key) for key, variable in HANDED.items()}
        words, limit = [b"sh", b"-c", os.fsencode(command)], self.time_limit()
        try:
            with file_with(request.encode("utf-8", "replace")) as file:
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

