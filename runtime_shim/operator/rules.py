"""Rules that hold in a run: a start or an end that breaks one waits for an operator (P-5, P-15, P-16)."""

import copy
from collections.abc import Sequence
from typing import Any

from runtime_shim.engine.journal import Record, picked
from runtime_shim.engine.outcomes import Waiting
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension
from runtime_shim.engine.state import ENDED, MOVES, State, digest, user
from runtime_shim.engine.status import ASSUMED, told_by
from runtime_shim.engine.texts import meant, one_line

BY_PERSONS = ("answered", "answered here", "as reviewed on GitHub")
# A step, its outcome or "" for its start, and the rules that it may open: none, the ones without a person (1), all (2).
# The end of the run is an outcome of the step "".
Event = tuple[str, str, int]
OVERRIDE = ("rule", "event", "by", "note", "time")


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
        self.before, self.at, self.last, self.condition, self.then = self.now, "", "", "", ""
        self.passes = self.ended = frozenset[str]()  # the rules to ignore, and the steps that the last move ended
        names, found = dict[str, str](), list[Record]()  # the names that steps have after later adoptions
        for record in reversed(records):
            new: Table = {key: names.get(record[key], record[key]) for key in ("node", "next") if key in record}
            if "settles" in record and [*names] != [*names.values()]:  # the steps around others have unknown names
                new["settles"] = [(*event, "perhaps") for rule in rules.values() for event in closings(rule)]
            found.append({**record, **new})
            names = {old: names.get(name, name) for old, name in record.get("renamed", {}).items()} or names
        for record in found[::-1]:
            self.feed(record, stops and record is found[0])

    def closed(self) -> list[str]:
        """Return the rules that let no guarded event pass."""
        return [name for name, value in self.now.items() if value < 1 and name not in self.passes]

    def broken(self) -> list[str]:
        """Return the rules that the first held event breaks."""
        return [name for name in self.closed() for event in self.held[:1] if has(self.rules[name], "guards", event)]

    def feed(self, record: Record, stops: bool = False) -> "Locks":
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
        self.condition, self.then = record.get("condition", self.condition), condition if is_held else self.then
        return self

    def _events(self, record: Record, condition: str) -> "list[Event] | None":
        """Return the events of a record in order: outcomes, then a start or the end (P-6). None for no new ones."""
        kind, outcome = record["kind"], record.get("outcome", MOVES[0])
        is_again = self.condition in ENDED and condition not in ("", *ENDED)  # after a limit
        if kind == "override":
            self.passes |= {record["rule"]}
        elif kind in ("begin", "done"):
            self.passes, self.at = frozenset(), record["next" if kind == "done" else "node"]
            outcomes = outcomes_in(record) if outcome not in MOVES else []  # a step that an operator leaves has none
            self.ended = frozenset(event[0] for event in record.get("settles", ()) if not event[2:])
            last = ("", condition, 2) if condition in ENDED else (self.at, "", 2)
            return [*outcomes, last] if outcome != "canceled" else []
        elif kind == "adopt" and condition == "ready" and not self.held:  # the step has not started
            self.now, is_again = self.before, True
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


def closings(rule: Table) -> list[Any]:
    """Return the outcomes that close a rule."""
    return [event for event in rule.get("closes", ()) if not isinstance(event, str)]


def outcomes_in(record: Record) -> list[Event]:
    """Return the outcome of a step and those of the steps around it."""
    is_given = (record["how"] in BY_PERSONS and "flag" not in record) or record.get("by") == "mock"
    opens = 0 if record["how"] in ASSUMED else 1 + is_given
    around = [(step, word, 0 if perhaps else 2 * min(opens, 1)) for step, word, *perhaps in record.get("settles", ())]
    return [(record["node"], record["outcome"], opens), *around]


