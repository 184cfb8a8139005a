"""Rules that hold in a run: a start or an end that breaks one waits for an operator (P-5, P-15, P-16)."""

import copy
import types
from collections.abc import Mapping, Sequence
from typing import Any

from runtime_shim.engine.journal import Record, picked
from runtime_shim.engine.outcomes import Done, Waiting
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension
from runtime_shim.engine.state import ENDED, MOVES, State, digest, renamed, user
from runtime_shim.engine.status import ASSUMED, told_by
from runtime_shim.engine.texts import meant, one_line
from runtime_shim.values.slots import Perform

BY_PERSONS = ("answered", "answered here", "as reviewed on GitHub")
# A step, its outcome or "" for its start, and the rules that it may open: none, those that need no person (1), all (2).
# The end of the run is an outcome of the step "".
Event = tuple[str, str, int]


def has(rule: Table, key: str, event: Event) -> bool:
    """Return whether an event is in a list of a rule: a step for its start, or a step and its outcome."""
    return ([event[0], event[1]] if event[1] else event[0]) in rule.get(key, ())


def with_names(record: Record, names: Mapping[str, str]) -> Record:
    """Return a record with the names that its steps have after later adoptions."""
    new: Table = {key: names.get(record[key], record[key]) for key in ("node", "next") if key in record}
    kept = {old: name for old, name in names.items() if not name.endswith(" (removed)")}
    steps: Any = types.SimpleNamespace(steps=[[name] for name in names])  # a State
    settled = [[renamed(f"{step} .", steps, kept)[:-2], word] for step, word in record.get("settles", ())]
    return {**record, **new, "settles": settled} if names else record


class Locks:
    """The values of all rules after some records, and the events that a rule holds, with those after them.

    The value of a lock is 1 if it is open. That of a count is how many events are left. Nothing changes in place.
    """

    def __init__(self, rules: Table, records: Sequence[Record] = (), stops: bool = False) -> None:
        """Read records. With `stops`, the last of them is not written yet."""
        self.rules, self.held, self.names = rules, list[Event](), list[Mapping[str, str]]()
        self.first = {name: rule.get("most", int("is_open" in rule)) for name, rule in rules.items()}
        self.now = self.before = self.first  # `before` the last start
        self.at = self.last = self.condition = self.after = ""  # the place, the last start, the condition after a hold
        self.passes = self.ended = frozenset[str]()  # the rules to ignore, and the steps that the last move ended
        found, names = list[Record](), dict[str, str]()
        for record in reversed(records):
            found.append(with_names(record, names))
            if record["kind"] == "adopt":
                names = {old: names.get(new, new) for old, new in record["renamed"].items()}
        for record in found[::-1]:
            self.feed(record, stops and record is found[0])

    def closed(self) -> list[str]:
        """Return the rules that let no guarded event pass."""
        return [name for name, value in self.now.items() if value < 1 and name not in self.passes]

    def broken(self, events: Sequence[Event]) -> list[str]:
        """Return the rules that the first of some events breaks."""
        return [name for name in self.closed() for event in events[:1] if has(self.rules[name], "guards", event)]

    def feed(self, record: Record, stops: bool = False) -> None:
        """Apply the events of a record. With `stops`, it is not written yet: one that breaks a rule is held."""
        is_held, condition = "held" in record, str(record.get("held", record.get("condition", "")))
        found = self._events(record, condition)
        stops = stops or is_held or (found is None and record["kind"] != "adopt")
        left = [*(self.held if found is None else found)]
        while left:
            self._enter(left[0])
            if stops and (self.broken(left) or (is_held and not left[1:])):
                break
            self._apply(*left.pop(0))
        self.held, self.condition = left, record.get("condition", self.condition)
        self.after = condition if is_held else self.after

    def _events(self, record: Record, condition: str) -> "list[Event] | None":
        """Return the events of a record in order: outcomes, then a start or the end (P-6). None for no new ones."""
        kind, how, outcome = record["kind"], record.get("how", ""), record.get("outcome", MOVES[0])
        if kind == "override":
            self.passes |= {record["rule"]}
        elif kind in ("begin", "done"):
            self.passes, self.at = frozenset(), record["next" if kind == "done" else "node"]
            is_given = (how in BY_PERSONS and "flag" not in record) or record.get("by") == "mock"
            opens = 0 if how in ASSUMED else 1 + is_given
            found = [
                (record["node"], outcome, opens),
                *((*one, 2 * min(opens, 1)) for one in record.get("settles", ())),
            ]
            found = [] if outcome in MOVES else found  # the step that an operator leaves has no outcome
            self.ended = frozenset(event[0] for event in found[1:])
            return (
                []
                if outcome == "canceled"
                else [*found, ("", condition, 2) if condition in ENDED else (self.at, "", 2)]
            )
        elif kind == "adopt":
            self.at, is_due = record["node"], condition == "ready" and not self.held  # the step has not started
            self.now = self.before if is_due else self.now
            return [(self.at, "", 2)] if is_due else None
        is_again = self.condition in ENDED and condition not in ("", *ENDED)  # after a limit
        return [(self.at, "", 2)] if is_again or (kind == "resume" and self.condition == "running") else None

    def _enter(self, event: Event) -> None:
        """Start the rules of a nested document again, if its first step starts (P-8)."""
        for name, rule in self.rules.items():
            inside = () if event[1] else rule.get("inside", ())
            if event[0] in inside and (self.last not in inside or rule["scope"] in self.ended):
                self.now = {**self.now, name: self.first[name]}
        self.before = self.before if event[1] else self.now

    def _apply(self, step: str, word: str, opens: int) -> None:
        """Close, then open. An event that passes although it breaks a rule opens nothing (P-16)."""
        now, event, opens = dict(self.now), (step, word, opens), 0 if self.passes else opens
        for name, rule in self.rules.items():
            if "most" in rule:
                now[name] -= has(rule, "guards", event)
            elif has(rule, "opens", event) and opens > (step in rule.get("persons", ())):
                now[name] = 1
            elif has(rule, "closes", event):
                now[name] = 0
        self.now, self.passes = now, frozenset()
        self.last, self.ended = (self.last, self.ended) if word else (step, frozenset())


