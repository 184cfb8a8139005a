"""The path of a playbook by its rules (P9 to P17): what each agent, tool and person is given, and how the run ends.

Written from the rules, with no look at the front end: names are looked up when a step runs, outputs are a list.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from compiler.ir.serialize import to_json
from tests.differential.case import Call, Case, Json, Question, Trace, Visit, compiled
from tests.differential.generate.playbook import Drawn, Name, Output, Place, Row, Step, document, places, row
from tests.differential.oracles.answers import WHITE, answer_of, extracted

PARAGRAPH = "\n\n"


class StoppedError(Exception):
    """The run has failed, with this message."""


@dataclass
class _Run:
    drawn: Drawn
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
            return self.fill(self.drawn.book.files[prompt.id])
        if prompt.scheme == "variable":
            given = self.values.get(prompt.id, "")
            if not given:
                raise StoppedError(f"Step {place.id}: {{{{{prompt.id}}}}} has no value, so there is no prompt")
            return given
        return self.tool(f"{place.id}/prompt", prompt.scheme, "prompt", {"id": prompt.id}, is_needed=False)

    # --- Calls and questions ------------------------------------------------------------------------------------------

    def agent(self, place: Place, own: list[str]) -> str:
        system = self.fill(self.drawn.book.system)
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
        given_text = f'{{"tool": {json.dumps(tool)}, "arguments": {json.dumps(given, ensure_ascii=False)}}}'
        return self.call(step, connection, given_text, is_needed=is_needed, may_be_empty=True)

    def call(
        self, step: str, callee: str, given: str, *, is_needed: bool = True, may_be_empty: bool = False
    ) -> str | None:
        """What an agent or tool answers; where that is nothing, and the step needs it, the run has failed (P18)."""
        answer = answer_of(self.drawn.replies.get(step, ANYTHING), may_be_empty=may_be_empty)
        word = "fail" if answer is None else "pass"
        self.visits.append(
            Visit(step, 1, (Call(step, 1, given, callee=callee),), None, word, answer or "", {}, {}, settles=())
        )
        if answer is None and is_needed:
            raise StoppedError("")
        return answer

    def ask(self, place: Place, step: str) -> str:
        elicit = place.step.elicit
        assert elicit
        reply = self.drawn.replies.get(step, {"reply": ""})["reply"]
        options = tuple(map(self.fill, elicit.options))
        word = "pass"
        if elicit.kind == "confirm":
            reply = word = "yes" if reply else "no"
        if elicit.kind == "select":
            place_of = options.index(options[int(reply or 0) % len(options)])
            reply, word = options[place_of], row(elicit.options[place_of])
        question = Question(self.fill(elicit.question), str(reply), None, options)
        stored = str(reply).strip(WHITE) if elicit.kind == "input" else str(reply)
        self.visits.append(Visit(step, 1, (), question, word, stored, {}, {}, settles=()))
        return stored

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


def walk(drawn: Drawn) -> Trace:
    """The path of a playbook; its last output becomes the artifact (P22)."""
    every = places(drawn.book)
    run = _Run(drawn, every)
    for declared in drawn.book.inputs:
        value = drawn.inputs.get(declared.name, declared.default)
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
        return Trace(tuple(run.visits), ("STOP", str(stopped)))
    return Trace(tuple(run.visits), ("COMPLETE", ""), artifact=(run.last,) if drawn.book.artifact else ())


def case_of(drawn: Drawn) -> Case:
    """The program that rdc makes of a playbook, with what is given and replied, and the path by the rules."""
    files = {path: row(text) for path, text in drawn.book.files.items()}
    documents = {"program.playbook.md": document(drawn.book), **files}
    steps = [name for place in places(drawn.book) for name in (place.id, f"{place.id}/elicit", f"{place.id}/prompt")]
    replies: dict[str, list[Json]] = {step: [drawn.replies.get(step, ANYTHING)] for step in steps}
    program = json.loads(to_json(compiled(documents)))
    return Case(program, drawn.inputs, replies, walk(drawn), documents=documents)
