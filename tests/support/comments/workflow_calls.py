"""Comments above a step that tell its calls and its transitions, compared with the program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from backends.common.specification import Specification
from backends.github.options.model import command_of
from compiler.ir.edges import CounterTest, Edge, OutcomeTest, SlotTest, Test
from compiler.ir.program import Node
from compiler.ir.tasks import Ask, Branch, End, Gate
from tests.support.comments.workflow import Step, Workflow, bare, shown


@dataclass
class Blocks:
    """The comments above a step, read line by line: the node that they are about, and its transitions."""

    workflow: Workflow
    node: Node | None = None
    found: dict[str, list[str]] = field(default_factory=dict)

    def title(self, text: str) -> bool:
        """Take a line with a node's source line or name. Return whether it is one."""
        place = re.fullmatch(r"(\S+):(\d+)(?: (.+))?", text)
        name = place[3] or "" if place else text
        if name and " ".join(name.split()) in self.workflow.titles:
            self.node = self.workflow.titles[" ".join(name.split())]
        elif not place:
            return False
        if place:
            origins = {(node.origin.path, node.origin.span.line) for node in self.workflow.program.nodes}
            assert (place[1], int(place[2])) in origins, text
        if self.node is not None:
            self.found.setdefault(self.node.id, [])
        return True

    def transition(self, text: str) -> bool:
        """Take a line with a transition of the node. Return whether it is one."""
        if self.node is None or not any(fits(self.workflow, path, text) for path in paths(self.workflow, self.node)):
            return False
        self.found.setdefault(self.node.id, []).append(text)
        return True

    def check(self, step: Step) -> None:
        """Check that the transitions above a step are all: of a native loop, at least those that an author wrote."""
        is_whole = "CALL" in (step.get("env") or {})
        for name, lines in self.found.items():
            for path in paths(self.workflow, self.workflow.nodes[name]) if lines else ():
                if is_whole or (path.edge.label and len(path.conditions) > 1):
                    assert any(fits(self.workflow, path, line) for line in lines), (name, path, lines)


@dataclass(frozen=True)
class Path:
    """A transition with the branches that a run passes: the ways to write its condition, and its last edge."""

    conditions: tuple[str, ...]
    edge: Edge


WORDS = {"pass": ("PASS", "YES"), "fail": ("FAIL", "NO")}


def paths(
    workflow: Workflow, node: Node, before: Sequence[str] = ("",), passed: frozenset[str] = frozenset()
) -> Iterator[Path]:
    """Yield the transitions of a node."""
    for edge in node.edges:
        words = [test.word for test in edge.guard if isinstance(test, OutcomeTest)]
        others = [_written(test) for test in edge.guard if not isinstance(test, OutcomeTest)]
        tests = [text for text, is_slot in others if is_slot or not edge.label]
        forms = [" and ".join([form, *tests]) for word in words for form in (word, *WORDS.get(word, ()))]
        forms = forms or [" and ".join(tests) or ("otherwise" if len(node.edges) > 1 else "")]
        whole = [", ".join(filter(None, (first, form))) or "always" for first in before for form in forms]
        target = workflow.nodes[edge.target]
        if isinstance(target.task, Branch) and not edge.label and target.id not in passed:
            onward = ["" if form == "always" else form for form in whole]
            yield from paths(workflow, target, onward, passed | {target.id})
            continue
        yield Path((*whole, *(form for word in words for form in (word, *WORDS.get(word, ())))), edge)


def _written(test: Test) -> tuple[str, bool]:
    """Return a test of a value, and whether it is one of a string."""
    if isinstance(test, SlotTest):
        return f'{test.slot} {test.operator} "{test.text}"', True
    assert isinstance(test, CounterTest)
    return f"{test.register} {test.operator} {test.value}", False


