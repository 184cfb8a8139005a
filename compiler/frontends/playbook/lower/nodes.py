"""Turn steps, sub-steps and unnamed branches into nodes with ids."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator

from msgspec import Struct
from msgspec.structs import replace

from compiler.frontends.playbook.syntax import Branch, Output, Playbook, Step, every_step
from compiler.ir.program import Context
from compiler.ir.texts import Part, Reference, Text, joined
from compiler.text.regex import Regex


class StepNode(Struct, frozen=True):
    """A step, a sub-step, or the unnamed step of a branch.

    `id` is the id of its node, and of its group if it branches. `title` is the title of the surrounding step if it is
    unnamed. `group` is the branching step that it is or is in, or "". `file_text` is the text of its `@prompt(file:…)`.
    """

    id: str
    step: Step
    title: str
    group: str = ""
    file_text: str = ""

    @property
    def calls_tool(self) -> bool:
        """Whether it calls a tool, which overrides `@elicit` and `@prompt` (P13)."""
        return self.step.tool is not None

    @property
    def asks(self) -> bool:
        """Whether it asks a person a question."""
        return self.step.elicit is not None and not self.calls_tool

    @property
    def gets_prompt(self) -> bool:
        """Whether a command gives it the text of a prompt when it runs."""
        prompt = self.step.prompt
        return prompt is not None and prompt.scheme in _FETCHED and not self.calls_tool

    @property
    def prompt_variable(self) -> str:
        """The name in `@prompt({{name}})`, whose value comes before the step's own text, or ""."""
        prompt = self.step.prompt
        if prompt is None or prompt.scheme != "variable" or self.calls_tool:
            return ""
        return prompt.id.strip("{} ").partition(":")[0]

    @property
    def calls_agent(self) -> bool:
        """Whether it has or gets text for an agent (P17)."""
        return not self.calls_tool and bool(
            self.step.content or self.file_text or self.gets_prompt or self.prompt_variable
        )

    @property
    def has_output(self) -> bool:
        """Whether it can have an output: an answer, a result or a reply (P10)."""
        return self.calls_tool or self.calls_agent or self.asks

    @property
    def output(self) -> Output | None:
        """The name of its output, or None."""
        return self.step.output if self.has_output else None

    @property
    def slot(self) -> str:
        """The slot of its whole output."""
        return f"output {self.id}"


_FETCHED = frozenset({"library", "mcp"})


class Arm(Struct, frozen=True):
    """A branch of a step with its nodes."""

    syntax: Branch
    nodes: tuple[StepNode, ...]


class Arranged(Struct, frozen=True):
    """A step of the document with its branches."""

    node: StepNode
    arms: tuple[Arm, ...] = ()

    @property
    def route(self) -> str:
        """The id of the node that chooses a branch: the step's id, unless the step also has a call."""
        return f"{self.node.id}/route" if self.node.has_output else self.node.id


def arrange(playbook: Playbook, file_texts: dict[str, str]) -> tuple[Arranged, ...]:
    """Return the steps of a playbook with ids; `file_texts` are the texts of prompt files by path."""
    seen: Counter[str] = Counter()

    def node(step: Step, name: str, title: str, group: str = "") -> StepNode:
        seen[name] += 1
        number = seen[name]
        own = f"{name}~{number}" if number > 1 else name
        prompt = step.prompt
        text = file_texts.get(prompt.id, "") if prompt is not None and prompt.scheme == "file" else ""
        return StepNode(own, step, title, group, text)

    found: list[Arranged] = []
    for step in playbook.steps:
        outer = node(step, step.label, step.title)
        if not step.branches:
            found.append(Arranged(outer))
            continue
        outer = replace(outer, group=outer.id)
        arms: list[Arm] = []
        for place, branch in enumerate(step.branches):
            named = (
                (item, item.label or f"{outer.id}/{_marker(place, branch)}", item.title or step.title)
                for item in branch.steps
            )
            arms.append(Arm(branch, tuple(node(item, name, title, outer.id) for item, name, title in named)))
        found.append(Arranged(outer, tuple(arms)))
    return tuple(found)


