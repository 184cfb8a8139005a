"""Rules that hold in a run: a start or an end that breaks one waits for an operator (P-5, P-15, P-16)."""

import copy
from collections.abc import Sequence
from typing import Any

from runtime_shim.engine.journal import Record, picked
from runtime_shim.engine.outcomes import Done, Waiting
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension
from runtime_shim.engine.state import ENDED, MOVES, State, digest, user
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


class Locks:
    """The values of all rules after some records, and the events that a rule holds, with those after them.

    The value of a lock is 1 if it is open. That of a count is how many events are left. Nothing changes in place.
    """

    def __init__(self, rules: Table, records: Sequence[Record] = (), stops: bool = False) -> None:
        """Read records. With `stops`, the last of them is not written yet."""
        self.rules, self.held = rules, list[Event]()
        self.now = self.first = {name: rule.get("most", int("is_open" in rule)) for name, rule in rules.items()}
        self.before, self.at, self.last, self.condition, self.after = self.now, "", "", "", ""
        self.passes = self.ended = frozenset[str]()  # the rules to ignore, and the steps that the last move ended
        names, found = dict[str, str](), list[Record]()  # the names that steps have after later adoptions
        for record in reversed(records):
            new: Table = {key: names.get(record[key], record[key]) for key in ("node", "next") if key in record}
            is_renamed = any(old != name for old, name in names.items())  # then steps around others open nothing
            found.append({**record, **new, **({"settles": ()} if is_renamed else {})})
            if record["kind"] == "adopt":
                names = {old: names.get(name, name) for old, name in record["renamed"].items()}
        for record in found[::-1]:
            self.feed(record, stops and record is found[0])

    def closed(self) -> list[str]:
        """Return the rules that let no guarded event pass."""
        return [name for name, value in self.now.items() if value < 1 and name not in self.passes]

    def broken(self) -> list[str]:
        """Return the rules that the first held event breaks."""
        return [name for name in self.closed() for event in self.held[:1] if has(self.rules[name], "guards", event)]

    def feed(self, record: Record, stops: bool = False) -> None:
        """Apply the events of a record. With `stops`, it is not written yet: one that breaks a rule is held."""
        is_held, condition = "held" in record, str(record.get("held", record.get("condition", "")))
        found = self._events(record, condition)
        stops = stops or is_held or (found is None and record["kind"] != "adopt")
        self.held = [*(self.held if found is None else found)]
        while self.held:
            self._enter(self.held[0])
            if stops and (self.broken() or (is_held and not self.held[1:])):
                break
            self._apply(*self.held.pop(0))
        self.condition, self.after = record.get("condition", self.condition), condition if is_held else self.after

    def _events(self, record: Record, condition: str) -> "list[Event] | None":
        """Return the events of a record in order: outcomes, then a start or the end (P-6). None for no new ones."""
        kind, outcome = record["kind"], record.get("outcome", MOVES[0])
        is_again = self.condition in ENDED and condition not in ("", *ENDED)  # after a limit
        if kind == "override":
            self.passes |= {record["rule"]}
        elif kind in ("begin", "done"):
            self.passes, self.at = frozenset(), record["next" if kind == "done" else "node"]
            is_left = outcome in (*MOVES, "canceled")  # the step that an operator leaves has no outcome
            outcomes = [] if is_left else outcomes_in(record)
            self.ended = frozenset(event[0] for event in outcomes[1:])
            end = [("", condition, 2)] * (outcome != "canceled")
            return [*outcomes, *(end if condition in ENDED else [(self.at, "", 2)])]
        elif kind == "adopt" and condition == "ready" and not self.held:  # the step has not started
            self.now, self.at, is_again = self.before, record["node"], True
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


