"""What becomes nodes in a playbook: steps, sub-steps and unnamed branches, under their ids (P14, P17)."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from compiler.frontends.playbook.syntax import Branch, Output, Playbook, Step


class StepNode(Struct, frozen=True):
    """A step, a sub-step, or the unnamed step of a branch.

    `id` is that of its node, and of its group where it branches; `title` is that of the step around an unnamed one;
    `group` is the branching step that it stands in or is, "" for none; `branch` is the place of its branch, None for
    what stands in no branch. `file_text` is what its `@prompt(file:…)` has read.
    """

    id: str
    step: Step
    title: str
    group: str = ""
    branch: int | None = None
    file_text: str = ""

    @property
    def calls_tool(self) -> bool:
        """Whether it calls a tool, in whose favour `@elicit` and `@prompt` are left aside (P13)."""
        return self.step.tool is not None

    @property
    def asks(self) -> bool:
        """Whether it puts a question to a person (P11)."""
        return self.step.elicit is not None and not self.calls_tool

    @property
    def gets_prompt(self) -> bool:
        """Whether a command gives it the text of a prompt when it runs (P12)."""
        prompt = self.step.prompt
        return prompt is not None and prompt.scheme in _FETCHED and not self.calls_tool

    @property
    def prompt_variable(self) -> str:
        """The name in `@prompt({{name}})`, whose text stands before its own; "" for none (P12)."""
        prompt = self.step.prompt
        if prompt is None or prompt.scheme != "variable" or self.calls_tool:
            return ""
        return prompt.id.strip("{} ").partition(":")[0]

    @property
    def calls_agent(self) -> bool:
        """Whether it has a text of its own for an agent, or gets one (P17)."""
        return not self.calls_tool and bool(
            self.step.content or self.file_text or self.gets_prompt or self.prompt_variable
        )

    @property
    def has_output(self) -> bool:
        """Whether an answer, a result or a reply may come of it (P10)."""
        return self.calls_tool or self.calls_agent or self.asks

    @property
    def output(self) -> Output | None:
        """The name of its output, if that has one."""
        return self.step.output if self.has_output else None

    @property
    def slot(self) -> str:
        """The slot of its whole output."""
        return f"output {self.id}"


_FETCHED = frozenset({"library", "mcp"})


class Arm(Struct, frozen=True):
    """One branch of a step with its nodes."""

    syntax: Branch
    nodes: tuple[StepNode, ...]


class Arranged(Struct, frozen=True):
    """A step of the document, and its branches, none for a plain step."""

    node: StepNode
    arms: tuple[Arm, ...] = ()

    @property
    def route(self) -> str:
        """The id of the node that chooses a branch: that of the step, unless the step has a call of its own."""
        return f"{self.node.id}/route" if self.node.has_output else self.node.id


def arrange(playbook: Playbook, file_texts: dict[str, str]) -> tuple[Arranged, ...]:
    """The steps of a playbook in order, with ids; `file_texts` are what prompts have read, by their path."""
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
    """What the marker of a branch is called in ids: `if`, `elif1`, `else`."""
    if branch.condition is None:
        return "else"
    return f"elif{place}" if place else "if"


def every_node(steps: tuple[Arranged, ...]) -> list[StepNode]:
    """All steps in document order."""
    return [node for step in steps for node in (step.node, *(item for arm in step.arms for item in arm.nodes))]
