"""Programs that a Makefile or a workflow calls: what operators are told to call, and where the run is now."""

import os
import shlex
from typing import Optional

from runtime_shim.engine.session import INSTEAD, Session
from runtime_shim.engine.state import READS, State

# Neither is for what the program calls.
MAKE = os.environ.pop("RDC_MAKE", "")  # what the commands of an operator begin with
WORKSPACE = os.environ.pop("RDC_WORKSPACE", "")  # the folder of a run that goes on elsewhere than where it began
MAKE_WORDS = {"--assume": "ASSUME", "--gate": "GATE"}
MAKE_FLAGS = {"--rerun-interrupted": "RERUN=1", "--adopt": "ADOPT=1"}
MAKE_VERBS = ("run", "resume", "status", "answer", "approve", "reset")


def by_make(_session: Session, words: tuple[str, ...]) -> str:
    """Return the call of a subcommand by make; "" where that is not how this program was called, or make cannot."""
    verb, *rest = words
    if not MAKE or verb not in MAKE_VERBS:
        return ""
    if verb == "answer" and len(rest) == 2:
        node, reply = map(shlex.quote, rest)
        return f"{MAKE}answer STEP={node} REPLY={reply}"
    given, more = [verb], iter(rest)
    for word in more:
        if word not in MAKE_FLAGS and word not in MAKE_WORDS:
            return ""
        given.append(MAKE_FLAGS.get(word) or f"{MAKE_WORDS[word]}={shlex.quote(next(more, ''))}")
    return MAKE + " ".join(given)


def in_workspace(state: Optional[State]) -> None:
    """Let a run go on in the workspace of another job, where all its files were put."""
    if state is not None and WORKSPACE:
        state.begin = {**state.begin, "cwd": WORKSPACE}


INSTEAD.append(by_make)
READS.append(in_workspace)
