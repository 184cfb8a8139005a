"""Replies that are texts, typed or from a file of answers, and the questions that take them (I10)."""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any, Optional, Union

from runtime_shim.engine.display import Display
from runtime_shim.engine.lifecycle import Done, Extension, Performers
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.signals import Interrupted, Signals
from runtime_shim.engine.texts import one_line, words_of
from runtime_shim.engine.walk import filled
from runtime_shim.tasks.answers import Answer, Problem
from runtime_shim.tasks.ask import Asking

LARGEST_REPLY = 1 << 20  # bytes
PASSED = ("pass", "fail", "yes", "no")
WORDS = {"ask": PASSED, "stage": PASSED, "confirm": ("yes", "no"), "gate": ("approved", "rejected")}
ANSWERED = (*WORDS, "input", "select", "agent", "tool", "parallel")
OBJECT = re.compile(r'\s*\{\s*["}]')  # how JSON begins; the name of a step may begin with a brace too
AROUND = " \t\n\r\v\f"  # what does not count at the ends of a reply that is any text (I10)
FREE = ("input", "select")  # what asks for a text: then no line is a comment


def check_reply(reply: str) -> str:
    """Return a reply that is a text and not too long."""
    try:
        size = len(reply.encode())
    except UnicodeEncodeError:
        raise RefusedError("the reply is not UTF-8") from None
    if size > LARGEST_REPLY:
        raise RefusedError(f"the reply is longer than {LARGEST_REPLY:,} bytes")
    return reply


def taken_from(reply: str) -> str:
    """Return the reply of an `answer`: `-` stands for what comes on standard input."""
    if reply != "-":
        return check_reply(reply)
    data = sys.stdin.buffer.read(LARGEST_REPLY + 2)
    try:
        return check_reply(data.decode().removesuffix("\n"))
    except UnicodeDecodeError:
        raise RefusedError("the reply on standard input is not UTF-8") from None


def typed(display: Display, signals: Signals, prompt: str, is_long: bool = False) -> Optional[str]:
    """Return what a person types, a line or more; None for nothing."""
    display.line(f"{prompt} (end it with Ctrl-D)" if is_long else f"{prompt} ", end="\n" if is_long else "")
    lines: list[str] = []
    while True:
        try:
            with signals:
                line = sys.stdin.buffer.readline().decode(sys.stdin.encoding, "surrogateescape")
        except Interrupted:
            display.line()
            raise
        if line and not is_long:
            return line.removesuffix("\n")
        if not line:
            display.line()
            return "".join(lines).removesuffix("\n") if lines else None
        lines.append(line)


class Script:
    """Reads a file of answers: lines, texts of several lines, or JSON."""

    def __init__(self, nodes: dict[str, Table], kinds: Performers) -> None:
        self._nodes = nodes
        self._owners: dict[str, Table] = {}
        for name, node in nodes.items():
            kind = kinds.get(node["task"])
            if kind and issubclass(kind, Asking) and node.get("stage", "execute") == "execute":
                self._owners.update(dict.fromkeys(kind.names(name, node), node))
        self._names = sorted(self._owners, key=len, reverse=True)
        self._is_free = any(node["task"] in FREE for node in nodes.values())

    def read(self, text: str) -> Iterator[Union[Answer, Problem]]:
        """Return the answers in order, and what is wrong with some."""
        found = self._json(text) if OBJECT.match(text) else self._lines(text)
        for item in found:
            if isinstance(item, Answer) and self._problem(item):
                yield item.line, self._problem(item)
            else:
                yield item

    def _json(self, text: str) -> Iterator[Union[Answer, Problem]]:
        try:
            pairs: Any = json.loads(text, object_pairs_hook=list)
        except (ValueError, RecursionError) as error:
            yield 1, f"not JSON: {error}"
            return
        number = 0
        for name, replies in pairs:
            for reply in replies if isinstance(replies, list) else [replies]:
                number += 1
                if name not in self._owners:
                    yield number, f"{one_line(name)} is not a step that asks"
                elif not isinstance(reply, str):
                    yield number, f"{one_line(name)}: expected a string, or a list of strings"
                else:
                    yield Answer(number, name, reply)

    def _lines(self, text: str) -> Iterator[Union[Answer, Problem]]:
        lines = iter(enumerate(text.split("\n"), start=1))
        for number, whole in lines:
            line = whole.removesuffix("\r")
            if not line.strip() or (not self._is_free and line.lstrip().startswith("#")):
                continue
            name = next((name for name in self._names if line.startswith((f"{name} ", f"{name}\t", f"{name}<<"))), None)
            if name is None:
                first = line.split(None, 1)[0]
                known = first in self._nodes and len(line.split()) > 1
                yield (number, f"{first} is not a step that asks") if known else Answer(number, None, self._bare(line))
            elif line[len(name)] != "<":
                reply = line[len(name) + 1 :]
                has_words = self._owners[name]["task"] in WORDS
                yield Answer(number, name, self._bare(reply) if has_words else reply)
            else:
                inner = self._until(line[len(name) + 2 :], lines)
                yield (
                    (number, f"{line[len(name) + 2 :]} does not follow")
                    if inner is None
                    else Answer(number, name, inner)
                )

    def _bare(self, reply: str) -> str:
        """Take spaces and a comment away from a reply that is a word."""
        return reply if self._is_free else re.sub(r"(^|\s)#.*", "", reply).strip()

    @staticmethod
    def _until(word: str, lines: Iterator[tuple[int, str]]) -> Optional[str]:
        inner: list[str] = []
        for _, line in lines:
            if line.removesuffix("\r") == word:
                return "\n".join(inner)
            inner.append(line)
        return None

    def _problem(self, answer: Answer) -> str:
        """Say what is wrong with an answer, as far as that is known before the run."""
        try:
            check_reply(answer.reply)
        except RefusedError as error:
            return str(error)
        if answer.step is None:
            known = {word for words in WORDS.values() for word in words}
            return "" if self._is_free or answer.reply.lower() in known else f"expected {', '.join(WORDS['ask'])}"
        node = self._owners[answer.step]
        words = WORDS.get(node["task"], ())
        if words and answer.reply.strip().lower() not in words:
            return f"expected {' or '.join(words)} for {answer.step}"
        if node["task"] in ("agent", "parallel") and not answer.reply.strip(AROUND):
            return f"the answer of {answer.step} is empty"
        if node["task"] == "select" and "placeholders" not in node and answer.reply not in node["words"]:
            return f"expected one of {', '.join(node['words'])} for {answer.step}"
        return ""


