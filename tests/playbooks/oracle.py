"""The path of a playbook by its rules (P9 to P17): what each agent, tool and person is given, and how the run ends.

Written from the rules, with no look at the front end: names are looked up when a step runs, outputs are a list.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.playbooks.model import Book, Name, Output, Row, Step, Told
from tests.playbooks.render import row
from tests.programs.cases import Call, Json, Question, Trace, Visit
from tests.programs.filling import WHITE
from tests.programs.reading import answer_of
from tests.programs.values import extracted

PARAGRAPH = "\n\n"


class StoppedError(Exception):
    """The run has failed, with this message."""


@dataclass(frozen=True)
class Place:
    """A step under its id, with the title that it goes by, the step around it and the branch in that."""

    id: str
    step: Step
    title: str
    number: str
    outer: str
    branch: int | None


def places(book: Book) -> list[Place]:
    """All steps in document order, under the ids that people call them by."""
    seen: Counter[str] = Counter()
    found: list[Place] = []

    def unique(label: str) -> str:
        seen[label] += 1
        return label if seen[label] == 1 else f"{label}~{seen[label]}"

    for step in book.steps:
        own = unique(step.label)
        found.append(Place(own, step, step.title, step.number, own, None))
        for number, branch in enumerate(step.branches):
            word = "else" if branch.condition is None else f"elif{number}" if number else "if"
            for inner in branch.steps:
                name = unique(inner.label or f"{own}/{word}")
                found.append(Place(name, inner, inner.title or step.title, step.number, own, number))
    return found


@dataclass
class _Run:
    told: Told
    places: list[Place]
    values: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    last: str | None = None
    visits: list[Visit] = field(default_factory=list)

    # --- Texts (P9) ---------------------------------------------------------------------------------------------------

    def fill(self, text: Row) -> str:
        return "".join(part if isinstance(part, str) else self.value(part) for part in text)

    def value(self, name: Name) -> str:
        if name.name in self.values:
            return self.values[name.name]
        return str(name) if name.default is None else name.default

    # --- Steps in order (P16, P17) ------------------------------------------------------------------------------------

    def step(self, place: Place) -> None:
        step = place.step
        if step.tool:
            given = {name: self.fill(value) for name, value in step.tool.arguments or ()}
            self.put_out(place, self.tool(place.id, step.tool.connection, step.tool.tool, given) or "")
            return
        asks_only = not (step.content or (step.prompt and self.could_prompt(place)))
        if step.elicit:
            reply = self.ask(place, place.id if asks_only else f"{place.id}/elicit")
            self.values[f"__elicit_step_{place.number}"] = reply
            if asks_only:
                self.put_out(place, reply)
        if asks_only:
            return
        fetched = self.prompt(place)
        own = [*([] if fetched is None else [fetched]), *([self.fill(step.content)] if step.content else [])]
        if own:
            self.put_out(place, self.agent(place, own))

    def put_out(self, place: Place, answer: str) -> None:
        self.outputs[place.id] = self.last = answer
        output = place.step.output
        if output:
            self.values[output.name] = extracted(answer, output.extract) if output.extract else answer

    # --- Prompts (P12) ------------------------------------------------------------------------------------------------

    def could_prompt(self, place: Place) -> bool:
        prompt = place.step.prompt
        return prompt is not None and prompt.scheme in ("file", "library", "mcp", "variable")

    def prompt(self, place: Place) -> str | None:
        """The text of a prompt reference; None where there is none, or nothing came of it."""
        prompt = place.step.prompt
        if prompt is None or not self.could_prompt(place):
            return None
        if prompt.scheme == "file":
            return self.fill(self.told.book.files[prompt.id])
        if prompt.scheme == "variable":
            given = self.values.get(prompt.id, "")
            if not given:
                raise StoppedError(f"Step {place.id}: {{{{{prompt.id}}}}} has no value, so there is no prompt")
            return given
        return self.tool(f"{place.id}/prompt", prompt.scheme, "prompt", {"id": prompt.id}, is_needed=False)

    # --- Calls and questions ------------------------------------------------------------------------------------------

    def agent(self, place: Place, own: list[str]) -> str:
        system = self.fill(self.told.book.system)
        closing = guidance(place.step.output)
        parts = [*([system] if system else []), *self.context(place), *own, *([closing] if closing else [])]
        return self.call(place.id, "", PARAGRAPH.join(parts)) or ""

    def context(self, place: Place) -> Iterator[str]:
        """What the steps before have put out, and what was extracted of it (P16)."""
        before = self.places[: self.places.index(place)]
        before = [
            item for item in before if item.branch is None or item.outer != place.outer or item.branch == place.branch
        ]
        givers = [item for item in before if can_put_out(item.step)]
        last = {item.step.output.name: item for item in givers if item.step.output and item.step.output.extract}
        for item in givers:
            output = item.step.output
            if item.id in self.outputs:
                name = f" ({output.name})" if output else ""
                yield f"## Output of step {item.id}: {item.title}{name}{PARAGRAPH}{self.outputs[item.id]}"
            if output and last.get(output.name) is item and output.name in self.values:
                yield f"## {output.name}{PARAGRAPH}{self.values[output.name]}"

    def tool(self, step: str, connection: str, tool: str, given: Json, *, is_needed: bool = True) -> str | None:
        said = f'{{"tool": {json.dumps(tool)}, "arguments": {json.dumps(given, ensure_ascii=False)}}}'
        return self.call(step, connection, said, is_needed=is_needed, may_be_empty=True)

    def call(
        self, step: str, callee: str, given: str, *, is_needed: bool = True, may_be_empty: bool = False
    ) -> str | None:
        """What an agent or tool answers; where that is nothing, and the step needs it, the run has failed (P18)."""
        answer = answer_of(self.told.replies.get(step, ANYTHING), may_be_empty=may_be_empty)
        word = "fail" if answer is None else "pass"
        self.visits.append(Visit(step, 1, (Call(step, 1, given, callee=callee),), None, word, answer or "", {}, {}))
        if answer is None and is_needed:
            raise StoppedError("")
        return answer

    def ask(self, place: Place, step: str) -> str:
        elicit = place.step.elicit
        assert elicit
        reply = self.told.replies.get(step, {"reply": ""})["reply"]
        options = tuple(map(self.fill, elicit.options))
        word = "pass"
        if elicit.kind == "confirm":
            reply = word = "yes" if reply else "no"
        if elicit.kind == "select":
            place_of = options.index(options[int(reply or 0) % len(options)])
            reply, word = options[place_of], row(elicit.options[place_of])
        question = Question(self.fill(elicit.question), str(reply), None, options)
        kept = str(reply).strip(WHITE) if elicit.kind == "input" else str(reply)
        self.visits.append(Visit(step, 1, (), question, word, kept, {}, {}))
        return kept

    # --- Branches (P14) -----------------------------------------------------------------------------------------------

    def chosen(self, step: Step) -> int | None:
        for number, branch in enumerate(step.branches):
            if branch.condition is None:
                return number
            name, operator, text = branch.condition
            if (self.values.get(name, "") == text) == (operator == "=="):
                return number
        return None


ANYTHING: Json = {"exit": 0, "answer": "something"}


def can_put_out(step: Step) -> bool:
    """Whether an output may come of a step."""
    return bool(step.tool or step.elicit or step.content or (step.prompt and step.prompt.scheme != "http"))


def guidance(output: Output | None) -> str:
    """The closing line of a prompt (P10)."""
    if output is None or not (output.type or output.options):
        return ""
    kinds = {"string": "one line of text", "number": "a number", "boolean": "true or false", "json": "JSON"}
    if output.extract:
        kinds = {
            "string": "a short string",
            "number": "a number",
            "boolean": "`true` or `false`",
            "json": "a JSON value",
        }
    what = kinds.get(output.type, f"a value of type {output.type}")
    if output.options:
        what = "one of " + ", ".join(f'"{option}"' for option in output.options)
    if output.extract:
        return f'Answer with a JSON object whose field "{output.extract}" is {what}.'
    return f"Answer with {what} and nothing else."


@dataclass(frozen=True)
class Taken:
    """The path of a playbook, and its last output, which becomes the artifact."""

    trace: Trace
    last: str | None


def walk(told: Told) -> Taken:
    """What a run does."""
    every = places(told.book)
    run = _Run(told, every)
    for declared in told.book.inputs:
        value = told.inputs.get(declared.name, declared.default)
        if value is not None:
            run.values[declared.name] = value
    try:
        for place in every:
            if place.branch is not None:
                continue
            run.step(place)
            chosen = run.chosen(place.step)
            for inner in every:
                if inner.outer == place.id and inner.branch is not None and inner.branch == chosen:
                    run.step(inner)
    except StoppedError as stopped:
        return Taken(Trace(tuple(run.visits), ("STOP", str(stopped))), None)
    return Taken(Trace(tuple(run.visits), ("COMPLETE", "")), run.last)
