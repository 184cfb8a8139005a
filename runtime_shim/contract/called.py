"""Programs that a Makefile or a workflow calls: what operators are told to call, and where the run is now."""

import os
import shlex

from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import State

MAKE_WORDS = {"--assume": "ASSUME", "--gate": "GATE"}
MAKE_FLAGS = {"--rerun-interrupted": "RERUN=1", "--adopt": "ADOPT=1"}
MAKE_VERBS = ("run", "resume", "status", "answer", "approve", "reset")


class Called(Extension):
    """Speaks of make where make calls the program, and goes on in the workspace of another job."""

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program has a contract."""
        return "contract" in program

    def __init__(self, session: Session) -> None:
        super().__init__(session)  # neither is for what the program calls
        self._make = os.environ.pop("RDC_MAKE", "")  # what the commands of an operator begin with
        self._workspace = os.environ.pop("RDC_WORKSPACE", "")  # where a run goes on that began elsewhere

    def call(self, words: tuple[str, ...]) -> str:
        """Return the call of a subcommand by make; "" where that is not how this program was called, or make cannot."""
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

    def read(self, state: State) -> None:
        """Let a run go on in the workspace of another job, where all its files were put."""
        if self._workspace:
            state.begin = {**state.begin, "cwd": self._workspace}