class Replies(Extension):
    """Programs that take texts as replies, on standard input too."""

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether a step takes more than pass or fail."""
        return any(node["task"] in ANSWERED and node["task"] != "ask" for node in program["nodes"].values())

    def answers_in(self, text: str, nodes: dict[str, Table]) -> Iterator[Union[Answer, Problem]]:
        """Read a file of answers."""
        return Script(nodes, self.session.kinds).read(text)

    def reply(self, reply: str) -> str:
        """Return the reply that a word stands for."""
        return taken_from(reply)


class Questions(Asking):
    """Gets the replies of steps that ask for a text."""

    def perform(self, name: str, node: Table) -> Done:
        """Show a prompt and get the reply."""
        session = self.session
        for line in session.texts(node, "prompt") + session.texts(node, "block") + self._listed(node):
            session.display.line(line)
        session.heed()
        done = self.from_file(name)
        while done is None and session.is_interactive:
            reply = typed(session.display, session.signals, self._asked(name, node))
            if reply is None:
                break
            try:
                done = self.given(name, self._chosen(node, reply), "answered here")
            except RefusedError as error:
                session.display.line(f"{error}")
        if done is None:
            raise self.wait(name, node)
        return done

    def preview(self, name: str, node: Table) -> Done:
        """Take the reply of the file, or else the first word."""
        return self.from_file(name) or Done(words_of(node)[0], "assumed")

    def given(self, name: str, reply: str, how: str) -> Done:
        """Read a reply: the text of the outcome is the reply."""
        node, text = self.session.program["nodes"][name], check_reply(reply)
        if node["task"] == "input":
            return self.session.told(Done("pass", how), text.strip(AROUND))
        if node["task"] == "confirm":
            word = text.strip().lower()
            if word not in ("yes", "no"):
                raise RefusedError(f"{one_line(text)}: expected yes or no")
            return self.session.told(Done(word, how), word)
        options = self._options(node)
        if text not in options:
            raise RefusedError(f"{one_line(text)}: expected one of {one_line(', '.join(options))}")
        return self.session.told(Done(node["words"][options.index(text)], how), text)

    def _options(self, node: Table) -> list[str]:
        options: list[str] = node["options"] if "options" in node else node["words"]
        return [filled(node, option, self.session.state.registers) for option in options]

    def _listed(self, node: Table) -> list[str]:
        options = self._options(node) if node["task"] == "select" else []
        return [f"    {number}. {one_line(option)}" for number, option in enumerate(options, start=1)]

    def _chosen(self, node: Table, reply: str) -> str:
        """Take the number of an option for the option, unless an option is that number."""
        options = self._options(node) if node["task"] == "select" else []
        is_number = reply.isdecimal() and reply.isascii() and reply not in options and len(reply) < 9
        return options[int(reply) - 1] if is_number and 0 < int(reply) <= len(options) else reply

    def _asked(self, name: str, node: Table) -> str:
        choices = {"confirm": " [yes/no]", "select": f" [1-{len(words_of(node))}]"}
        return f"{self.session.label(name)}{choices.get(node['task'], ':')}"

    @staticmethod
    def replies(node: Table) -> list[str]:
        """Return the replies that a step that waits takes; `-` is for a text that only the run knows."""
        words = list(words_of(node))
        is_filled = "options" in node or any(key in word for key in node.get("placeholders", ()) for word in words)
        return ["-"] if node["task"] == "input" or is_filled else words


class Asked(Extension):
    """Programs with such questions."""

    performers = {"confirm": Questions, "input": Questions, "select": Questions}