def _marker(place: int, branch: Branch) -> str:
    """Return a branch marker's name in ids: `if`, `elif1`, `else`."""
    if branch.condition is None:
        return "else"
    return f"elif{place}" if place else "if"


PARAGRAPH = "\n\n"


def own_prompt(node: StepNode, names: Collection[str]) -> Text:
    """Return the prompt of a step's agent without its context; `names` are the slots that text can refer to.

    Its paragraphs are text from a command, a variable or a file, the step's content, and a description of its output.
    """
    guidance = closing_line(node.output) if node.output else ""
    name, shown = node.prompt_variable, f"{{{{{node.prompt_variable}}}}}"  # the step fails without a value
    variable: list[tuple[Part, ...]] = [(Reference(name, shown, missing=shown),)] if name else []
    written = [with_references(item, names).parts for item in (node.file_text, node.step.content) if item]
    own = [*variable, *written, *(((guidance,),) if guidance else ())]
    parts: list[Part] = []
    if node.gets_prompt and (prompt := node.step.prompt):
        # The reference to the prompt that the step fetched is empty if it got none.
        shown = f"@prompt({prompt.scheme}:{prompt.id})"
        parts.append(Reference(prompt_slot(node), shown, after=PARAGRAPH if own else ""))
    for place, paragraph in enumerate(own):
        parts += [*((PARAGRAPH,) if place else ()), *paragraph]
    return joined(parts)


def prompt_slot(node: StepNode) -> str:
    """Return the slot of the step's fetched prompt."""
    return f"prompt {node.id}"


class Link(Struct, frozen=True):
    """The last output that a step knows, or a field extracted from it, and the outputs before it."""

    node: StepNode
    is_field: bool
    before: Link | None

    def reference(self) -> Reference:
        """Return the reference to the output with its heading; it is empty if the step has no output."""
        node, output = self.node, self.node.output
        if self.is_field and output:
            return Reference(output.name, before=f"## {output.name}{PARAGRAPH}", after=PARAGRAPH)
        name = f" ({output.name})" if output else ""
        heading = f"## Output of step {node.id}: {node.title}{name}{PARAGRAPH}"
        return Reference(node.slot, before=heading, after=PARAGRAPH)


class Contexts:
    """The contexts of a playbook's prompts, created on demand."""

    def __init__(self, system: Text) -> None:
        self.made: list[Context] = []
        self._system = system
        self._names: dict[int, str] = {}
        self._links: list[Link] = []  # keeps objects alive, because `_names` uses their ids
        self._taken: Counter[str] = Counter()
        self._extracted: set[str] = set()

    def after(self, known: Link | None, node: StepNode) -> Link | None:
        """Return the outputs known after a step; an extracted field follows the last output that it comes from."""
        if not node.has_output:
            return known
        output = node.output
        if not (output and output.extract):
            return Link(node, is_field=False, before=known)
        if output.name in self._extracted:
            known = self._without(known, output.name)
        self._extracted.add(output.name)
        return Link(node, is_field=True, before=Link(node, is_field=False, before=known))

    def _without(self, known: Link | None, name: str) -> Link | None:
        """Return the outputs without the field of this name; outputs before it stay and get a context."""
        later: list[Link] = []
        link = known
        while link and not (link.is_field and link.node.output and link.node.output.name == name):
            later.append(link)
            link = link.before
        if link is None:
            return known
        found = link.before
        self.name(found)
        for item in reversed(later):
            found = replace(item, before=found)
        return found

    def name(self, known: Link | None) -> str:
        """Return the name of the context with all known outputs, or "" if there are none."""
        parts: list[Reference] = []
        link = known
        while link and id(link) not in self._names:
            parts.append(link.reference())
            link = link.before
        after = self._names[id(link)] if link else self._of_system()
        if known is None or not parts:
            return after
        found = self._free(f"up to {known.node.id}")
        self.made.append(Context(found, joined([*reversed(parts)]), after))
        self._names[id(known)] = found
        self._links.append(known)
        return found

    def _of_system(self) -> str:
        if not self._system:
            return ""
        if not self._taken["system"]:
            self.made.append(Context(self._free("system"), joined([*self._system.parts, PARAGRAPH])))
        return "system"

    def _free(self, name: str) -> str:
        self._taken[name] += 1
        return name if self._taken[name] == 1 else f"{name} ({self._taken[name]})"  # no step has such a name