class Rules(Extension):
    """Programs with rules. The records of the run decide the values, and nothing else is stored."""

    needs = ("rules",)
    options = (
        ("resume answer goto", "--override", "RULE...", "let one event pass that this rule holds; needs --note"),
    )
    locks: Any = None  # of no run

    def prepare(self) -> None:
        """Check the rules to override."""
        options, self.rules = self.session.options, self.session.program["rules"]
        for name in options.override:
            if name not in self.rules or "override" in self.rules[name]:
                hint = meant(name, self.rules) or f"; the rules are {', '.join(self.rules)}"
                why = f"rule {name} can't be overridden" if name in self.rules else f"there is no rule {name!a}{hint}"
                raise UsageError(one_line(why))
        if options.override and not options.note:
            raise UsageError("--override needs --note TEXT with the reason")
        self.persons = {name for rule in self.rules.values() for name in rule.get("persons", ())}
        self.is_mock = bool(getattr(options, "mock", None))

    def before_run(self, state: "State | None") -> None:
        """Read the values of the rules. Refuse an override or an answer that the run does not wait for."""
        self.locks, session = None, self.session
        if state is not None:
            records = self.past = [*session.store.records()]
            self.locks = Locks(self.rules, records if session.is_same(state) else ())  # an adoption reads them again
            broken, override = self.locks.broken(self.locks.held), {*session.options.override}
            if session.options.command == "resume" and not override <= {*broken}:
                raise UsageError("the run isn't held by each of these rules, so there is nothing to override")
            if session.options.command == "answer" and not {*broken} <= override:
                raise UsageError(*self._ways(), *self.reasons(self.locks))

    def record(self, record: Record) -> Record:
        """Hold a start or an end that breaks a rule. Refuse to go to a step that can't start."""
        session, kind, condition = self.session, record.get("kind"), record.get("condition")
        if kind is None or condition is None:
            return record
        if self.locks is None or kind == "begin":
            self.past = [] if kind == "begin" else [*session.store.records()]
            self.locks = Locks(self.rules, self.past)
        if kind in ("begin", "adopt"):
            record = {**record, **self._versions(kind == "adopt")}
        if kind == "done" and self.is_mock and record["node"] in self.persons:
            record = {**record, "by": "mock"}
        now = Locks(self.rules, [*self.past, record], True) if kind == "adopt" else copy.copy(self.locks)
        if kind != "adopt":
            now.feed(record, True)
        if now.held and kind != "rest":
            if record.get("outcome") == "goto" and not {*now.broken(now.held)} <= {*session.options.override}:
                raise UsageError(*self.reasons(now))
            record = {**record, "held": condition.replace("running", "ready"), "condition": "ready"}
        if kind == "begin":
            self.written(record)
        return record

    def _versions(self, is_adopted: bool) -> Table:
        """Return a digest of each rule, and how the rules differ from those before an adoption."""
        now = {name: digest(rule)[:12] for name, rule in self.rules.items()}
        old: Any = [one.get("rules", {}) for one in self.past if one["kind"] in ("begin", "adopt")][-1:] or [{}]
        added, removed = [*{**now}.keys() - old[0]], [*old[0].keys() - now]
        changed = [name for name in now if old[0].get(name, now[name]) != now[name]]
        since = {"added": sorted(added), "removed": sorted(removed), "changed": changed}
        return {"rules": now, **({"rules_since": since} if is_adopted else {})}

    def written(self, record: Record) -> None:
        """Apply a record. A decision that a rule holds may come with an override."""
        session, command = self.session, self.session.options.command
        self.past.append(record)
        if record["kind"] == "adopt":
            self.locks = Locks(self.rules, self.past)
        else:
            self.locks.feed(record)
        if record["kind"] == "resume":
            self.begins()
        if record["kind"] == "done" and command in ("answer", "goto"):
            self.allowed()
            session.options.override = []  # the next event may not pass
            for line in self.remarks():
                session.display.rule(line)

    def remarks(self) -> list[str]:
        """Return lines below a decision: why the run is held, or which rules are closed after a move."""
        closed = self.locks.closed() if self.session.options.command == "goto" else ()
        return self.reasons(self.locks) or [one_line(f"closed rules: {', '.join(closed)}")] * bool(closed)

    def begins(self) -> None:
        """Wait before a step or an end that a rule holds."""
        if self.locks.held:
            raise Waiting(*self.reasons(self.locks), *self._ways())

    def before_step(self, name: str) -> "Perform | None":
        """Let only a person answer a step, if a rule needs that."""
        return self._ask_person if name in self.persons and not self.is_mock else None

    def _ask_person(self, name: str, node: Table) -> Done:
        """Run a step without the file of answers and `--human`."""
        session, options = self.session, self.session.options
        kept = session.answers, getattr(options, "human", None)
        session.answers, options.human = ("", []), None
        try:
            return session.performers[name].perform(name, node)
        finally:
            session.answers, options.human = kept

    def allowed(self) -> None:
        """Let a held event pass by an operator's decision."""
        session, options = self.session, self.session.options
        for name in dict.fromkeys(options.override):
            if name in self.locks.broken(self.locks.held):
                step, word, _ = self.locks.held[0]
                about = {"rule": name, "event": f"{'end' if word else 'start'} of {step or 'the run'}"}
                record = {"kind": "override", **about, "by": options.by or user(), "note": options.note}
                tried = copy.copy(self.locks)
                tried.feed(record)
                session.record(record if tried.held else {**record, "condition": self.locks.after})
                session.emit("override", rule=name, of=about["event"], by=record["by"], note=options.note)

    resumed = allowed

    def reasons(self, locks: Locks) -> list[str]:
        """Return why a run is held, as lines."""
        step, word, _ = [*locks.held, ("", "", 0)][0]
        what, rules = f"{step or 'the run'} can't {'end' if word else 'start'}", locks.broken(locks.held)
        needs = {name: self.rules[name].get("needs", "") for name in rules}
        whys = (
            f'needs "{needs[name]}" first' if needs[name] else f'is "{self.rules[name]["sentence"]}"' for name in rules
        )
        return [one_line(f"{what}: rule {name} {why}") for name, why in zip(rules, whys)]

    def _ways(self) -> list[str]:
        return [one_line(f"{what}: {command}") for what, command in self.choices(None, "")]

    def choices(self, _state: "State | None", _condition: str) -> list[tuple[str, str]]:
        """Return the commands that continue a held run."""
        session, broken = self.session, self.locks.broken(self.locks.held)
        opening = [
            event[0] for name in broken for event in self.rules[name].get("opens", ()) if event[0] in session.places
        ]
        goto = [
            ("to decide that", session.call("goto", step)) for step in opening[:1] if "stepspec" not in session.program
        ]
        words = [word for name in broken for word in ("--override", name)]
        is_fixed = not broken or any("override" in self.rules[name] for name in broken)
        return [
            *goto,
            *([] if is_fixed else [("to let it pass once", session.call("resume", *words, "--note", "WHY"))]),
        ]

    def facts(self, _state: State) -> Table:
        """Return why the run is held, and the overrides."""
        reasons, found = self.reasons(self.locks), [one for one in self.past if one["kind"] == "override"]
        overrides = (
            {"overrides": [picked(one, ("rule", "event", "by", "note", "time")) for one in found]} if found else {}
        )
        return {**overrides, **({"state": "held", "held": reasons} if reasons else {})}

    @staticmethod
    def lines(facts: Table, record: "Table | None") -> list[str]:
        """Return lines above the steps."""
        past = [
            f"rule {one['rule']} was overridden for the {one['event']} {told_by(one)}"
            for one in facts.get("overrides", ())
        ]
        return [one_line(line) for line in (*facts.get("held", ()), *past)] if record is None else []

    def end(self) -> None:
        """Show the overrides of the run."""
        for line in self.lines(self.facts(self.session.state), None):
            self.session.display.rule(line)
