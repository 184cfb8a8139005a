"""Programs that a Makefile calls: what they print for an operator to call is make, not the program."""

import os
import shlex

from runtime_shim.session import CALLED, Session

MAKE = os.environ.pop("RDC_MAKE", "")  # what its commands begin with; it is not for what the program calls
WORDS = {"--assume": "ASSUME", "--gate": "GATE"}
FLAGS = {"--rerun-interrupted": "RERUN=1", "--adopt": "ADOPT=1"}
VERBS = ("run", "resume", "status", "answer", "approve", "reset")


def by_make(session: Session, words: tuple[str, ...]) -> str:
    """Return the call of a subcommand by make; "" where that is not how this program was called, or make cannot."""
    verb, *rest = words
    if not MAKE or verb not in VERBS:
        return ""
    if verb == "answer" and len(rest) == 2:
        is_gate = session.program["units"].get(rest[0], {}).get("task") == "gate" and rest[1] == "approved"
        found = [f"approve GATE={shlex.quote(rest[0])}"] if is_gate else []
        found = found or [f"answer UNIT={shlex.quote(rest[0])} RESULT={shlex.quote(rest[1])}"]
        return MAKE + found[0]
    given, more = [verb], iter(rest)
    for word in more:
        if word not in FLAGS and word not in WORDS:
            return ""
        given.append(FLAGS.get(word) or f"{WORDS[word]}={shlex.quote(next(more, ''))}")
    return MAKE + " ".join(given)


CALLED.append(by_make)