class Rules(Extension):
    """Programs with rules. The records of the run decide the values, and nothing else is stored."""

    needs = ("rules",)
    options = (
        ("resume answer goto", "--override", "RULE...", "let one event pass that this rule holds; needs --note"),
    )
    locks = Locks({})
    answers: Any = ()  # the file of answers, while a person answers a step

    def prepare(self) -> None:
        """Check the rules to override."""
        options, self.rules = self.session.options, self.session.program["rules"]
        self.persons = {name for rule in self.rules.values() for name in rule.get("persons", ())}
        for name in options.override:
            if "override" in self.rules.get(name, ["override"]):
                why = "can't be overridden" if name in self.rules else f"doesn't exist{meant(name, self.rules)}"
                raise UsageError(one_line(f"rule {name} {why}"))
        if options.override and not options.note:
            raise UsageError("--override needs --note TEXT with the reason")

    def read(self, state: State) -> None:
        """Read the values of the rules; after an adoption, the steps have other names."""
        self.past = [*self.session.store.records()]
        self.locks = Locks(self.rules, self.past if self.session.is_same(state) else ())

    def before_run(self, state: "State | None") -> None:
        """Refuse an override or an answer that the run does not wait for."""
        broken, override, command = self.locks.broken(), self.session.options.override, self.session.options.command
        is_wrong = {"resume": not {*override} <= {*broken}, "answer": not {*broken} <= {*override}}
        is_mock = bool(getattr(self.session.options, "mock", None))
        if state and self.persons and command in ("resume", "retry") and is_mock != ("mocked" in state.begin):
            kind = "not a mock run; continue it without" if is_mock else "a mock run; continue it with"
            raise UsageError(f"this is {kind} --mock")
        if state and is_wrong.get(command):
            raise UsageError(
                *self.next_commands(), *(reasons(self.locks) or ["no rule holds the run, so none can be overridden"])
            )

    def record(self, record: Record) -> Record:
        """Hold a start or an end that breaks a rule. Refuse to go to a step that can't start."""
        kind, options = record.get("kind"), self.session.options
        if kind is None or "condition" not in record:
            return record
        if kind == "begin":
            self.locks, self.past = Locks(self.rules), []
        elif not self.locks.rules:  # a step expires while its run is read
            self.read(self.session.state)
        if kind in ("begin", "adopt"):
            now = {name: digest(rule)[:12] for name, rule in self.rules.items()}
            old = [one["rules"] for one in self.past if "rules" in one][-1:] or [{}]
            record = {**record, "rules": now, **({"rules_since": changes(old[0], now)} if kind == "adopt" else {})}
        if kind == "done" and getattr(options, "mock", None) and record["node"] in self.persons:
            record = {**record, "by": "mock"}
        then = self.after(record, True)
        if then.held and kind != "rest":
            if record.get("outcome") == "goto" and not {*then.broken()} <= {*options.override}:
                raise UsageError(*reasons(then))
            record = {**record, "held": record["condition"].replace("running", "ready"), "condition": "ready"}
        if kind == "begin":
            self.written(record)
        return record

    def after(self, record: Record, stops: bool = False) -> Locks:
        """Return the values after a record; with `stops`, before it is written."""
        if record["kind"] == "adopt":
            return Locks(self.rules, [*self.past, record], stops)
        return copy.copy(self.locks).feed(record, stops)

    def written(self, record: Record) -> None:
        """Apply a record. An interrupted step that may not run again waits."""
        self.locks = self.after(record)
        self.past.append(record)
        if record["kind"] == "resume":
            self.holds()

    def decided(self) -> list[str]:
        """Let the next event pass, and return why the run is held, or which rules are closed after a move."""
        self.allowed()
        self.session.options.override = []  # one event passes
        closed = ", ".join(self.locks.closed()) if self.session.options.command == "goto" else ""
        return reasons(self.locks) or [one_line(f"closed rules: {closed}")] * bool(closed)

    def holds(self) -> None:
        """Wait before a step or an end that a rule holds."""
        if self.locks.held:
            raise Waiting(*reasons(self.locks), *self.next_commands())

    def before_step(self, name: str) -> None:
        """Keep the file of answers, `--agent` and `--human` from a step that only a person answers."""
        session, options = self.session, self.session.options
        is_reserved = name in self.persons and not getattr(options, "mock", None)
        self.answers = self.answers or session.answers
        session.answers = ("", []) if is_reserved else self.answers
        options.human = not is_reserved and getattr(options, "human", None)
        options.is_reserved = is_reserved or getattr(options, "is_reserved", False)

    def allowed(self) -> None:
        """Let a held event pass by an operator's decision."""
        options = self.session.options
        for name in [one for one in dict.fromkeys(options.override) if one in self.locks.broken()]:
            about = {"rule": name, "by": options.by or user(), "note": options.note}
            record = {"kind": "override", **about, "event": "{1} of {0}".format(*words_of_event(self.locks.held[0]))}
            self.session.record({**record, **({} if self.after(record).held else {"condition": self.locks.then})})
            self.session.emit("override", **about, of=record["event"])

    resumed = allowed

    def next_commands(self) -> list[str]:
        """Return the commands that continue a held run as lines."""
        return [one_line(f"{what}: {command}") for what, command in self.choices(None, "")]

    def choices(self, _state: "State | None", _condition: str) -> list[tuple[str, str]]:
        """Return the commands that continue a held run."""
        session, rules = self.session, {name: self.rules[name] for name in self.locks.broken()}
        steps = [event[0] for rule in rules.values() for event in rule.get("opens", ()) if event[0] in session.places]
        found = [("to decide that", ("goto", *steps[:1]))] * (bool(steps) and "stepspec" not in session.program)
        if rules and not any("override" in rule for rule in rules.values()):
            words = [word for name in rules for word in ("--override", name)]
            found.append(("to let it pass once", ("resume", *words, "--note", "WHY")))
        return [(what, session.call(*words)) for what, words in found]

    def facts(self, _state: State) -> Table:
        """Return why the run is held, and the overrides."""
        held, past = reasons(self.locks), [one for one in self.past if one["kind"] == "override"]
        found = {"state": "held" * bool(held), "held": held, "overrides": [picked(one, OVERRIDE) for one in past]}
        return {key: value for key, value in found.items() if value}

    def lines(self, facts: Table, record: "Table | None") -> list[str]:
        """Return lines above the steps."""
        past = [(one["rule"], one["event"], told_by(one)) for one in facts.get("overrides", ())]
        shown = ("rule {} was overridden for the {} {}".format(*one) for one in past)
        return [*map(one_line, (*facts.get("held", ()), *shown))] if record is None else []

    def end(self) -> None:
        """Show the overrides of the run."""
        self.session.display.rule(*self.lines(self.facts(self.session.state), None))


def changes(old: Table, now: Table) -> Table:
    """Return which rules were added, changed and removed."""
    different = [name for name in {**old, **now} if old.get(name) != now.get(name)]
    return {name: ("added", "changed", "removed")[(name in old) + (name not in now)] for name in different}


def words_of_event(event: Event) -> tuple[str, str]:
    """Return what starts or ends, and this word."""
    return event[0] or "the run", "end" if event[1] else "start"


def reasons(locks: Locks) -> list[str]:
    """Return why a run is held, as lines."""
    what = " can't ".join(words_of_event(locks.held[0])) if locks.held else ""
    rules = [(name, locks.rules[name]) for name in locks.broken()]
    whys = (f'needs "{rule["needs"]}" first' if "needs" in rule else f'is "{rule["sentence"]}"' for _, rule in rules)
    return [one_line(f"{what}: rule {name} {why}") for (name, _), why in zip(rules, whys)]