_KINDS = {
    "string": "one line of text",
    "text": "text",
    "number": "a number",
    "boolean": "true or false",
    "json": "JSON",
}
_INSIDE = {**_KINDS, "string": "a short string", "boolean": "`true` or `false`", "json": "a JSON value"}


def closing_line(output: Output) -> str:
    """Return the request for an answer of a given type or options; the answer is not checked (P10)."""
    if not (output.type or output.options):
        return ""
    if output.extract:
        return f'Answer with a JSON object whose field "{output.extract}" is {_what(output, _INSIDE)}.'
    return f"Answer with {_what(output, _KINDS)} and nothing else."


def _what(output: Output, kinds: dict[str, str]) -> str:
    if output.options:
        return "one of " + ", ".join(f'"{option}"' for option in output.options)
    return kinds.get(output.type.lower(), f"a value of type {output.type}")


PLACEHOLDER = Regex(r"\{\{([A-Za-z_][A-Za-z0-9_]*)(?::([^{}]*))?\}\}")
"""Matches a placeholder; a number is not a name, so `{{1}}` is text."""

_STRING = Regex(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_FIELD = Regex(r"\s*:")


def with_references(written: str, names: Collection[str]) -> Text:
    """Return text with references for placeholders of these `names`; others get their default, or stay as text."""
    return joined(list(_parts(written, names)))


def _parts(written: str, names: Collection[str]) -> Iterator[Part]:
    end = 0
    for found in PLACEHOLDER.finditer(written):
        yield written[end : found.start()]
        name, rest = found[1], found[2] or ""
        _, has_default, default = rest.partition(":")
        missing = default if has_default else found[0]
        yield Reference(name, found[0], missing) if name in names or has_default else missing
        end = found.end()
    yield written[end:]


def names_of(playbook: Playbook) -> frozenset[str]:
    """Return the names that placeholders can use: inputs, named outputs and replies."""
    return frozenset({item.name for item in playbook.inputs}.union(*map(given, every_step(playbook))))


def given(step: Step) -> set[str]:
    """Return the names that a step gives to later steps: its output and its reply."""
    return ({step.output.name} if step.output else set()) | ({reply_slot(step)} if step.elicit else set())


def reply_slot(step: Step) -> str:
    """Return the slot of a step's reply."""
    return f"__elicit_step_{step.number}"


def arguments_with_references(written: str, names: Collection[str]) -> Text:
    """Return a tool's JSON arguments with references in its strings, but not in its field names."""
    parts: list[Part] = []
    end = 0
    for found in _STRING.finditer(written):
        parts.append(written[end : found.start()])
        end = found.end()
        is_field = _FIELD.match(written, end) is not None
        parts += [found[0]] if is_field or "{" not in found[0] else _string(json.loads(found[0]), names)
    return joined([*parts, written[end:]])


def _string(value: str, names: Collection[str]) -> list[Part]:
    inside = with_references(value, names).parts
    return ['"', *(_escaped(part) if isinstance(part, str) else part for part in inside), '"']


def _escaped(text: str) -> str:
    """Return text escaped for a JSON string; an unpaired surrogate stays an escape."""
    is_whole = not any("\ud800" <= character <= "\udfff" for character in text)
    return json.dumps(text, ensure_ascii=not is_whole)[1:-1]
