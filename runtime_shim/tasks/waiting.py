"""Runs that wait for an answer, and the subcommand that gives it."""

from typing import Callable, Optional

from runtime_shim.engine.command_line import COMMANDS, OPTIONS
from runtime_shim.engine.display import one_line
from runtime_shim.engine.program import EXIT_COMPLETE, RefusedError, Table
from runtime_shim.engine.session import PERFORMERS, Done, Session
from runtime_shim.engine.status import WAITS

GIVEN: list[Callable[[Session, Optional[Done]], Optional[Done]]] = []  # what they make of the answer
HINTS: list[Callable[[Session], str]] = []  # what they remind of when the run can go on
REPLIES: list[Callable[[str], str]] = []  # where other modules take the reply from


def answer(session: Session) -> int:
    """Record the answer of the step that waits."""
    node, reply = session.options.STEP, session.options.REPLY
    for look in REPLIES:
        reply = look(reply)
    session.alone()
    session.take(session.read())
    state = session.state
    if state.condition != "waiting":
        raise RefusedError("no step waits for an answer")
    performer = session.performers[state.node]
    if not performer.is_named(node, state.node, session.program["nodes"][state.node]):
        raise RefusedError(f"{state.node} waits for an answer, {node} does not")
    session.store.open()
    done = performer.given(node, reply, "answered")
    for give in GIVEN:
        done = give(session, done)
    if done is not None:
        session.settle(state.node, done, 0.0, begins=False)
    if state.condition == "stop":
        session.display.rule(f"to {how_again(session)}")
        session.display.rule(f"STOP {one_line(state.message)}".rstrip())
        return EXIT_COMPLETE
    line = f"to go on: {session.call('resume')}"
    for hint in HINTS:
        line += hint(session)
    session.display.rule(line)
    return EXIT_COMPLETE


def how_again(session: Session) -> str:
    """Say what can be done about a run that ended by STOP, and with which command."""
    if "contract" not in session.program:
        return f"start a new run: {session.call('run')}"
    is_rejected = session.state.finished[-1]["outcome"] == "rejected"
    return f"{'ask for this approval' if is_rejected else 'try'} again: {session.call('resume')}"


def answers_to(session: Session, node: Table, name: str) -> list[str]:
    """Return the commands that answer a step."""
    performer, call = PERFORMERS[node["task"]], session.call
    return [call("answer", one, reply) for one in performer.names(name, node) for reply in performer.replies(node)]


COMMANDS["answer"] = ("answer the step that waits", answer)
OPTIONS.append(("answer", "STEP", "", "the step that waits"))
OPTIONS.append(("answer", "REPLY", "", "pass, fail, yes or no, or what the step asks for"))
WAITS.append(answers_to)
