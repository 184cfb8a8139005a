"""Random playbooks, with what is given to a run and what comes of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.differential.case import Json
from tests.differential.generate import Chance
from tests.support.hostile_texts import LINES, NASTY, OBJECTS


@dataclass(frozen=True)
class Name:
    """A placeholder, with a type and a default if it has these (P9)."""

    name: str
    type: str | None = None
    default: str | None = None

    def __str__(self) -> str:
        """As it stands in the document."""
        return "{{" + ":".join(part for part in (self.name, self.type, self.default) if part is not None) + "}}"


Row = tuple[str | Name, ...]


@dataclass(frozen=True)
class Input:
    name: str
    type: str = "text"
    default: str | None = None
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Output:
    name: str
    type: str = ""
    options: tuple[str, ...] = ()
    extract: str = ""


@dataclass(frozen=True)
class Elicit:
    kind: str
    question: Row
    options: tuple[Row, ...] = ()


@dataclass(frozen=True)
class Prompt:
    """`scheme` is file, library, mcp, variable, or one that nobody knows."""

    scheme: str
    id: str


@dataclass(frozen=True)
class Tool:
    """The arguments by their names, None for none at all."""

    connection: str
    tool: str
    arguments: tuple[tuple[str, Row], ...] | None = None


@dataclass(frozen=True)
class Branch:
    """`condition` is a name, an operator and a text; None for else."""

    condition: tuple[str, str, str] | None
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Step:
    """`label` is "" for the unnamed step of a branch."""

    label: str
    title: str = ""
    content: Row = ()
    output: Output | None = None
    elicit: Elicit | None = None
    prompt: Prompt | None = None
    tool: Tool | None = None
    branches: tuple[Branch, ...] = ()

    @property
    def number(self) -> str:
        return self.label.rstrip("abcdefgh")


@dataclass(frozen=True)
class Book:
    steps: tuple[Step, ...]
    inputs: tuple[Input, ...] = ()
    system: Row = ()
    artifact: str = ""
    files: Mapping[str, Row] = field(default_factory=dict)

    @property
    def every_step(self) -> Iterator[Step]:
        for step in self.steps:
            yield step
            for branch in step.branches:
                yield from branch.steps


@dataclass(frozen=True)
class Drawn:
    """A playbook with what is given to a run of it, and what comes of each call and question, by step.

    A call has `{"exit": 0, "answer": "printed"}`, a question by `{"reply": …}`: true or false, a number for a
    select, a text for an input. What is not there is an answer of nobody in particular.
    """

    book: Book
    inputs: Mapping[str, str] = field(default_factory=dict)
    replies: Mapping[str, Json] = field(default_factory=dict)


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


# --- The document -----------------------------------------------------------------------------------------------------

FENCE = "```"


def document(book: Book) -> str:
    return "\n".join(_lines(book)) + "\n"


def row(text: Row) -> str:
    return "".join(map(str, text))


def _lines(book: Book) -> Iterator[str]:
    yield from ("# Any title", "")
    if book.system:
        yield from ("## SYSTEM", "", row(book.system), "")
    if book.inputs:
        yield from ("## INPUTS", "", *map(_input, book.inputs), "")
    for step in book.steps:
        yield from (f"## STEP {step.label}: {step.title}", "")
        yield from _step(step)
    if book.artifact:
        yield from ("## ARTIFACTS", "", f"type: {book.artifact}")


def _input(declared: Input) -> str:
    value = ", ".join(declared.options) if declared.type == "enum" else declared.default
    return f"- `{declared.name}` ({declared.type}{'' if value is None else f': {value}'}): An input"


def _step(step: Step) -> Iterator[str]:
    if step.prompt:
        yield _prompt(step.prompt)
    if step.content:
        yield from ("", row(step.content), "")
    if step.elicit:
        yield _elicit(step.elicit)
    if step.tool:
        yield _tool(step.tool)
    if step.output:
        yield _output(step.output)
    for place, branch in enumerate(step.branches):
        word = "else" if branch.condition is None else ("elif" if place else "if")
        name, operator, text = branch.condition or ("", "", "")
        yield f'{FENCE}{word} {name} {operator} "{text}"{FENCE}' if name else f"{FENCE}else{FENCE}"
        for inner in branch.steps:
            if inner.label:
                yield from ("", f"### STEP {inner.label}: {inner.title}", "")
            yield from _step(inner)
    if step.branches:
        yield from (f"{FENCE}endif{FENCE}", "")


def _output(output: Output) -> str:
    words = [f"{output.name}: {output.type}" if output.type else output.name]
    words += [f'"{option}"' for option in output.options]
    words += [f'extract:"{output.extract}"'] if output.extract else []
    return f"@output({', '.join(words)})"


def _elicit(elicit: Elicit) -> str:
    quoted = [f'"{row(text)}"' for text in (elicit.question, *elicit.options)]
    return f"@elicit({', '.join([elicit.kind, *quoted])})"


def _prompt(prompt: Prompt) -> str:
    return f"@prompt({{{{{prompt.id}}}}})" if prompt.scheme == "variable" else f"@prompt({prompt.scheme}:{prompt.id})"


def _tool(tool: Tool) -> str:
    if tool.arguments is None:
        return f"@tool({tool.connection}, {tool.tool})"
    fields = (f"{json.dumps(name)}: {_string(value)}" for name, value in tool.arguments)
    return f"@tool({tool.connection}, {tool.tool}, {{{', '.join(fields)}}})"


def _string(value: Row) -> str:
    inside = (json.dumps(part, ensure_ascii=False)[1:-1] if isinstance(part, str) else str(part) for part in value)
    return '"' + "".join(inside) + '"'


NAMES = ("topic", "kind", "x_1", "Count", "draft")
WORDS = ("bug", "yes", "no", "two words", "pass", "$(touch x)", "${{ github.token }}")
"""What answers and conditions have in common, so that branches are taken."""

TYPES = ("", "", "", "string", "number", "boolean", "json", "markdown")
EXITS = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)
QUOTED = tuple(line for line in LINES if '"' not in line and line == line.strip())
"""What can stand in double quotes, and as a title."""

SAFE = tuple(line for line in LINES if line == line.rstrip() and not line.startswith("[") and "\x1b" not in line)


class Drawing(Chance):
    """One random playbook after its seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._files: dict[str, Row] = {}

    def drawn(self) -> Drawn:
        inputs = tuple(self._input(name) for name in self._some(NAMES, 0, 3))
        steps = tuple(self._step(str(number)) for number in range(1, self._number(1, 5) + 1))
        if self._rarely(8):
            steps = (*steps, replace(steps[0], branches=()))  # a number that appears twice
        system = self._content() if self._flag() else ()
        artifact = self._pick(("", "", "markdown", "json", "{{kind}}", "unknown"))
        book = Book(steps, inputs, system, artifact, dict(self._files))
        given = {item.name: self._value(item) for item in inputs if item.default is None or self._flag()}
        return Drawn(
            book, given, {step: reply for place in places(book) for step, reply in self._replies(place.id, place.step)}
        )

    def _one(self, some: tuple[str | Name, ...]) -> str | Name:
        return self._pick(some)

    # --- Texts --------------------------------------------------------------------------------------------------------

    def _name(self) -> Name:
        name = self._pick((*NAMES, *NAMES, "nobody", "__elicit_step_1", "__elicit_step_2"))
        kind = self._pick((None, None, None, "string"))
        return Name(name, kind, self._pick((None, "usual", "", "$(x)")) if kind else None)

    def _content(self) -> Row:
        """Several lines that begin and end with a word."""
        parts: list[str | Name] = ["Do it."]
        for _ in range(self._number(0, 4)):
            parts.append(self._pick(("\n", " ", "\n\n")))
            parts.append(self._pick(SAFE) if self._flag() else self._name())
        return (*parts, "\nend") if self._flag() else (*parts, " .")

    def _line(self) -> Row:
        """A line that can stand in double quotes."""
        return tuple(self._one((self._pick(QUOTED), " ", "plain", self._name())) for _ in range(self._number(1, 3)))

    # --- Parts --------------------------------------------------------------------------------------------------------

    def _input(self, name: str) -> Input:
        kind = self._pick(("string", "text", "text", "number", "boolean", "enum"))
        usual = {"number": "7", "boolean": "true"}.get(kind, "usual")
        default = usual if self._flag() and kind != "enum" else None
        return Input(name, kind, default, ("bug", "yes", "two words") if kind == "enum" else ())

    def _value(self, declared: Input) -> str:
        if declared.type == "enum":
            return self._pick(declared.options)
        some: dict[str, Sequence[str]] = {
            "string": (*WORDS, *LINES),
            "text": (*WORDS, *NASTY),
            "number": ("1", "-2.50", "007"),
            "boolean": ("true", "false"),
        }
        return self._pick(some[declared.type])

    def _step(self, label: str, *, is_inner: bool = False) -> Step:
        step = Step(
            label,
            self._pick(QUOTED).strip() if label else "",
            self._content() if not self._rarely(4) else (),
            self._output() if self._flag() else None,
            self._elicit() if self._rarely(4) else None,
            self._prompt() if self._rarely(4) else None,
            self._tool() if self._rarely(6) else None,
        )
        if not label and not (step.content or step.elicit or step.tool):
            step = replace(step, content=("x",))
        return step if is_inner or not self._rarely(2) else replace(step, branches=self._branches(label))

    def _output(self) -> Output:
        kind = self._pick(TYPES)
        options = ("bug", "two words") if self._rarely(4) else ()
        kind = "enum" if options else kind
        return Output(self._pick(NAMES), kind, options, self._pick(("", "", "field", "a")))

    def _elicit(self) -> Elicit:
        kind = self._pick(("input", "confirm", "select"))
        options = tuple(dict.fromkeys(self._line() for _ in range(self._number(1, 3)))) if kind == "select" else ()
        found = {"".join(map(str, option)): option for option in options}
        return Elicit(
            kind,
            self._line(),
            tuple(option for written, option in found.items() if written.strip()) or (("a",),) if options else (),
        )

    def _prompt(self) -> Prompt:
        scheme = self._pick(("file", "library", "mcp", "variable", "http"))
        if scheme == "file":
            path = self._pick(("one.md", "prompts/two.txt"))
            self._files.setdefault(path, self._content())
            return Prompt(scheme, path)
        return Prompt(
            scheme, self._pick(NAMES) if scheme == "variable" else self._pick(("some-id", "a/b", "it's $(x)"))
        )

    def _tool(self) -> Tool:
        names = self._some(("name", "b c", "$(x)"), 0, 2)
        arguments = tuple((name, self._argument()) for name in names) if not self._rarely(3) else None
        return Tool(self._pick(("conn", "other")), self._pick(("read", "get_it")), arguments)

    def _argument(self) -> Row:
        return tuple(self._one((self._pick(NASTY), "plain", self._name())) for _ in range(self._number(1, 2)))

    def _branches(self, label: str) -> tuple[Branch, ...]:
        found: list[Branch] = []
        letters = iter("abcdefgh")
        count = self._number(1, 3)
        for number in range(count):
            is_else = number == count - 1 and number > 0 and self._flag()
            condition = None if is_else else self._condition()
            labels = [label + next(letters) for _ in range(self._pick((0, 1, 1, 2)))]
            steps = tuple(self._step(name, is_inner=True) for name in labels or [""])
            found.append(Branch(condition, steps))
        return tuple(found)

    def _condition(self) -> tuple[str, str, str]:
        name = self._pick((*NAMES, *NAMES, "nobody", "__elicit_step_1"))
        return name, self._pick(("==", "==", "!=")), self._pick((*WORDS, "", "true"))

    # --- What comes of it ---------------------------------------------------------------------------------------------

    def _replies(self, node: str, step: Step) -> list[tuple[str, Json]]:
        found = [(f"{node}/prompt", self._answer()), (node, self._answer())]
        if step.elicit:
            reply = {"confirm": self._flag(), "select": self._number(0, 3)}.get(
                step.elicit.kind, self._pick((*WORDS, *NASTY))
            )
            found += [(f"{node}/elicit", {"reply": reply})]
            is_alone = not (step.tool or step.content or (step.prompt and step.prompt.scheme != "http"))
            found += [(node, {"reply": reply})] if is_alone else []
        return found

    def _answer(self) -> Json:
        pool = self._pick((WORDS, WORDS, NASTY, OBJECTS))
        printed = self._pick(pool)
        if self._rarely(3):
            printed = f"{printed}\n{self._pick(OBJECTS)}\n"
        return {"exit": self._pick(EXITS), "answer": printed + self._pick(("", "\n", " \n"))}


def random_playbook(seed: int) -> Drawn:
    return Drawing(seed).drawn()
