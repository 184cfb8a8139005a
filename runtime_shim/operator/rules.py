"""Rules that hold in a run: a start or an end that breaks one waits for an operator (P-15, P-16)."""

import copy
from typing import Any

from runtime_shim.engine.journal import Record, picked
from runtime_shim.engine.locks import Happening, Locks
from runtime_shim.engine.outcomes import Done, Waiting
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension
from runtime_shim.engine.state import State, user
from runtime_shim.engine.status import hints, told_by
from runtime_shim.engine.texts import meant, one_line

OVERRIDE = ("rule", "event", "by", "note", "time")


def event_in_words(event: Happening) -> str:
    """Return an event as people read it."""
    return f"{'end' if event.word else 'start'} of {event.step or 'the run'}"


class Rules(Extension):
    """Programs with rules. The records of the run decide the values, and nothing else is stored."""

    needs = ("rules",)
    options = (
        ("resume answer goto", "--override", "RULE...", "let one event pass that this rule holds; needs --note"),
    )
    locks: Any = None  # of no run

    def prepare(self) -> None:
        """Check the rules to override."""
        options, rules = self.session.options, self.session.program["rules"]
        for name in options.override:
            if name not in rules:
                hint = meant(name, rules) or f"; the rules are {one_line(', '.join(rules))}"
                raise UsageError(f"there is no rule {one_line(name)!a}{hint}")
            if "override" in rules[name]:
                raise UsageError(f"rule {one_line(name)} can't be overridden")
        if options.override and not options.note:
            raise UsageError("--override needs --note TEXT with the reason")

    def _load(self, is_same: bool = True) -> Locks:
        if self.locks is None:
            self.records = [*self.session.store.records()]
            self.locks = Locks(self.session.program["rules"], self.records if is_same else ())
        locks: Locks = self.locks
        return locks

    def before_run(self, state: "State | None") -> None:
        """Read the values of the rules. Refuse an override or an answer that the run does not wait for."""
        session, self.locks = self.session, None
        if state is None:
            return
        self._load(session.is_same(state))  # an adoption reads the records again, with the new names of steps
        broken, override = self.broken(), session.options.override
        if session.options.command == "resume" and not {*override} <= {*broken}:
            raise UsageError("the run isn't held by each of these rules, so there is nothing to override")
        if session.options.command == "answer" and not {*broken} <= {*override}:
            raise UsageError(*self._commands(), *self.reasons())

    def broken(self) -> list[str]:
        """Return the rules that hold the run."""
        locks = self._load()
        return locks.broken(locks.held[0]) if locks.held else []

    def record(self, record: Record) -> Record:
        """Hold a start or an end that breaks a rule. Refuse to go to a step that can't start."""
        session, kind = self.session, record.get("kind")
        if not kind or "condition" not in record:
            return record
        if kind == "begin":
            self.records, self.locks = [], Locks(session.program["rules"])
        before = self._load()
        if kind == "adopt":
            now = Locks(before.rules, [*self.records, record], stops=True)
        else:
            now = copy.copy(before)
            now.feed(record, stops=True)
        if now.held and now.held is not before.held:
            if record.get("outcome") == "goto" and not {*now.broken(now.held[0])} <= {*session.options.override}:
                raise UsageError(*self.reasons(now))
            record = {**record, "held": record["condition"].replace("running", "ready"), "condition": "ready"}
        if kind == "begin":
            self.written(record)
        return self._by_mock(record)

    def _by_mock(self, record: Record) -> Record:
        is_mock = getattr(self.session.options, "mock", None) and record.get("how", "").startswith("answered by ")
        persons = {name for rule in self.session.program["rules"].values() for name in rule.get("persons", ())}
        return {**record, "by": "mock"} if is_mock and record["node"] in persons else record

    def written(self, record: Record) -> None:
        """Apply a record to the values. One that moves the run may be followed by an override."""
        locks = self._load()
        self.records.append(record)
        if record["kind"] == "adopt":
            self.locks = Locks(locks.rules, self.records)
        else:
            locks.feed(record)
        if record["kind"] == "done" and self.session.options.command in ("answer", "goto"):
            self.allowed()
            self.session.options.override = []  # the next event may not pass

    def begins(self) -> None:
        """Wait before a step or an end that a rule holds."""
        if self._load().held:
            raise Waiting(*self.reasons(), *hints(self.session, "held"))

    def given(self, done: "Done | None") -> "Done | None":
        """Hold an interrupted step that would run again and break a rule by that."""
        if done is None and self.session.state.condition == "running":
            again = {"kind": "resume", "condition": "ready"}
            tried = copy.copy(self._load())
            tried.feed(again, stops=True)
            if tried.held:
                self.session.record(again)
                self.begins()
        return done

    def allowed(self) -> None:
        """Let a held event pass by an operator's decision."""
        session, options, found = self.session, self.session.options, self.broken()
        for name in dict.fromkeys(options.override):
            if name not in found:
                continue
            about = {"rule": name, "event": event_in_words(self.locks.held[0]), "by": options.by or user()}
            record = {"kind": "override", **about, "note": options.note}
            tried = copy.copy(self.locks)
            tried.feed(record)
            session.record(record if tried.held else {**record, "condition": self.locks.after})
            session.emit("override", rule=name, of=about["event"], by=about["by"], note=options.note)
        options.override = [] if found else options.override

    resumed = allowed

    def reasons(self, locks: "Locks | None" = None) -> list[str]:
        """Return why the run is held, as lines."""
        locks = locks or self._load()
        event = locks.held[0] if locks.held else Happening("")
        what = f"{event.step or 'the run'} can't {'end' if event.word else 'start'}"
        found = [(name, locks.rules[name]) for name in locks.broken(event)]
        whys = (
            f'needs "{rule["needs"]}" first' if "needs" in rule else f'is "{rule["sentence"]}"' for _, rule in found
        )
        return [one_line(f"{what}: rule {name} {why}") for (name, _), why in zip(found, whys)]

    def remarks(self) -> list[str]:
        """Return lines below a decision: why the run is held, or which rules are closed after a move."""
        locks = self._load()
        closed = [name for name in locks.rules if not locks.is_open(name)]
        is_moved = self.session.options.command == "goto" and closed
        return self.reasons() or [one_line(f"closed rules: {', '.join(closed)}")] * bool(is_moved)

    def _commands(self) -> list[str]:
        """Return the commands that continue a held run as lines."""
        return [f"{what}: {command}" for what, command in self.choices(None, "held")]

    def choices(self, _state: "State | None", condition: str) -> list[tuple[str, str]]:
        """Return the commands that continue a held run."""
        session, found = self.session, self.broken()
        rules = [session.program["rules"][name] for name in found]
        if condition != "held" or not found:
            return []
        openers = [event[0] for rule in rules for event in rule.get("opens", ()) if event[0] in session.places]
        goto = [("to decide that", session.call("goto", openers[0]))] if openers and "goto" in self._verbs() else []
        if any("override" in rule for rule in rules):
            return goto
        words = [word for name in found for word in ("--override", name)]
        return [*goto, ("to let it pass once", session.call("resume", *words, "--note", "WHY"))]

    def _verbs(self) -> set[str]:
        return {verb for extension in self.session.extensions for verb in extension.commands}

    def facts(self, _state: State) -> Table:
        """Return why the run is held, and the overrides."""
        reasons, overrides = (
            self.reasons(),
            [picked(one, OVERRIDE) for one in self.records if one["kind"] == "override"],
        )
        held = {"state": "held", "held": reasons} if reasons else {}
        return {**held, **({"overrides": overrides} if overrides else {})}

    @staticmethod
    def lines(facts: Table, record: "Table | None") -> list[str]:
        """Return lines above the steps."""
        past = (
            f"rule {one['rule']} was overridden for the {one['event']} {told_by(one)}"
            for one in facts.get("overrides", ())
        )
        return [one_line(line) for line in (*facts.get("held", ()), *past)] if record is None else []

    def end(self) -> None:
        """Show the overrides of the run."""
        for line in self.lines(self.facts(self.session.state), None):
            self.session.display.rule(line)
