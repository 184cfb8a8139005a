"""Build an agent's prompt: the system text, the outputs of earlier steps, and the step's own text (P16).

Each prompt includes everything above the previous one. So each output is stored once, in a context that follows the
context with all earlier outputs (I31).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from msgspec import Struct
from msgspec.structs import replace

from compiler.frontends.playbook.nodes import StepNode
from compiler.frontends.playbook.placeholders import with_references
from compiler.frontends.playbook.syntax import Output
from compiler.ir.program import Context
from compiler.ir.texts import Part, Reference, Text, joined

PARAGRAPH = "\n\n"


def own_prompt(node: StepNode, names: Collection[str]) -> Text:
    """Return the prompt of a step's agent without its context; `names` are the slots that text can refer to."""
    own = _own_paragraphs(node, names)
    parts: list[Part] = [_fetched(node, is_last=not own)] if node.gets_prompt else []
    for place, paragraph in enumerate(own):
        parts += [*((PARAGRAPH,) if place else ()), *paragraph]
    return joined(parts)


def _own_paragraphs(node: StepNode, names: Collection[str]) -> list[tuple[Part, ...]]:
    """Return a step's paragraphs: text from a variable or file, its content, and a description of its output."""
    guidance = closing_line(node.output) if node.output else ""
    name = node.prompt_variable
    given: list[tuple[Part, ...]] = [(_of_variable(name),)] if name else []
    written = [with_references(item, names).parts for item in (node.file_text, node.step.content) if item]
    return [*given, *written, *(((guidance,),) if guidance else ())]


def _of_variable(name: str) -> Reference:
    """Return the reference to a variable, which always has a value because the step fails without one (P12)."""
    written = f"{{{{{name}}}}}"
    return Reference(name, written, missing=written)


def _fetched(node: StepNode, *, is_last: bool) -> Reference:
    """Return the reference to a prompt that the step fetched, empty if it got none (P12)."""
    prompt = node.step.prompt
    written = f"@prompt({prompt.scheme}:{prompt.id})" if prompt else ""
    return Reference(prompt_slot(node), written, after="" if is_last else PARAGRAPH)


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
        """Return the name of the context with the system text, or "" if there is none."""
        if not self._system:
            return ""
        if not self._taken["system"]:
            text = joined([*self._system.parts, PARAGRAPH])
            self.made.append(Context(self._free("system"), text))
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