def outcomes_in(record: Record) -> list[Event]:
    """Return the outcome of a step and those of the steps around it."""
    is_given = (record["how"] in BY_PERSONS and "flag" not in record) or record.get("by") == "mock"
    opens = 0 if record["how"] in ASSUMED else 1 + is_given
    around = [(step, word, 2 * min(opens, 1)) for step, word in record.get("settles", ())]
    return [(record["node"], record["outcome"], opens), *around]


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
            if name not in self.rules:
                raise UsageError(one_line(f"there is no rule {name!a}{meant(name, self.rules)}"))
            if "override" in self.rules[name]:
                raise UsageError(one_line(f"rule {name} can't be overridden"))
        if options.override and not options.note:
            raise UsageError("--override needs --note TEXT with the reason")
        persons = {name for rule in self.rules.values() for name in rule.get("persons", ())}
        self.persons, self.is_mock = persons, bool(getattr(options, "mock", None))

    def before_run(self, state: "State | None") -> None:
        """Read the values of the rules. Refuse an override or an answer that the run does not wait for."""
        self.locks, override = None, {*self.session.options.override}
        if state is None:
            return
        self.past = [*self.session.store.records()]
        self.locks = Locks(self.rules, self.past if self.session.is_same(state) else ())  # an adoption reads them
        broken, command = {*self.locks.broken()}, self.session.options.command
        if command == "resume" and not override <= broken:
            raise UsageError("the run isn't held by each of these rules, so there is nothing to override")
        if command == "answer" and not broken <= override:
            raise UsageError(*self.ways(), *reasons(self.locks))

    def record(self, record: Record) -> Record:
        """Hold a start or an end that breaks a rule. Refuse to go to a step that can't start."""
        kind, condition = record.get("kind"), record.get("condition")
        if kind is None or condition is None:
            return record
        if self.locks is None or kind == "begin":
            self.past = [] if kind == "begin" else [*self.session.store.records()]
            self.locks = Locks(self.rules, self.past)
        if kind in ("begin", "adopt"):
            record = {**record, "rules": {name: digest(rule)[:12] for name, rule in self.rules.items()}}
        if kind == "adopt":
            before = [one.get("rules", {}) for one in self.past if one["kind"] in ("begin", "adopt")][-1]
            record["rules_since"] = changes(before, record["rules"])
        if kind == "done" and self.is_mock and record["node"] in self.persons:
            record = {**record, "by": "mock"}
        now = self.after(record, True)
        if now.held and kind != "rest":
            if record.get("outcome") == "goto" and not {*now.broken()} <= {*self.session.options.override}:
                raise UsageError(*reasons(now))
            record = {**record, "held": condition.replace("running", "ready"), "condition": "ready"}
        if kind == "begin":
            self.written(record)
        return record

    def after(self, record: Record, stops: bool = False) -> Locks:
        """Return the values after a record; with `stops`, before it is written."""
        if record["kind"] == "adopt":
            return Locks(self.rules, [*self.past, record], stops)
        now: Locks = copy.copy(self.locks)
        now.feed(record, stops)
        return now

    def written(self, record: Record) -> None:
        """Apply a record. A decision that a rule holds may come with an override."""
        self.locks = self.after(record)
        self.past.append(record)
        if record["kind"] == "resume":
            self.begins()
        if record["kind"] == "done" and self.session.options.command in ("answer", "goto"):
            self.allowed()
            self.session.options.override = []  # the next event may not pass
            for line in self.remarks():
                self.session.display.rule(line)

    def remarks(self) -> list[str]:
        """Return lines below a decision: why the run is held, or which rules are closed after a move."""
        closed = self.locks.closed() if self.session.options.command == "goto" else ()
        return reasons(self.locks) or [one_line(f"closed rules: {', '.join(closed)}")] * bool(closed)

    def begins(self) -> None:
        """Wait before a step or an end that a rule holds."""
        if self.locks.held:
            raise Waiting(*reasons(self.locks), *self.ways())

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
        options = self.session.options
        for name in [one for one in dict.fromkeys(options.override) if one in self.locks.broken()]:
            about = {"rule": name, "by": options.by or user(), "note": options.note}
            record = {"kind": "override", **about, "event": "{1} of {0}".format(*happening(self.locks.held[0]))}
            more = {} if self.after(record).held else {"condition": self.locks.after}
            self.session.record({**record, **more})
            self.session.emit("override", **about, of=record["event"])

    resumed = allowed

    def ways(self) -> list[str]:
        """Return the commands that continue a held run as lines."""
        return [one_line(f"{what}: {command}") for what, command in self.choices()]

    def choices(self, *_of: object) -> list[tuple[str, str]]:
        """Return the commands that continue a held run."""
        session, broken = self.session, self.locks.broken()
        opens = [event[0] for name in broken for event in self.rules[name].get("opens", ())]
        steps = [] if "stepspec" in session.program else [step for step in opens if step in session.places][:1]
        words = [word for name in broken for word in ("--override", name)]
        can_pass = broken and not any("override" in self.rules[name] for name in broken)
        passes = [("to let it pass once", session.call("resume", *words, "--note", "WHY"))] if can_pass else []
        return [*(("to decide that", session.call("goto", step)) for step in steps), *passes]

    def facts(self, _state: State) -> Table:
        """Return why the run is held, and the overrides."""
        held, past = reasons(self.locks), [one for one in self.past if one["kind"] == "override"]
        found = {"held": held, "overrides": [picked(one, ("rule", "event", "by", "note", "time")) for one in past]}
        return {**({"state": "held"} if held else {}), **{key: lines for key, lines in found.items() if lines}}

    def lines(self, facts: Table, record: "Table | None") -> list[str]:
        """Return lines above the steps."""
        told = "rule {rule} was overridden for the {event} {by}"
        past = [told.format(**{**one, "by": told_by(one)}) for one in facts.get("overrides", ())]
        return [one_line(line) for line in (*facts.get("held", ()), *past)] if record is None else []

    def end(self) -> None:
        """Show the overrides of the run."""
        for line in self.lines(self.facts(self.session.state), None):
            self.session.display.rule(line)


def changes(before: Table, now: Table) -> Table:
    """Return the names of the rules that were added, removed and changed."""
    lists = {"added": now.keys() - before, "removed": before.keys() - now, "changed": now.keys() & before}
    return {how: sorted(one for one in names if now.get(one) != before.get(one)) for how, names in lists.items()}


def happening(event: Event) -> tuple[str, str]:
    """Return what starts or ends, and this word."""
    return event[0] or "the run", "end" if event[1] else "start"


def reasons(locks: Locks) -> list[str]:
    """Return why a run is held, as lines."""
    found = list[str]()
    for name in locks.broken():
        rule, (what, how) = locks.rules[name], happening(locks.held[0])
        why = f'needs "{rule["needs"]}" first' if "needs" in rule else f'is "{rule["sentence"]}"'
        found.append(one_line(f"{what} can't {how}: rule {name} {why}"))
    return found
