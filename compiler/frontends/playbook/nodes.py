"""Turn steps, sub-steps and unnamed branches into nodes with ids (P14, P17)."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from compiler.frontends.playbook.syntax import Branch, Output, Playbook, Step


class StepNode(Struct, frozen=True):
    """A step, a sub-step, or the unnamed step of a branch.

    `id` is the id of its node, and of its group if it branches. `title` is the title of the surrounding step if it is
    unnamed. `group` is the branching step that it is or is in, or "". `branch` is the index of its branch, or None.
    `file_text` is the text of its `@prompt(file:…)`.
    """

    id: str
    step: Step
    title: str
    group: str = ""
    branch: int | None = None
    file_text: str = ""

    @property
    def calls_tool(self) -> bool:
        """Whether it calls a tool, which overrides `@elicit` and `@prompt` (P13)."""
        return self.step.tool is not None

    @property
    def asks(self) -> bool:
        """Whether it asks a person a question (P11)."""
        return self.step.elicit is not None and not self.calls_tool

    @property
    def gets_prompt(self) -> bool:
        """Whether a command gives it the text of a prompt when it runs (P12)."""
        prompt = self.step.prompt
        return prompt is not None and prompt.scheme in _FETCHED and not self.calls_tool

    @property
    def prompt_variable(self) -> str:
        """The name in `@prompt({{name}})`, whose value comes before the step's own text, or "" (P12)."""
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

    def node(step: Step, name: str, title: str, group: str = "", branch: int | None = None) -> StepNode:
        seen[name] += 1
        number = seen[name]
        own = f"{name}~{number}" if number > 1 else name
        prompt = step.prompt
        text = file_texts.get(prompt.id, "") if prompt is not None and prompt.scheme == "file" else ""
        return StepNode(own, step, title, group, branch, text)

    found: list[Arranged] = []
    for step in playbook.steps:
        outer = node(step, step.label, step.title)
        if not step.branches:
            found.append(Arranged(outer))
            continue
        outer = StepNode(outer.id, step, step.title, outer.id, None, outer.file_text)
        arms: list[Arm] = []
        for place, branch in enumerate(step.branches):
            named = (
                (item, item.label or f"{outer.id}/{_marker(place, branch)}", item.title or step.title)
                for item in branch.steps
            )
            arms.append(Arm(branch, tuple(node(item, name, title, outer.id, place) for item, name, title in named)))
        found.append(Arranged(outer, tuple(arms)))
    return tuple(found)


def _marker(place: int, branch: Branch) -> str:
    """Return a branch marker's name in ids: `if`, `elif1`, `else`."""
    if branch.condition is None:
        return "else"
    return f"elif{place}" if place else "if"


def every_node(steps: tuple[Arranged, ...]) -> list[StepNode]:
    """Return all steps in document order."""
    return [node for step in steps for node in (step.node, *(item for arm in step.arms for item in arm.nodes))]
