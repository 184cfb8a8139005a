"""The program as calls: one for each step, in the words of the runbook; `runtime_shim/built.py` reads them back.

A counter is not named where `retry` says it all, nor an end that only one transition leads to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import groupby, pairwise, takewhile
from typing import Any

from msgspec import Struct, field

from backends.python.common import implied, without_common
from backends.python.literals import WIDEST, broken, laid_out, literal, prose
from backends.python.table import Table
from backends.remarks import comment

INDENT = "    "
WORDS = ("about", "group", "step", "end", "branch", "go", "retry", "complete", "stop")
"""What a runbook may call besides the kinds of tasks, in the order in which it takes them."""

_OWN = frozenset({"title", "at", "task", "shell", "command", "edges"})
_OUTCOMES = {"pass/fail": {"pass": "on_pass", "fail": "on_fail"}, "yes/no": {"pass": "on_yes", "fail": "on_no"}}


class Calls(Struct):
    """The lines of the function, the names that it calls, and the table as they say it."""

    lines: list[str]
    used: set[str]
    said: Table
    builder: str = ""
    """The class whose words these are, where it is not that of a runbook."""

    @property
    def parameters(self) -> list[str]:
        """The names that the function takes: first those of every runbook, then the kinds of its tasks."""
        return [*(word for word in WORDS if word in self.used), *sorted(self.used - set(WORDS))]


def calls(table: Table, headings: dict[str, str]) -> Calls:
    """The calls that a table is built of; `headings` stand above steps."""
    return _Writer(without_common(table)).write(headings)


class _Writer(Struct, dict=True):
    table: Table
    used: set[str] = field(default_factory=lambda: {"about"})

    def __post_init__(self) -> None:
        edges = [edge for node in self.table["nodes"].values() for edge in node["edges"]]
        self._users = Counter([self.table["entry"], *(edge["go"] for edge in edges)])
        self._taken: set[str] = set()
        self._said: set[str] = set()
        """Ends that were written where the run goes there, and so need no call of their own."""

    def write(self, headings: dict[str, str]) -> Calls:
        lines: list[str] = []
        groups = dict(self.table.get("groups", {}))
        for name, node in self.table["nodes"].items():
            if name in self._said:
                continue
            body = self._node(name, node)
            lines.append("")
            if name in headings:
                lines.append(f"{INDENT}# {comment(headings[name])}")
            if node.get("group") in groups:
                lines += self._call("group", [literal(node["group"])], settings_of(groups.pop(node["group"])))
            lines += body
        return Calls([*self._about(), *lines], self.used, self.table)

    def _about(self) -> list[str]:
        table = self.table
        implied = self._counted()
        registers = {name: value for name, value in table["registers"].items() if name not in implied}
        facts = [f"{key}={literal(table[key])}" for key in ("name", "source")]
        if table["entry"] != next(iter(table["nodes"])):
            facts.append(f"entry={literal(table['entry'])}")
        held = {
            "limit": table.get("limit"),
            "secrets": table.get("secrets"),
            "counters": {name: value for name, value in registers.items() if isinstance(value, int)},
            "scopes": table.get("scopes"),
            "texts": _named({name: value for name, value in registers.items() if not isinstance(value, int)}),
            "placeholders": table.get("placeholders"),
            "inputs": table.get("inputs"),
            "outputs": table.get("outputs"),
            "jumps": table.get("jumps"),
            "artifact": table.get("artifact"),
            "contexts": table.get("contexts"),
            "steps": table.get("steps"),
            "folder": table.get("folder"),
            "contract": table.get("contract"),
        }
        return self._call(
            "about",
            [literal(table["title"])],
            [*facts, *settings_of({key: value for key, value in held.items() if value})],
        )

    def _counted(self) -> set[str]:
        """The counters of attempts that calls of `retry` stand for."""
        return {self.table["nodes"][name]["attempt"] for name in self._retried}

    @cached_property
    def _retried(self) -> set[str]:
        """The steps whose retries are those that `retry` stands for."""
        return {name for name, node in self.table["nodes"].items() if self._retries(name, node)}

    def _node(self, name: str, node: Table) -> list[str]:
        """The call for a step, a branch, or an end that is not written at the transition to it."""
        self._taken.add(name)
        task = node["task"]
        head = [literal(name)]
        if task == "end":
            head += [literal(node["result"]), *([literal(node["message"])] if node["message"] else [])]
            own = _OWN | {"result", "message"}
            more = {key: value for key, value in node.items() if key not in own}
            titled = [f"title={literal(node['title'])}"] if node["title"] else []
            settings = [*titled, *settings_of(more)]
            return self._call("end", head, [*settings, *self._transitions(name, node)])
        if node["title"]:
            head.append(literal(node["title"]))
        if task != "branch":
            place, line = node["at"].rpartition(":")[::2]
            head.append(f"at={line if place == self.table['source'] else literal(node['at'])}")
        own = _OWN | {"attempt"} if name in self._retried else _OWN
        more = {key: value for key, value in node.items() if key not in own}
        command = {node["shell"]: node["command"]} if task == "shell" else {}
        prompt = {"prompt": more.pop("prompt")} if "prompt" in more else {}
        known = implied(node)
        more = {key: value for key, value in more.items() if key not in known or value != known[key]}
        clears = {"clears": found} if (found := self._clears(name, node)) else {}
        transitions = self._transitions(name, node)
        if task == "ask" and node["question"] == _question_of(transitions):
            del more["question"]
        settings = settings_of(prompt | command | more | clears)
        return self._call("step" if task == "shell" else task, head, [*settings, *transitions])

    def _retries(self, name: str, node: Table) -> bool:
        """Whether its retries are those that `retry` stands for: a transition back, and a reset on each one out."""
        counter = f"{name} retries"
        if node.get("attempt") != counter or self.table["registers"][counter] != 0:
            return False
        times = [_times(name, edge) for edge in node["edges"]]
        resets = [edge.get("do", [])[-1:] == [[counter, "=", 0]] for edge in node["edges"]]
        return any(times) and all(bool(many) or reset for many, reset in zip(times, resets, strict=True))

    def _clears(self, name: str, node: Table) -> list[str]:
        """The texts that all transitions of a step clear first."""
        if name in self._retried or node["task"] == "end":
            return []
        effects = (edge.get("do", []) for edge in node["edges"])
        alike = takewhile(lambda found: all(one == found[0] for one in found), zip(*effects, strict=False))
        return [found[0][0] for found in takewhile(lambda found: found[0][1:] == ["clear", []], alike)]

    def _transitions(self, name: str, node: Table) -> list[str]:
        """Where the run goes from a step, as settings of its call."""
        is_retried = name in self._retried
        runs = [(word, list(edges)) for word, edges in groupby(node["edges"], lambda edge: edge.get("on"))]
        transitions = [(word, self._transition(name, edges, is_retried)) for word, edges in runs]
        words = [word for word, _ in transitions]
        others = [index for index, word in enumerate(words) if word not in (None, "pass", "fail")]
        if len(set(words)) < len(words) or any(after - before > 1 for before, after in pairwise(others)):
            pairs = [f"[{literal(word)}, {transition}]" for word, transition in transitions]
            return [f"on={broken('[', pairs, ']', 8)}"]
        known = _OUTCOMES.get(node.get("question", ""), _OUTCOMES["pass/fail"])
        settings: list[str] = []
        for index, (word, transition) in enumerate(transitions):
            if word is None:
                settings.append(f"{'then' if node['task'] in ('branch', 'end') else 'otherwise'}={transition}")
            elif index not in others:
                settings.append(f"{known[word]}={transition}")
            elif index == others[0]:
                inner = [f"{literal(words[other])}: {transitions[other][1]}" for other in others]
                settings.append(f"on={broken('{', inner, '}', 8)}")
        return settings

    def _transition(self, name: str, edges: list[Table], is_retried: bool) -> str:
        """The transitions of one outcome: the first one whose conditions hold is taken."""
        if is_retried and len(edges) > 1 and (times := _times(name, edges[0])):
            self.used.add("retry")
            says = edges[0]["says"]
            told = "" if says == f"RETRY {times}" else f"{literal(says)}, "
            return f"retry({times}, {told}then={self._transition(name, edges[1:], is_retried)})"
        shown = [self._one(name, edge, is_retried) for edge in edges]
        return shown[0] if len(shown) == 1 else broken("[", shown, "]", 8)

    def _one(self, name: str, edge: Table, is_retried: bool) -> str:
        if is_retried and (times := _times(name, edge)):
            self.used.add("retry")
            return f"retry({times}, {literal(edge['says'])})"
        do = edge.get("do", [])[:-1] if is_retried else edge.get("do", [])
        do = do[len(self._clears(name, self.table["nodes"][name])) :]
        guards = {"when": edge.get("if"), "do": do}
        more = [f"{key}={literal(value)}" for key, value in guards.items() if value]
        found = self._end(name, edge, more)
        if found:
            return found
        self.used.add("go")
        says = [literal(edge["says"])] if edge["says"] else []
        kept = list(takewhile(_is_kept, reversed(do)))[::-1]
        guards = {"when": edge.get("if"), "do": do[: len(do) - len(kept)], "keeps": [_kept(one) for one in kept]}
        more = [f"{key}={literal(value)}" for key, value in guards.items() if value]
        return f"go({', '.join([literal(edge['go']), *says, *more])})"

    def _end(self, name: str, edge: Table, more: list[str]) -> str:
        """The end to which an edge leads, where it needs no name."""
        target, node = edge["go"], self.table["nodes"][edge["go"]]
        if node["task"] != "end" or node["edges"] or node["title"] or self._users[target] > 1:
            return ""
        word = node["result"]
        is_named = target != next(free for free in _free(f"{name}/{word.upper()}") if free not in self._taken)
        if is_named and (edge["says"] or target in self._taken):
            return ""
        self._taken.add(target)
        self._said.add(target)
        self.used.add(word)
        to = [f"to={literal(target)}"] if is_named else []
        says = [] if is_named or edge["says"] == word.upper() else [f"says={literal(edge['says'])}"]
        filled = [f"placeholders={literal(node['placeholders'])}"] if "placeholders" in node else []
        message = [literal(node["message"])] if node["message"] else []
        return f"{word}({', '.join([*message, *to, *says, *more, *filled])})"

    def _call(self, word: str, head: list[str], settings: list[str]) -> list[str]:
        self.used.add(word)
        return call_lines(word, head, settings)


def _question_of(transitions: list[str]) -> str:
    """The question that the transitions of a call tell, as the builder reads them."""
    return "yes/no" if any(one.startswith(("on_yes=", "on_no=")) for one in transitions) else "pass/fail"


def call_lines(word: str, head: list[str], settings: list[str]) -> list[str]:
    """A call on one line if it fits, else with a line for each setting."""
    whole = f"{INDENT}{word}({', '.join([*head, *settings])})"
    if len(whole) <= WIDEST and "\n" not in whole:
        return [whole]
    inner = [f"{INDENT}{INDENT}{setting}," for setting in settings]
    return [f"{INDENT}{word}({', '.join(head)},", *inner, f"{INDENT})"]


def settings_of(values: Table) -> list[str]:
    """The settings of a call, a text for each."""
    return [
        f"{key}={prose(value) if isinstance(value, str) else laid_out(value, 8, len(key))}"
        for key, value in values.items()
    ]


def _named(texts: Table) -> Table | list[str]:
    """The texts of a program and what they are at first; only their names, where that is nothing."""
    return texts if any(value is not None for value in texts.values()) else list(texts)


def _is_kept(effect: list[Any]) -> bool:
    """Whether an effect keeps an answer, or a field of it."""
    match effect:
        case [_, "keep", ["answer"] | ["field", str()]]:
            return True
        case _:
            return False


def _kept(effect: list[Any]) -> str | list[str]:
    """The text that keeps an answer; with the field, where it is one of the answer."""
    slot, _, what = effect
    return slot if what == ["answer"] else [slot, what[1]]


def _times(name: str, edge: Table) -> int:
    """How often an edge goes round to its own step before it gives up; 0 if it is no such edge."""
    counter = f"{name} retries"
    tests = edge.get("if", [])
    if edge["go"] != name or edge.get("do") != [[counter, "+", 1]] or len(tests) != 1:
        return 0
    register, operator, times = tests[0]
    return times if (register, operator) == (counter, "<") else 0


def _free(name: str) -> Iterator[str]:
    """The names for a further end of a step."""
    yield name
    number = 2
    while True:
        yield f"{name}~{number}"
        number += 1
