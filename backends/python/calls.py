"""The program as calls: one for each step, in the runbook's words. `runtime_shim/engine/builder.py` reads them back.

The calls don't name a counter that `retry` implies, or an end that only one transition leads to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import groupby, pairwise, takewhile
from typing import Any

from msgspec import Struct, field

from backends.python.common import without_common
from backends.python.literals import WIDEST, broken, laid_out, literal, prose
from backends.python.table import Table
from backends.remarks import comment
from runtime_shim.data.shared import implied

INDENT = "    "
WORDS = ("about", "group", "step", "end", "branch", "go", "retry", "complete", "stop")
"""Calls in a runbook besides the kinds of tasks, in the order of parameters."""

_OWN = frozenset({"title", "at", "task", "shell", "command", "edges"})
_OWN_RETRIED = _OWN | {"attempt"}
_OWN_OF_END = _OWN | {"result", "message"}
_SAYING_ALL = frozenset({"shell", "ask", "branch"})
"""Tasks without implied settings."""

_PASS_FAIL = ["pass", "fail"]
_OUTCOMES = {"pass/fail": {"pass": "on_pass", "fail": "on_fail"}, "yes/no": {"pass": "on_yes", "fail": "on_no"}}


class Calls(Struct):
    """The lines of the function, the names that it calls, and the table behind them."""

    lines: list[str]
    used: set[str]
    said: Table
    builder: str = ""
    """The class with these words, if it isn't the runbook's."""

    @property
    def parameters(self) -> list[str]:
        """The function's parameters: words of every runbook first, then the kinds of its tasks."""
        return [*(word for word in WORDS if word in self.used), *sorted(self.used - set(WORDS))]


def calls(table: Table, headings: dict[str, str]) -> Calls:
    """Return the calls that build a table. `headings` are comments above steps."""
    return _Writer(without_common(table)).write(headings)


class _Writer(Struct, dict=True):
    table: Table
    used: set[str] = field(default_factory=lambda: {"about"})

    def __post_init__(self) -> None:
        nodes = self.table["nodes"]
        users = Counter([self.table["entry"], *(edge["go"] for node in nodes.values() for edge in node["edges"])])
        self._has_texts = not all(isinstance(initial, int) for initial in self.table["registers"].values())
        ends = ((name, node) for name, node in nodes.items() if node["task"] == "end")
        self._unshared = {name for name, node in ends if not (node["edges"] or node["title"] or users[name] > 1)}
        """Ends with at most one transition, which need no name."""
        self._taken: set[str] = set()
        self._said: set[str] = set()
        """Ends that are written in a transition, and so need no separate call."""

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
        facts = [f"{key}={literal(table[key])}" for key in ("name", "source", "project") if key in table]
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
        """Return the attempt counters that calls of `retry` imply."""
        return {self.table["nodes"][name]["attempt"] for name in self._retried}

    @cached_property
    def _retried(self) -> set[str]:
        """The steps whose retries `retry` can express."""
        nodes = self.table["nodes"].items()
        return {name for name, node in nodes if "attempt" in node and self._retries(name, node)}

    def _node(self, name: str, node: Table) -> list[str]:
        """Return the call for a step, a branch, or an end that is not written in a transition."""
        self._taken.add(name)
        task = node["task"]
        if task == "end":
            return self._end_call(name, node)
        head = [literal(name)]
        if node["title"]:
            head.append(literal(node["title"]))
        if task != "branch":
            place, _, line = node["at"].rpartition(":")
            head.append(f"at={line if place == self.table['source'] else literal(node['at'])}")
        settings: Table = {"prompt": node["prompt"]} if "prompt" in node else {}
        if task == "shell":
            settings[node["shell"]] = node["command"]
        own = _OWN_RETRIED if name in self._retried else _OWN
        known = {} if task in _SAYING_ALL else implied(node)
        for key, value in node.items():
            if key not in own and (key not in known or value != known[key]):
                settings[key] = value
        clears = self._clears(name, node) if self._has_texts else []
        if clears:
            settings["clears"] = clears
        transitions = self._transitions(name, node, len(clears))
        if task == "ask" and node["question"] == _question_of(transitions):
            del settings["question"]
        return self._call("step" if task == "shell" else task, head, [*settings_of(settings), *transitions])

    def _end_call(self, name: str, node: Table) -> list[str]:
        head = [literal(name), literal(node["result"]), *([literal(node["message"])] if node["message"] else [])]
        more = {key: value for key, value in node.items() if key not in _OWN_OF_END}
        titled = [f"title={literal(node['title'])}"] if node["title"] else []
        return self._call("end", head, [*titled, *settings_of(more), *self._transitions(name, node, 0)])

    def _retries(self, name: str, node: Table) -> bool:
        """Return whether `retry` can express a step's retries: an edge back to it, and a reset on each other edge."""
        counter = f"{name} retries"
        if node["attempt"] != counter or self.table["registers"][counter] != 0:
            return False
        times = [_times(name, edge) for edge in node["edges"]]
        resets = [edge.get("do", [])[-1:] == [[counter, "=", 0]] for edge in node["edges"]]
        return any(times) and all(bool(many) or reset for many, reset in zip(times, resets, strict=True))

    def _clears(self, name: str, node: Table) -> list[str]:
        """Return the variables that all transitions of a step clear first."""
        if name in self._retried or node["task"] == "end":
            return []
        effects = [edge["do"] for edge in node["edges"] if "do" in edge]
        if len(effects) < len(node["edges"]):
            return []
        alike = takewhile(lambda found: all(one == found[0] for one in found), zip(*effects, strict=False))
        return [found[0][0] for found in takewhile(lambda found: found[0][1:] == ["clear", []], alike)]

    def _transitions(self, name: str, node: Table, clears: int) -> list[str]:
        """Return a step's transitions as settings of its call, without the first `clears` effects."""
        known = _OUTCOMES.get(node.get("question", ""), _OUTCOMES["pass/fail"])
        edges = node["edges"]
        if [edge.get("on") for edge in edges] == _PASS_FAIL:  # true for almost all steps
            return [f"{known[edge['on']]}={self._one(name, edge, clears)}" for edge in edges]
        runs = groupby(edges, lambda edge: edge.get("on"))
        transitions = [(word, self._transition(name, list(run), clears)) for word, run in runs]
        words = [word for word, _ in transitions]
        others = [index for index, word in enumerate(words) if word not in (None, "pass", "fail")]
        if len(set(words)) < len(words) or any(after - before > 1 for before, after in pairwise(others)):
            pairs = [f"[{literal(word)}, {transition}]" for word, transition in transitions]
            return [f"on={broken('[', pairs, ']', 8)}"]
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

    def _transition(self, name: str, edges: list[Table], clears: int) -> str:
        """Return the transitions of one outcome. A run takes the first one whose conditions hold."""
        if len(edges) == 1:
            return self._one(name, edges[0], clears)
        if name in self._retried and (times := _times(name, edges[0])):
            self.used.add("retry")
            says = edges[0]["says"]
            told = "" if says == f"RETRY {times}" else f"{literal(says)}, "
            return f"retry({times}, {told}then={self._transition(name, edges[1:], clears)})"
        return broken("[", [self._one(name, edge, clears) for edge in edges], "]", 8)

    def _one(self, name: str, edge: Table, clears: int) -> str:
        target, says = edge["go"], edge["says"]
        shown = f"{literal(target)}, {literal(says)}" if says else literal(target)
        if "do" not in edge and "if" not in edge and target not in self._unshared:  # true for almost all edges
            self.used.add("go")
            return f"go({shown})"
        do = edge.get("do", [])
        if name in self._retried:
            if times := _times(name, edge):
                self.used.add("retry")
                return f"retry({times}, {literal(says)})"
            do = do[:-1]
        do = do[clears:]
        if target in self._unshared and (found := self._end(name, edge, do)):
            return found
        self.used.add("go")
        kept = list(takewhile(_is_kept, reversed(do)))[::-1]
        guards = {"when": edge.get("if"), "do": do[: len(do) - len(kept)], "keeps": [_kept(one) for one in kept]}
        return f"go({', '.join([shown, *(f'{key}={literal(value)}' for key, value in guards.items() if value)])})"

    def _end(self, name: str, edge: Table, do: list[Any]) -> str:
        """Return the end that an edge leads to, if it needs no name."""
        target = edge["go"]
        node = self.table["nodes"][target]
        word = node["result"]
        is_named = target != next(free for free in _free(f"{name}/{word.upper()}") if free not in self._taken)
        if is_named and (edge["says"] or target in self._taken):
            return ""
        self._taken.add(target)
        self._said.add(target)
        self.used.add(word)
        shown = [literal(node["message"])] if node["message"] else []
        if is_named:
            shown.append(f"to={literal(target)}")
        elif edge["says"] != word.upper():
            shown.append(f"says={literal(edge['says'])}")
        more = {"when": edge.get("if"), "do": do, "placeholders": node.get("placeholders")}
        shown += [f"{key}={literal(value)}" for key, value in more.items() if value]
        return f"{word}({', '.join(shown)})"

    def _call(self, word: str, head: list[str], settings: list[str]) -> list[str]:
        self.used.add(word)
        return call_lines(word, head, settings)


