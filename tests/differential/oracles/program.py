"""An interpreter of programs in JSON, made from docs/reference/program-rules.md without the compiler's code."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tests.differential.case import NOWHERE, Call, Case, Json, Question, Trace, Visit
from tests.differential.oracles.answers import (
    WHITE,
    MalformedError,
    answer_of,
    extracted,
    filled,
    fits,
    in_json,
    joined,
    passed,
    undone,
    values_of,
    word_of,
    written,
)

SLOT = "where reports lie"


BEFORE_FOLDER, AFTER_FOLDER = "<folder ", " folder>"


PLACE = "/…/reports"
"""What stands for the folder in what is compared."""


MOST = 60
"""Visits after which a path is cut off."""


class Came(NamedTuple):
    """What came of a task."""

    word: str
    text: str = ""
    values: dict[str, str] = {}  # noqa: RUF012 (nobody changes it)
    calls: tuple[Call, ...] = ()
    question: Question | None = None


def path_of(case: Case) -> Trace:
    """The path of a case, by the oracle of its format if that has one."""
    return case.trace or walk(case)


def walk(case: Case, most: int = MOST) -> Trace:
    run = Run(case)
    visits: list[Visit] = []
    for visit in run.visits():
        if len(visits) == most:
            return Trace(tuple(visits), None)
        visits.append(visit)
    return Trace(tuple(visits), run.end, run.held)


@dataclass
class Run:
    """A run under way. `held` has what all registers hold, None for an unset slot."""

    case: Case
    held: dict[str, int | str | None] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    done: int = 0
    settled: list[tuple[str, str]] = field(default_factory=list)
    end: tuple[str, str] | None = None

    def visits(self) -> Iterator[Visit]:
        self.held = initial(self.case)
        nodes = {node["id"]: node for node in self.case.program["nodes"]}
        node = self._passed(nodes, self.case.program["entry"])
        while self.end is None:
            task = node["task"]
            if task["kind"] == "end":
                self.end = (task["result"].upper(), filled(task.get("message", ""), self.held))
            elif task["kind"] != "gate" and self.done == self.case.program.get("limit"):
                self.end = ("STOP", f"{node['id']}: the limit of {self.done} steps was reached")
            else:
                self.done += task["kind"] != "gate"
                came = self._do(node)
                visit = Visit(node["id"], self._attempt(node), came.calls, came.question, *came[:3], dict(self.held))
                self.settled = []
                node = self._passed(nodes, self._leave(node, came))
                yield replace(visit, settles=tuple(self.settled))

    def _passed(self, nodes: dict[str, Json], name: str) -> Json:
        """The node where a run stops on its way from one: a task, or the end."""
        node = nodes[name]
        while node["task"]["kind"] in {"branch", "end"} and node["edges"]:
            node = nodes[self._leave(node, Came(""))]
        return node

    def _attempt(self, node: Json) -> int:
        counted = self.held[node["retries"]] if node.get("retries") else 0
        assert isinstance(counted, int)
        return counted + 1

    def _leave(self, node: Json, came: Came) -> str:
        """Take the first edge that holds; what it asks for is as it was before its effects (I20)."""
        edge = next(edge for edge in node["edges"] if all(self._holds(test, came) for test in edge["guard"]))
        for effect in edge["effects"]:
            self._apply(effect, came)
        self.settled += [(item["step"], item["word"]) for item in edge.get("settles", ())]
        return str(edge["target"])

    def _holds(self, test: Json, came: Came) -> bool:
        if test["kind"] == "outcome":
            return bool(came.word == test["word"])
        if test["kind"] == "slot":
            value = self.held[test["slot"]]
            return bool((test["operator"] == "!=") != (("" if value is None else value) == test["text"]))
        number: Any = self.held[test["register"]]
        compared = {"<": number < test["value"], ">=": number >= test["value"], "=": number == test["value"]}
        return bool(compared[test["operator"]])

    def _apply(self, effect: Json, came: Came) -> None:
        held: Any = self.held
        kind, register = effect["kind"], effect.get("register")
        if kind == "set":
            held[register] = effect["value"]
        elif kind == "add":
            amount = effect["amount"]
            held[register] += held[amount] if isinstance(amount, str) else amount
        elif kind == "at_least":
            held[register] = max(held[register], effect["value"])
        elif kind == "clear":
            held[effect["slot"]] = None
        elif kind == "keep":
            self._keep(effect, came)
        else:
            assert kind == "reset"
            for counter in self.case.program.get("registers", []):
                if f"{counter['scope']}/".startswith(f"{effect['scope']}/"):
                    held[counter["name"]] = counter.get("initial", 0)

    def _keep(self, effect: Json, came: Came) -> None:
        text = came.text
        if effect.get("of", "answer") == "output":
            if effect["name"] not in came.values:
                return
            text = came.values[effect["name"]]
        name = effect.get("extract")
        self.held[effect["slot"]] = text if name is None else extracted(text, name)

    # --- Tasks --------------------------------------------------------------------------------------------------------

    def _do(self, node: Json) -> Came:
        """What comes of a task: by its own function, unless a variable does not let it begin (I7)."""
        number = self.calls.get(node["id"], 0)
        self.calls[node["id"]] = number + 1
        reply = self.case.reply(node["id"], number)
        kind = node["task"]["kind"]
        calls = kind in {"shell", "agent", "tool", "parallel"}
        if calls and not all(fits(value) for value in self._variables(node).values()):
            return Came(undone(node["task"]))
        return {
            "shell": self._shell,
            "agent": self._agent,
            "tool": self._tool,
            "parallel": self._parallel,
            "ask": self._ask,
            "gate": self._gate,
        }[kind](node, reply)

    def _variables(self, node: Json) -> dict[str, str]:
        wanted = {item["name"]: self.held[item["register"]] for item in node.get("variables", [])}
        return {name: str(value) for name, value in wanted.items() if value is not None}

    def _call(self, node: Json, given: str = "", **more: Any) -> Call:
        return Call(node["id"], self._attempt(node), given, variables=self._variables(node), **more)

    def _shell(self, node: Json, reply: Json) -> Came:
        effects = [effect for edge in node["edges"] for effect in edge["effects"]]
        names = {effect["name"] for effect in effects if effect["kind"] == "keep" and effect.get("of") == "output"}
        # The scripted command is `… STEP ARGUMENTS`, its arguments are what counters are worth (I7).
        arguments = [filled([part], self.held) for part in node["task"]["command"] if not isinstance(part, str)]
        calls = (self._call(node, arguments=tuple(arguments), keeps=bool(names)),)
        if reply.get("hangs"):
            return Came("fail", calls=calls)
        try:
            values = values_of(reply["output"] or "", names) if names else {}
        except MalformedError:
            return Came("fail", calls=calls)
        return Came("fail" if reply["exit"] else "pass", values=values, calls=calls)

    def _agent(self, node: Json, reply: Json) -> Came:
        task, answer = node["task"], answer_of(reply)
        call = self._call(node, self._prompt(task), callee=task["agent"])
        return Came(word_of(answer, task.get("reading", {})), answer or "", calls=(call,))

    def _prompt(self, agent: Json) -> str:
        """The prompt of an agent below its context, that one below the one that it names, and so on (I31)."""
        contexts = {context["name"]: context for context in self.case.program.get("contexts", [])}
        found, name = filled(agent["prompt"], self.held), agent.get("context", "")
        while name:
            found = filled(contexts[name]["text"], self.held) + found
            name = contexts[name].get("after", "")
        return found

    def _tool(self, node: Json, reply: Json) -> Came:
        task, answer = node["task"], answer_of(reply, may_be_empty=True)
        if task.get("optional") and task["connection"] == NOWHERE:
            return Came("fail")
        arguments = filled(task["arguments"], self.held, in_json)
        call = self._call(
            node, f'{{"tool": "{in_json(task["tool"])}", "arguments": {arguments}}}', callee=task["connection"]
        )
        return Came("fail" if answer is None else "pass", answer or "", calls=(call,))

    def _parallel(self, node: Json, reply: Json) -> Came:
        task = node["task"]
        entries = list(zip(task["entries"], map(answer_of, reply["entries"]), strict=True))
        answers = [answer for _, answer in entries]
        calls = tuple(
            self._call(node, self._prompt(agent), callee=agent["agent"], entry=number)
            for number, (agent, _) in enumerate(entries)
        )
        failing = task.get("failing", [])
        if "failed" in (words := [word_of(answer, agent.get("reading", {}), failing) for agent, answer in entries]):
            word = "failed"
        elif any(agent.get("reading", {}).get("keywords") for agent, _ in entries):
            word = joined(words, task)
        else:
            word = passed(answers, task)
        return Came(word, "\n\n".join(answer for answer in answers if answer is not None), calls=calls)

    def _ask(self, node: Json, given: Json) -> Came:
        task, reply = node["task"], given["reply"]
        options = tuple(filled(option, self.held) for option in task.get("options", []))
        reply_text = _reply_of(task["question"], reply, options)
        if task["question"] == "select":
            word = written(task["options"][options.index(reply_text)])
        elif task["question"] == "value":
            word = "fail" if reply_text.lower() in ("fail", "no") else "pass"
        else:
            word = str({"yes_no": ("fail", "pass")[bool(reply)], "input": "pass"}.get(task["question"], reply_text))
        block = None if task.get("block") is None else filled(task["block"], self.held)
        text = reply_text.strip(WHITE) if task["question"] in ("input", "value") else reply_text
        return Came(word, text, question=Question(filled(task["prompt"], self.held), reply_text, block, options))

    def _gate(self, node: Json, given: Json) -> Came:
        reply = "approved" if given["reply"] else "rejected"
        return Came(reply, question=Question(filled(node["task"].get("reason", ""), self.held), reply))


def _reply_of(question: str, reply: Any, options: tuple[str, ...]) -> str:
    """What the person says: the reply itself, or what a yes or no, or a number, stands for."""
    if question == "select":
        return options[int(reply) % len(options)]
    if question in ("input", "value"):
        return str(reply)
    return (("fail", "pass") if question == "pass_fail" else ("no", "yes"))[bool(reply)]


def initial(case: Case) -> dict[str, int | str | None]:
    """What the registers hold when a run begins (I4, I5, I8)."""
    held: dict[str, int | str | None] = {slot["name"]: slot.get("initial") for slot in case.program.get("slots", [])}
    for counter in case.program.get("registers", []):
        held[counter["name"]] = counter.get("initial", 0)
    for given in case.program.get("inputs", []):
        held[given["name"]] = case.inputs.get(given["name"], given.get("default"))
    if case.program.get("folder"):
        held[case.program["folder"]] = PLACE
    return held


def shown_folder(path: str) -> str:
    """A reference to the folder, filled in."""
    return f"{BEFORE_FOLDER}{path}{AFTER_FOLDER}"


def report_answers(case: Case, trace: Trace) -> dict[str, list[str]]:
    """The answers in each report of a path, an entry for each time (I29)."""
    tasks = {node["id"]: node["task"] for node in case.program["nodes"]}
    found: dict[str, list[str]] = {}
    numbers: dict[str, int] = {}
    for visit in trace.visits:
        number = numbers[visit.step] = numbers.get(visit.step, -1) + 1
        task = tasks[visit.step]
        if "report" not in task or not visit.calls:
            continue
        entries = case.reply(visit.step, number).get("entries", [])
        texts = {f"{visit.step}_{index}": answer_of(entry) or "" for index, entry in enumerate(entries)}
        for name, text in {**texts, task["report"]: visit.text}.items():
            if text:
                found.setdefault(name, []).append(text)
    return found
