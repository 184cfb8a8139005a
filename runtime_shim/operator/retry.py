"""Retries: after STOP, a run continues at the step that failed last."""

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.session import NOT_PASSED, Extension, Session
from runtime_shim.engine.state import ENDED, MOVES, State, is_over, utc_now
from runtime_shim.engine.texts import one_line, word_of, words_of
from runtime_shim.engine.walk import Move, advance


def is_ignored(session: Session, before: State, record: Record) -> bool:
    """Return whether a run continued after a failure as it would after a pass."""
    word = words_of(session.program["nodes"][record["node"]])[0]
    move = advance(session.program, record["node"], before.registers, word)
    return (move.node, move.changed) == (record["next"], record["changed"])


def failed_last(session: Session) -> tuple[State, Record]:
    """Return the record of the step that failed last, after the state in which it started.

    It is the last step if the run ignored that failure, or if the step passed later.
    """
    records, is_same = session.store.records(), session.is_same(session.state)
    found, passed = 0, set[str]()
    for place in range(len(records) - 1, 0, -1):
        record = records[place]
        if record["kind"] == "adopt":  # before it, steps have other names
            break
        if record["kind"] != "done" or record["outcome"] in MOVES:
            continue
        found = found or place
        if record["outcome"] not in (*NOT_PASSED, "rejected"):
            passed.add(record["node"])
        elif not (is_same and is_ignored(session, State(records[:place]), record)):
            found = found if record["node"] in passed else place
            break
    return State(records[:found]), records[found]


def rewind(session: Session) -> None:
    """Record that a run continues at the step that failed last, with all its attempts, maybe in this version."""
    (before, record), now, is_same = failed_last(session), session.state.registers, session.is_same(session.state)
    before.condition, name = "ready", record["node"]
    if not is_same and (not session.options.adopt or session.unfit(before)):
        raise session.of_another_version(before)
    before.registers.update({key: 0 for key in (f"{name} retries",) if key in now})
    move = Move(name, before.registers, {key: to for key, to in before.registers.items() if now[key] != to}, "", ())
    stand = session.condition_after(move, begins=False) if is_same else {"condition": "ready"}
    word = word_of(session.program["nodes"].get(name, {}), record["outcome"])
    how = one_line(f"after {word}, {record['how']}")
    session.display.rule(f"running {name} {one_line(record['title'])} again {how}")
    about = {key: record[key] for key in ("kind", "node", "title", "instances")}
    about.update(
        attempt=1, outcome="retry", how=how, says="", seconds=0.0, next=name, time=utc_now(), changed=move.changed
    )
    session.record({**about, **stand})
    if not is_same:
        session.adopt()


class Retries(Extension):
    """The start of a retry, and how to retry after STOP."""

    def before_run(self, state: "State | None") -> None:
        """Refuse a run that the operator cannot move, with the command that continues it."""
        session, command = self.session, self.session.options.command
        if state is None or command not in MOVES:
            return
        if state.condition not in ENDED and command == "retry":
            raise UsageError(f"the run has not ended with STOP; to continue it: {session.call('resume')}")
        if is_over(state):
            over = "the run is complete" if state.condition == "complete" else state.message
            what, call = [*session.gathered("again", state), ("start a new run", session.call("run"))][0]
            raise UsageError(f"{over}; {what}: {call}")

    def resumed(self) -> None:
        """Return to the step that failed last. A specification reopens its step itself."""
        session, options = self.session, self.session.options
        if options.command == "retry" and not any(each.reopens for each in session.extensions):
            rewind(session)
        options.command = options.command.replace("retry", "resume")

    def again(self, state: State) -> list[tuple[str, str]]:
        """Return the command that runs the failed step again."""
        if state.condition != "stop" or is_over(state):
            return []
        adopt = ["--adopt"][self.session.is_same(state) :]
        return [("to run the failed step again", self.session.call("retry", *adopt))]

    def end(self) -> None:
        """Show how to continue after STOP."""
        for what, call in self.session.gathered("again", self.session.state):
            self.session.display.rule(f"{what}: {call}")