def _question_of(transitions: list[str]) -> str:
    """Return the question that a call's transitions imply for the builder."""
    return "yes/no" if any(one.startswith(("on_yes=", "on_no=")) for one in transitions) else "pass/fail"


def call_lines(word: str, head: list[str], settings: list[str]) -> list[str]:
    """Return a call on one line if it fits, or with one line for each setting."""
    whole = f"{INDENT}{word}({', '.join([*head, *settings])})"
    if len(whole) <= WIDEST and "\n" not in whole:
        return [whole]
    inner = [f"{INDENT}{INDENT}{setting}," for setting in settings]
    return [f"{INDENT}{word}({', '.join(head)},", *inner, f"{INDENT})"]


def settings_of(values: Table) -> list[str]:
    """Return the settings of a call as strings."""
    return [
        f"{key}={prose(value) if isinstance(value, str) else laid_out(value, 8, len(key))}"
        for key, value in values.items()
    ]


def _named(texts: Table) -> Table | list[str]:
    """Return a program's variables with their initial values, or only their names if no value is set."""
    return texts if any(value is not None for value in texts.values()) else list(texts)


def _is_kept(effect: list[Any]) -> bool:
    """Return whether an effect keeps an answer or one of its fields."""
    match effect:
        case [_, "keep", ["answer", *_] | ["field", str(), *_]]:
            return True
        case _:
            return False


def _kept(effect: list[Any]) -> str | list[str]:
    """Return the variable that keeps an answer, with the field if only that is kept, and the expected answers."""
    slot, _, what = effect
    return slot if what == ["answer"] else [slot, *what[1:]]


def _times(name: str, edge: Table) -> int:
    """Return how often an edge retries its step, or 0 for another edge."""
    counter = f"{name} retries"
    tests = edge.get("if", [])
    if edge["go"] != name or edge.get("do") != [[counter, "+", 1]] or len(tests) != 1:
        return 0
    register, operator, times = tests[0]
    return times if (register, operator) == (counter, "<") else 0


def _free(name: str) -> Iterator[str]:
    """Yield names for further ends of a step."""
    yield name
    number = 2
    while True:
        yield f"{name}~{number}"
        number += 1
