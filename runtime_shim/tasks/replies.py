"""Replies that are strings, from files of answers, standard input and the terminal."""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from runtime_shim.engine.display import forget_typed
from runtime_shim.engine.outcomes import Done
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension, Performers
from runtime_shim.engine.texts import MEANINGS, meant, one_line, words_of
from runtime_shim.engine.walk import filled
from runtime_shim.io.answers import Answer, AnswerIssue
from runtime_shim.io.reading import LONGEST_TEXT, SPACES, unkept
from runtime_shim.io.terminal import asked, kept
from runtime_shim.tasks.ask import ITEM, Asking
from runtime_shim.values.fitting import outcome_of
from runtime_shim.values.slots import until

OBJECT = r'\s*\{\s*["}]'  # the start of JSON; a step's name may start with a brace too
SHORT = {"y": "yes", "ok": "yes", "n": "no", "approve": "approved", "reject": "rejected"}
ANY = ["-"]  # the replies of a step that takes any string


def one_of(words: Iterable[str]) -> str:
    """Return a message that lists the replies."""
    return f"expected one of {one_line(', '.join(words))}"


def wanted(asks: Table) -> str:
    """Return a line about the value that a question asks for."""
    listed, matching = ", ".join(asks.get("options", ())), asks.get("pattern", "")
    checks = (
        f"one of {listed}" * bool(listed),
        "a number" * (asks["type"] == "number"),
        f"like {matching}" * bool(matching),
    )
    return one_line(", ".join([asks["name"], *filter(None, checks)]))


def outcome_at(step: str, node: Table, reply: str) -> tuple[str, str]:
    """Return the outcome of a reply to a question for a value, and the problem with it; one of them is ""."""
    asks = node["asks"]
    outcome, problem = outcome_of(reply.strip(SPACES), asks["type"], asks.get("options", ()), asks.get("pattern"))
    return outcome, problem and one_line(f"{step} needs a value for {asks['name']}, or fail: {problem}")


class Script:
    """Reads a file of answers: lines, multi-line strings, or JSON."""

    def __init__(self, nodes: dict[str, Table], kinds: Performers) -> None:
        self._names, self._nodes = {*nodes}, nodes
        tasks = {node["task"] for node in nodes.values()}
        self._is_free = not tasks.isdisjoint(("input", "select"))  # then no line is a comment
        self._is_any = self._is_free or "value" in tasks  # then a line without a step has any reply
        self._askers: dict[str, tuple[str, list[str]]] = {}  # task and replies by name
        for name, node in nodes.items():
            task = node["task"]
            if task not in kinds or node.get("stage", "execute") != "execute":
                continue
            replies = {"ask": [*MEANINGS], "stage": [*MEANINGS], "value": ANY}.get(task) or kinds[task].replies(node)
            if replies:
                self._askers.update(dict.fromkeys(kinds[task].names(name, node), (task, replies)))

    def read(self, text: str) -> "Iterator[Answer | AnswerIssue]":
        """Return the answers in order, and problems with lines."""
        for item in self._json(text) if re.match(OBJECT, text) else self._lines(text):
            problem = self._issue(*item[1:]) if isinstance(item, Answer) else ""
            yield (item[0], problem) if problem else item

    def _json(self, text: str) -> "Iterator[Answer | AnswerIssue]":
        """Return the answers in a JSON object, or its error."""
        try:
            pairs: Any = json.loads(text, object_pairs_hook=list)
        except (ValueError, RecursionError) as error:
            yield 1, f"not JSON: {error}"
            return
        found = ((name, reply) for name, said in pairs for reply in (said if isinstance(said, list) else [said]))
        yield from (Answer(number, *pair) for number, pair in enumerate(found, start=1))

    def _lines(self, text: str) -> "Iterator[Answer | AnswerIssue]":
        names = sorted(self._names.union(self._askers), key=len, reverse=True)
        of_step = re.compile(rf"({'|'.join(map(re.escape, names))})(<<|[ \t])(.*)", re.DOTALL)
        lines = enumerate(text.split("\n"), start=1)
        for number, written in lines:
            line = written if self._is_free else written.lstrip()
            if not line.strip() or (not self._is_free and line.startswith("#")):
                continue
            found = of_step.fullmatch(line)
            step, mark, reply = found.groups() if found else (None, "", line)
            if mark == "<<":
                inner = until(reply, lines)
                yield (number, f"the closing line {reply} is missing") if inner is None else Answer(number, step, inner)
                continue
            reply = reply.removesuffix("\r")
            has_reason = reply.startswith(ITEM) and "n/a" in reply
            if not (self._is_free or has_reason or self._askers.get(step or "", ("", []))[1] == ANY):
                reply = re.sub(r"(^|\s)#.*", "", reply).strip()
            yield Answer(number, step, reply)

    def _issue(self, step: "str | None", reply: Any) -> str:  # JSON may have any value
        """Return the problem with an answer, as far as it is known before the run, or ""."""
        if not isinstance(reply, str):
            return f"{one_line(step or '')}: expected a string, or a list of strings"
        if problem := unkept(reply):
            return f"the reply {problem}"
        if step is None:
            return "" if self._is_any or reply.lower() in (*MEANINGS, "approved", "rejected") else one_of(MEANINGS)
        if step not in self._askers:
            return f"{one_line(step)} takes no answer"
        task, replies = self._askers[step]
        if task in ("agent", "parallel") and not reply.strip(SPACES):
            return f"the answer for {step} is empty"
        if task == "value":
            return outcome_at(step, self._nodes[step], reply)[1]
        is_any = replies == ANY or (task == "ask" and reply.startswith(ITEM))
        is_one = is_any or (reply if task == "select" else reply.strip().lower()) in replies
        return "" if is_one else f"{one_of(replies)} for {step}"


