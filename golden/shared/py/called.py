# --- Programs that a Makefile or a workflow calls: what operators are told to call, and where the run is now.
MAKE_WORDS = {"--assume": "ASSUME", "--gate": "GATE"}
MAKE_FLAGS = {"--rerun-interrupted": "RERUN=1", "--adopt": "ADOPT=1"}
MAKE_VERBS = ("run", "resume", "status", "answer", "approve", "reset")

class Called(Extension):
    @staticmethod
    def suits(program):
        return "contract" in program
    def __init__(self, session):
        super().__init__(session)  # neither is for what the program calls
        self._make = os.environ.pop("RDC_MAKE", "")  # what the commands of an operator begin with
        self._workspace = os.environ.pop("RDC_WORKSPACE", "")  # where a run goes on that began elsewhere
    def call(self, words):
        verb, *rest = words
        if not self._make or verb not in MAKE_VERBS:
            return ""
        if verb == "answer" and len(rest) == 2:
            node, reply = map(shlex.quote, rest)
            return f"{self._make}answer STEP={node} REPLY={reply}"
        given, more = [verb], iter(rest)
        for word in more:
            if word not in MAKE_FLAGS and word not in MAKE_WORDS:
                return ""
            given.append(MAKE_FLAGS.get(word) or f"{MAKE_WORDS[word]}={shlex.quote(next(more, ''))}")
        return self._make + " ".join(given)
    def read(self, state):
        if self._workspace:
            state.begin = {**state.begin, "cwd": self._workspace}

