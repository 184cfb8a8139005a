"""Outputs, variables and placeholders of several steps, written only once.

`runtime_shim/values/defaults.py` adds it to each step again.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import permutations
from types import MappingProxyType
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace

from backends.common.marks import Marks, marked
from backends.python.settings import CALLING, Values, places
from compiler.ir.edges import Edge, Keep, output_names, words_of
from compiler.ir.program import Group, Node, Program

_TEXTS = ("prompt", "block", "command", "message", "reason", "arguments", "options", "entries")


class Step(Struct, frozen=True):
    """A node with marks for its references, and what it has in common with others.

    `edges` are without the outputs in `kept`: the first outputs that each transition keeps, or None if they differ.
    `variables` are those with strings, `outputs` those of a command, and `places` the values of its marks.
    """

    original: Node
    node: Node
    edges: tuple[Edge, ...]
    places: Values
    variables: Mapping[str, str] = MappingProxyType({})
    outputs: Sequence[str] = ()
    kept: Sequence[str] | None = ()

    @classmethod
    def of(cls, original: Node, slots: Collection[str]) -> Self:
        """Return the step of a node. An edge that needs two outcomes is never taken."""
        node, marks = marked(original)
        edges = tuple(edge for edge in node.edges if len(edge.guard) < 2 or len(words_of([edge])) < 2)
        found = places(marks, slots) if marks.references else {}
        pairs = node.variables if slots and isinstance(node.task, CALLING) else ()
        variables = {item.name: item.register for item in pairs if item.register in slots}
        outputs = sorted(output_names(node.edges)) if slots and node.task.kind == "shell" else []
        stored = _kept(edges, variables, outputs) if outputs else []
        if stored:
            edges = tuple(replace(edge, effects=edge.effects[len(stored) :]) for edge in edges)
        return cls(original, node, edges, found, variables, outputs, stored)


def _kept(edges: Sequence[Edge], variables: Mapping[str, str], outputs: Sequence[str]) -> list[str] | None:
    firsts = [edge.effects[: len(outputs)] for edge in edges]
    first = firsts[0] if firsts else ()
    stored = [effect.name for effect in first if isinstance(effect, Keep) and effect.of == "output"]
    keeps = tuple(Keep(variables.get(name, name), "output", name) for name in stored)
    return stored if sorted(stored) == outputs and all(each == keeps for each in firsts) else None


class Common(Struct, frozen=True):
    """The settings of all steps.

    `names` are inputs and outputs that all steps see as variables and placeholders, and `values` the outputs of all
    commands. `places` are the marks in several steps with one meaning; `known` also has those of inputs and outputs.
    """

    names: Sequence[str]
    values: Sequence[str]
    places: Values
    known: Values
    inputs: Sequence[str]

    @classmethod
    def of(cls, program: Program, steps: Sequence[Step], groups: Iterable[Values]) -> Self:
        """Return the common settings of steps and groups. `groups` are the values of the marks of each."""
        if not program.slots:
            return cls([], [], {}, {}, [])
        inputs = [item.name for item in program.inputs]
        values = _common_values(program, steps, inputs)
        names = [] if values is None else [*inputs, *values]
        marks: Values = {f"{{{{{name}}}}}": [name, "", "", f"{{{{{name}}}}}"] for name in names}
        shared = _shared([*(step.places for step in steps), *groups], marks) if inputs or values else {}
        return cls(names, values or [], shared, marks | shared, inputs)

    def settings(self, step: Step, others: Values) -> Values:
        """Return the variables, placeholders and outputs of a step that differ. `others` are its other settings."""
        found: Values = {}
        if isinstance(step.node.task, CALLING) and step.variables != _same(self.names):
            found["texts"] = dict(step.variables)
        found |= self.placeholders(step.places, str(step.node.title), others)
        if step.kept is None:
            found["gives"] = list(step.outputs)
        elif step.node.task.kind == "shell" and list(step.kept) != self.values:
            found["outputs"] = list(step.kept)
        return found

    def placeholders(self, marks: Values, title: str, others: Values) -> Values:
        """Return the marks of a step that not all steps see; None for a string that only looks like a mark."""
        if not marks and not self.known:
            return {}
        command = others.get("bash", others.get("sh"))
        shown = str([title, *({"command": command, **others}.get(key) for key in _TEXTS)])
        common = {mark: place for mark, place in self.known.items() if mark in shown}
        # The first of two marks with the same start counts, so their order must stay.
        is_ordered = any(one.startswith(other) for one, other in permutations(marks, 2))
        output = {mark: place for mark, place in marks.items() if is_ordered or common.get(mark) != place}
        output |= {mark: None for mark in common if mark not in marks}
        return {"placeholders": output} if output else {}

    def shown(self) -> list[str]:
        """Return the settings of `about` that all steps see."""
        kinds = (("`inputs`", self.names and self.inputs), ("`outputs`", self.values), ("`placeholders`", self.places))
        return [kind for kind, found in kinds if found]


def group_places(group: Group, slots: Collection[str]) -> tuple[str, str, Values]:
    """Return the title and the prompt of a group with marks, and the values of these."""
    marks = Marks((group.title, group.prompt))
    return marks.text(group.title), marks.text(group.prompt), places(marks, slots)


def _common_values(program: Program, steps: Iterable[Step], inputs: Sequence[str]) -> list[str] | None:
    """Return the outputs of most commands that see all inputs and outputs, or None if most steps see none."""
    votes = Counter[tuple[str, ...]]()
    calling = [step for step in steps if isinstance(step.node.task, CALLING)]
    for step in calling:
        if step.variables and step.kept is not None and step.variables == _same([*inputs, *step.kept]):
            votes[tuple(step.kept)] += 1
    if not votes:
        return None
    values, count = votes.most_common(1)[0]
    initial = {slot.name: slot.initial for slot in program.slots}
    is_kept_so = all(initial.get(name, "") is None for name in (*inputs, *values))
    return list(values) if is_kept_so and count >= sum(not step.variables for step in calling) else None


def _shared(found: Iterable[Values], known: Values) -> Values:
    all_places: dict[str, list[Any]] = {}
    for marks in found:
        for mark, place in marks.items():
            all_places.setdefault(mark, []).append(place)
    several = {mark: each for mark, each in all_places.items() if mark not in known and len(each) > 1}
    return {mark: each[0] for mark, each in several.items() if all(one == each[0] for one in each)}


def _same(names: Iterable[str]) -> dict[str, str]:
    return {name: name for name in names}
