"""Retries: after STOP, a run continues at the step that failed last."""

from runtime_shim.engine.journal import Record, picked
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.session import NOT_PASSED, Extension, Session
from runtime_shim.engine.state import ENDED, MOVES, State, is_over
from runtime_shim.engine.status import choices, condition_of, hints
from runtime_shim.engine.texts import one_line, word_of, words_of
from runtime_shim.engine.walk import Move, advance


def is_ignored(session: Session, record: Record, before: State) -> bool:
    """Return whether a run continued after a failure as it would after a pass."""
    if record["condition"] in ENDED or not session.is_same(before):
        return False
    word = words_of(session.program["nodes"][record["node"]])[0]
    move = advance(session.program, record["node"], before.registers, word)
    return (move.node, dict(move.registers)) == (record["next"], {**before.registers, **record["changed"]})


def failed_last(session: Session) -> tuple[Record, State]:
    """Return the record of the step that failed last and did not run again, and the state before it started.

    Without one, or if the run ignored its failure, it is the last step.
    """
    records = session.store.records()
    since = max(at for at, one in enumerate(records) if one["kind"] in ("begin", "adopt"))  # earlier names are others
    done = [at for at, one in enumerate(records) if at > since and one.get("outcome", MOVES[0]) not in MOVES]
    latest = {records[at]["node"]: at for at in done}.values()
    failed = (at for at in sorted(latest, reverse=True) if records[at]["outcome"] in (*NOT_PASSED, "rejected"))
    last = next((at for at in failed if not is_ignored(session, records[at], State(records[:at]))), done[-1])
    before = State(records[:last])
    before.condition = "ready"
    return records[last], before


def rewind(session: Session) -> None:
    """Record that a run continues at the step that failed last, with all its attempts."""
    (record, before), now, is_same = failed_last(session), session.state.registers, session.is_same(session.state)
    name = record["node"]
    if not is_same and (not session.options.adopt or session.unfit(before)):
        raise session.of_another_version(before)
    counter = session.program["nodes"].get(name, {}).get("attempt", f"{name} retries")
    before.registers.update({counter: 0} if counter in now else {})
    move = Move(name, before.registers, {key: to for key, to in before.registers.items() if now[key] != to}, "", ())
    after = session.condition_after(move, begins=False) if is_same else {"condition": "ready"}
    word = word_of(session.program["nodes"].get(name, {}) if is_same else {}, record["outcome"])
    how = one_line(", ".join(filter(None, [f"after {word}", record["how"]])))
    session.display.rule(one_line(f"running {name} {record['title']} again {how}"))
    about = {**picked(record, ("kind", "node", "title", "instances")), "attempt": 1, "outcome": "retry", "how": how}
    session.record({**about, "says": "", "seconds": 0.0, "next": name, "changed": move.changed, **after})
    session.emit("retry", **picked(session.state.finished[-1], ("node", "by", "note")))
    if not is_same:
        session.adopt()


class Retries(Extension):
    """The start of a retry, and how to retry after STOP."""

    def before_run(self, state: "State | None") -> None:
        """Refuse a run that the operator cannot move, with the command that continues it."""
        session, command = self.session, self.session.options.command
        if state and command in MOVES and is_over(state):
            over = state.message if state.condition == "stop" else "the run is complete"
            raise UsageError("; ".join([over, ": ".join(choices(session, state, "stop")[0])]))
        if state and command == "retry" and state.condition not in ENDED:
            raise UsageError(f"the run is {condition_of(state, False)}; to continue: {session.call('resume')}")

    def resumed(self) -> None:
        """Return to the step that failed last. A specification reopens its step itself."""
        session, options = self.session, self.session.options
        if options.command == "retry" and not any(each.reopens for each in session.extensions):
            rewind(session)
        options.command = options.command.replace("retry", "resume")

    def may_retry(self, state: State) -> bool:
        """Return whether this version has the failed step, as far as that is known before."""
        session, is_unknown = self.session, any(each.reopens for each in self.session.extensions)
        return session.is_same(state) or is_unknown or not session.unfit(failed_last(session)[1])

    def end(self) -> None:
        """Show how to continue after STOP."""
        self.session.display.rule(*hints(self.session, "stop")[:-1])
