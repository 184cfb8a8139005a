"""Checklists: a question passes when a person has confirmed each item of its task list, in order."""

import re
from typing import Any, ClassVar

from runtime_shim.engine.display import forget_typed
from runtime_shim.engine.journal import Record, picked
from runtime_shim.engine.outcomes import Done
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension, Performers, Session
from runtime_shim.engine.state import State, utc_now
from runtime_shim.engine.status import hints, told_by
from runtime_shim.engine.texts import MEANINGS, one_line
from runtime_shim.engine.walk import filled
from runtime_shim.io.terminal import asked
from runtime_shim.tasks.ask import Prompts

ITEM_WORDS = {**MEANINGS, "y": "pass", "ok": "pass", "done": "pass", "n": "fail"}
OF_ITEM = r"--item\s+(\S+)\s+(.*)"  # a reply, as in files of answers
ANSWERED = ("reply", "by", "note", "time")  # the parts of an answer that the status shows


def items_of(session: Session, state: State) -> list[Record]:
    """Return the items of the run's current step, each with its answer if it has one."""
    node, now = session.program["nodes"].get(state.node, {}), {**session.program["registers"], **state.registers}
    answers = {note["item"]: note for note in state.notes if note["kind"] == "item"}
    shown = [session.mask(one_line(filled(node, item, now))) for item in node.get("items", ())]
    known = ((number, text, answers.get(number, {})) for number, text in enumerate(shown, 1))
    return [{"item": at, "text": text, **picked(one, ANSWERED)} for at, text, one in known]


def item_line(item: Record) -> str:
    """Return an item with its answer as a line."""
    reply, when = item.get("reply", ""), item.get("time", "")[:16].replace("T", " ")
    details = (item["text"], reply.partition("n/a")[1] and reply, told_by(item), when and f"{when} UTC")
    box = {"": "[ ]", "done": "[x]"}.get(reply, "[-]")
    return one_line(f"{box} {item['item']}. {', '.join(filter(None, details))}")


def item_reply(typed: str) -> str:
    """Return the meaning of a reply to an item: done, fail, or `n/a: ` and the reason."""
    found = re.fullmatch(r"(?i)n/a: *(.+)", one_line(typed))
    if not found and one_line(typed).lower() not in ITEM_WORDS:
        raise UsageError(f"{one_line(typed)}: expected done, fail, or n/a: and the reason to skip the item")
    return f"n/a: {found[1]}" if found else ITEM_WORDS[one_line(typed).lower()].replace("pass", "done")


class Checklists(Prompts):
    """Asks for one item after another; questions without a list are as usual."""

    def _due(self) -> list[Record]:
        """Return the open items of the current step."""
        return [item for item in items_of(self.session, self.session.state) if "reply" not in item]

    def from_file(self, name: str) -> "Done | None":
        """Return the outcome by earlier answers to items, or by the replies in the file of answers."""
        done, left = self._decided("answered item by item"), -1
        while done is None and left != len(self.session.answers[1]):
            left = len(self.session.answers[1])
            done = super().from_file(name)
        return done

    def ask_here(self, name: str, node: Table) -> "Done | None":
        """Ask for each open item. Each answer is recorded at once, so the person may stop in between."""
        if not self._due():
            return super().ask_here(name, node)

        def read(typed: str) -> "tuple[Done | None]":
            return (self.given(name, f"--item {self._due()[0]['item']} {typed}", "answered here"),)

        found: tuple[Done | None] | None = (None,)
        while found == (None,):
            first = self._due()[0]
            forget_typed()
            text = f"{first['item']}/{len(node['items'])} {first['text']} [y, n, n/a: reason] "
            found = asked(self.session, text, read)
        return found[0] if found else None

    def given(self, name: str, reply: str, how: str) -> Any:  # None while the list has open items
        """Record the answer to an item, or return the outcome of the whole list. PASS needs all items."""
        session, options, due = self.session, vars(self.session.options), self._due()
        parts = re.fullmatch(OF_ITEM, reply, re.DOTALL) if due else None
        number, word = parts.groups() if parts else (options.get("item"), reply)
        over = self._decided(how)  # the run was killed before it recorded that
        if over and MEANINGS.get(word.lower()) != "fail":
            return over
        if (number or options.get("all")) and (not due or (number and options["all"])):
            raise UsageError("use --item or --all, for a step with open items")
        if number:
            return self._answered(due[0], number, item_reply(word), how)
        if due and not (options.get("all") or self.source) and item_reply(word) != "fail":
            raise UsageError(*map(item_line, due), *hints(session, "waiting"), f"{name} has open items: {len(due)}")
        return super().given(name, word, how)

    def _answered(self, item: Record, number: str, reply: str, how: str) -> "Done | None":
        """Record the answer to the first open item. A failed item fails the step."""
        session = self.session
        about = {"node": session.state.node, **item, "reply": reply, "how": how, "time": utc_now()}
        if number != str(item["item"]):
            raise UsageError(f"the next open item is {item_line(item)}; it is not {one_line(number)}")
        if reply == "fail":
            return session.with_text(Done(reply, how, remarks=(f"item {number} failed: {item['text']}",)), reply)
        (session.state.apply if session.options.dry_run else session.record)({"kind": "item", **about, **self.source})
        return self._decided(how)

    def _decided(self, how: str) -> "Done | None":
        """Return that the list passes once all items have an answer."""
        is_over = "items" in self.session.program["nodes"][self.session.state.node] and not self._due()
        return self.session.with_text(Done("pass", how), "pass") if is_over else None


class Checklist(Extension):
    """Programs with checklists."""

    options = (
        ("answer", "--item", "N", "the item that REPLY is for: done, fail, or n/a: and a reason"),
        ("answer", "--all", "", "confirm all open items of the step's list"),
    )
    performers: ClassVar[Performers] = {"ask": Checklists}

    @classmethod
    def suits(cls, program: Table) -> bool:
        """Return whether a question of the program has a list."""
        return any("items" in node for node in program["nodes"].values())

    def record(self, record: Record) -> Record:
        """Add the items and their answers to the outcome of a list. A pass confirms the rest."""
        items = items_of(self.session, self.session.state) if record.get("kind") == "done" else []
        rest = {"reply": "done"} if record.get("outcome") == "pass" else {}
        return {**record, "items": [{**rest, **item} for item in items]} if items else record

    def choices(self, state: State, condition: str) -> list[tuple[str, str]]:
        """Return the commands that answer the next item, or the whole list."""
        due = [str(item["item"]) for item in items_of(self.session, state) if "reply" not in item]
        words = ("done", "--item", *due[:1]), ("n/a: REASON", "--item", *due[:1]), ("pass", "--all"), ("fail",)
        purposes = "to confirm the item", "to skip it", "to confirm all", "to fail"
        calls = [self.session.call("answer", state.node, *one) for one in words]
        return list(zip(purposes, calls)) if due and condition == "waiting" else []

    def facts(self, state: State) -> Table:
        """Return the items of the current step."""
        return {"items": items_of(self.session, state) if self.session.is_same(state) else []}

    def lines(self, facts: Table, record: "Table | None") -> list[str]:
        """Return the items of the current step, or of a finished one, as lines."""
        items = facts.get("items", ()) if record is None else record.get("items", ())
        return [f"{' ' * (2 if record is None else 8)}{item_line(item)}" for item in items]