def fits(workflow: Workflow, path: Path, text: str) -> bool:
    """Return whether a line of a comment is this transition."""
    condition = next((each for each in path.conditions if text.startswith(f"{each}: ")), None)
    if condition is None:
        return False
    edge, target = path.edge, workflow.nodes[path.edge.target]
    action = re.sub(r", skips the approvals? .*", "", text.removeprefix(f"{condition}: "))
    place, _, message = action.partition(' "')
    if isinstance(target.task, End) and message and bare(edge.label) != bare(action):
        return bare(shown(target.task.message)).startswith(bare(message.rstrip('"').rstrip("…")))
    place = re.sub(r"^(?:to|next|GOTO) ", "", place if isinstance(target.task, End) else action)
    ends = isinstance(target.task, End) and place.lower() in (target.task.result, "end")
    return ends or bare(place) in {
        bare(edge.label),
        bare(re.sub("^(?:to|next|GOTO) ", "", edge.label)),
        bare(edge.target),
    }


def is_start(workflow: Workflow, text: str) -> bool:
    return text == "…" or (len(text) > 150 and any(line.startswith(bare(text[:-1])) for line in workflow.prose))


def is_of_questions(workflow: Workflow, text: str, block: Blocks) -> bool:
    waits = r"The run waits here\. A person continues it (?:with the answer.*|and chooses one of .*)\."
    asks = rf"asks (?:a person|the agent)|{waits}|A person (?:answers|chooses).*"
    if re.fullmatch(r"`\{.+\}`.* (?:is|are) the numbers? of the instances?\.", text):
        return any(counter.role == "instance" for counter in workflow.program.counters)
    if not re.fullmatch(asks, text):
        return False
    assert block.node is None or isinstance(block.node.task, Ask | Gate)
    assert ("agent" in text) == (workflow.options.prompts == "agent")
    return True


def is_of_calls(workflow: Workflow, text: str) -> bool:
    """Take a line with the command of an executor or a tool: it is the effective one."""
    options, config = workflow.options, Specification(workflow.program).config
    if found := re.fullmatch(r"(?:Executor|calls the executor): (.+)", text):
        command = command_of(options.executor) or config["executor"]
        assert " ".join(command.split()).startswith(" ".join(found[1].rstrip("…").split())), command
        return True
    commands = [config.get("executor", ""), *(tool.get("command", "") for tool in config.get("tools", {}).values())]
    commands += [command_of(caller) for _, caller in options.callers()]
    if any(
        " ".join(text.split()) in (" ".join(line.split()) for line in each.splitlines()[:1000] if "\n" in each.strip())
        for each in commands
    ):
        return True
    if re.fullmatch(
        r"Executor:|Asks the agent:|Tool \S+(?: of \S+)?(?:; \w+ risk, (?:required|optional), at most .+)?:", text
    ):
        return True  # lines of its command follow
    if found := re.fullmatch(r"Asks the agent: (.+)", text):
        assert options.prompts == "agent"
        assert " ".join(command_of(options.agent).split()) == " ".join(found[1].split())
        return True
    if found := re.fullmatch(r"Tool (\S+) of (\S+): (.+?)(?:; .*)?", text):
        assert command_of(options.tools[found[2]]).startswith(found[3].split("; ")[0])
        return True
    if found := re.fullmatch(r"Tool (\S+): (.+); (\w+) risk, (required|optional)(?:, gate .+)?, at most (.+)", text):
        known = config.get("tools", {}).get(found[1], {}).get("command")
        command = command_of(options.tools.get(found[1])) or known or "built in"
        assert " ".join(command.split()) == " ".join(found[2].split())
        return True
    return bool(re.fullmatch(r"The option `tools` has no command for (\S+), so this step does nothing\.", text))


def is_of_conditions(workflow: Workflow, text: str) -> bool:
    """Take a line about what leads to a step: `2 FAIL: STOP`, `if review: REJECT`."""
    if re.fullmatch(r"(?:and \d+ more|or in \d+ more cases)", text):
        return True
    text = text.removeprefix("if ")
    if re.fullmatch(r"\S+ (?:==|!=) \".*\"(?: and .*)?", text):
        return True
    for node in workflow.program.nodes:
        name = node.id.replace("/", " ")
        for start in (node.id, name):
            if text.startswith(start):
                rest = text[len(start) :].lstrip(" :,")
                words = [test.word for edge in node.edges for test in edge.guard if isinstance(test, OutcomeTest)]
                if any(rest.upper().startswith(each.upper()) for each in [*words, "yes", "no"]) or any(
                    bare(edge.label) == bare(rest) for edge in node.edges
                ):
                    return True
    return False