class Questions(Asking):
    """Runs steps whose reply is a string."""

    def shown(self, node: Table) -> list[str]:
        """Add the numbered options to the question."""
        return [*super().shown(node), *(f"    {place}. {one_line(one)}" for place, one in self._numbered(node).items())]

    def ask_here(self, name: str, node: Table) -> "Done | None":
        """Ask until a reply fits. The number of an option selects it, unless that number is an option."""
        options, numbered = self._options(node), self._numbered(node)
        choices = {"input": ":", "select": f" [1-{len(options)}]"}.get(node["task"], f" [{'/'.join(options)}]")

        def read(reply: str) -> Done:
            return self.given(name, reply if reply in options else numbered.get(reply, reply), "answered here")

        forget_typed()
        return asked(self.session, f"{self.session.label(name)}{choices} ", read)

    def given(self, _name: str, reply: str, how: str) -> Done:
        """Return the outcome of a reply, with the reply as its text, except for gates."""
        node = self.session.program["nodes"][self.session.state.node]
        if node["task"] == "input":
            return self.session.with_text(Done("pass", how), reply.strip(SPACES))
        options, text = self._options(node), reply if node["task"] == "select" else reply.strip().lower()
        text = SHORT.get(text, text) if node["task"] != "select" and SHORT.get(text) in options else text
        if text not in options:
            raise UsageError(f"{one_line(reply)}: {one_of(options)}{meant(text, options)}")
        done = Done(words_of(node)[options.index(text)], how)
        return self.session.with_text(done, "" if node["task"] == "gate" else text)

    def facts(self, _name: str, node: Table) -> Table:
        """Return the replies with the values of the run."""
        return {"replies": ANY if node["task"] == "input" else self._options(node)}

    def _options(self, node: Table) -> list[str]:
        return [filled(node, one, self.session.state.registers) for one in node.get("options", words_of(node))]

    def _numbered(self, node: Table) -> dict[str, str]:
        return {str(place): one for place, one in enumerate(self._options(node), 1) if node["task"] == "select"}

    @staticmethod
    def replies(node: Table) -> list[str]:
        """Return the replies that a waiting step takes; `-` for strings that only the run knows."""
        words = words_of(node)
        is_filled = "options" in node or any(key in word for key in node.get("placeholders", ()) for word in words)
        return ANY if node["task"] == "input" or is_filled else [*words]


class Replies(Extension):
    """Programs whose questions take strings, also from files of answers and standard input."""

    performers: ClassVar[Performers] = {"confirm": Questions, "input": Questions, "select": Questions}
    script = Script

    def answers_in(self, text: str, nodes: dict[str, Table]) -> "Iterator[Answer | AnswerIssue]":
        """Read a file of answers."""
        return self.script(nodes, self.session.kinds).read(text)

    def reply(self, reply: str) -> str:
        """Return the reply that a word means; `-` means standard input."""
        if reply == "-":
            reply = sys.stdin.buffer.read(LONGEST_TEXT + 2).decode(errors="surrogateescape").removesuffix("\n")
        return kept(reply)
