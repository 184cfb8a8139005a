"""The comments of a workflow, compared with what runs. A comment of an unknown kind is an error."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backends.common.specification import Specification
from backends.github.options.model import command_of
from backends.github.yaml.pins import pins
from compiler.ir.edges import CounterTest, Edge, OutcomeTest, SlotTest, Test
from compiler.ir.program import Node
from compiler.ir.tasks import Ask, Branch, End, Gate
from runtime_shim.targets.naming import name_in_words
from tests.support.comments.workflow import Comment, Step, Workflow, bare, comments_of, shown
from tests.support.comments.workflow_header import check_header


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
    limits = {counter.name for counter in workflow.program.counters if counter.role == "visits"}
    for edge in node.edges:
        words = [test.word for test in edge.guard if isinstance(test, OutcomeTest)]
        told = (OutcomeTest, CounterTest) if edge.label and not passed else OutcomeTest
        tests = [_written(test) for test in edge.guard if not isinstance(test, told)]
        forms = [" and ".join([form, *tests]) for word in words for form in (word, *WORDS.get(word, ()))]
        forms = forms or [" and ".join(tests) or ("otherwise" if len(node.edges) > 1 else "")]
        whole = [", ".join(filter(None, (first, form))) or "always" for first in before for form in forms]
        target = workflow.nodes[edge.target]
        is_limit = any(getattr(test, "register", "") in limits for each in target.edges for test in each.guard)
        if isinstance(target.task, Branch) and (is_limit or not edge.label) and target.id not in passed:
            onward = ["" if form == "always" else form for form in whole]
            yield from paths(workflow, target, onward, passed | {target.id})
            continue
        yield Path((*whole, *(form for word in words for form in (word, *WORDS.get(word, ())))), edge)


def _written(test: Test) -> str:
    if isinstance(test, SlotTest):
        return f'{test.slot} {test.operator} "{test.text}"'
    assert isinstance(test, CounterTest)
    return f"{test.register} {test.operator} {test.value}"


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
    names = (edge.label, re.sub("^(?:to|next|GOTO) ", "", edge.label), edge.target)
    return ends or bare(place) in map(bare, names)


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
    lines = (line for each in commands if "\n" in each.strip() for line in each.splitlines()[:1000])
    if any(text.split() == line.split() for line in lines):
        return True
    above = r"Executor:|Asks the agent:|Tool \S+(?: of \S+)?(?:; \w+ risk, (?:required|optional), at most .+)?:"
    if re.fullmatch(above, text):
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


ABOVE_STEPS = (
    r"Writes a script that (?:turns|ends) .*",
    r"Makes variables of the values from before\. An unset one stays unset\.",
    r"Writes functions for the loops below\. .*",
    r"Writes the program and the runtime of rdc\. .*",
    r"Stops the run before the first command if a secret is missing\. .*",
    r"Shows the steps that ran as a table in the run summary\.",
    r"The file has the document's name, with the extension of its type\.",
    r"For the job that opens the pull request\. That job has no secrets\.",
    r"Compares with the commit that was checked out, and leaves out files that git ignores\.",
    r"Checks the inputs and passes them to the steps below as variables\.",
    r"Saves only the answer\. The agent's changes in the workspace are lost\.",
    r"For a re-run\. If there is no earlier answer, the agent is called\.",
    r"Each step with `rdc` runs this script: it checks the program's hash, and runs the bytes that it has checked\.",
    r"`bash -p` and `python3 -I` read no start-up files that earlier steps name in the environment\.",
    r"GitHub lets every job into an environment without reviewers\.",
)
"""Sentences on rdc's own steps. Their names show that they are such steps."""

OWN_STEPS = re.compile(
    r"(?:Write the program|Prepare .*|Check .*|Summary|Save .*|Collect the changes|Stop .*|Take .*|Load .*|Keep .*"
    r"|Open .*)"
)


def check_comments(workflow: Workflow) -> int:
    """Compare all comments of a workflow; return their number."""
    known = check_header(workflow)
    blocks: dict[tuple[str, int], Blocks] = {}
    count = 0
    for comment in comments_of(workflow.text):
        if comment.line <= known:
            continue
        count += 1
        try:
            if comment.code:
                check_inline(workflow, comment)
            elif comment.line and not _above_job(workflow, comment):
                place = (comment.job, comment.step)
                block = blocks.setdefault(place, Blocks(workflow, _node_of(workflow, comment)))
                check_above(workflow, comment, block)
        except AssertionError as error:
            raise AssertionError(f"line {comment.line}: {comment.code} # {comment.text}: {error}") from error
    for (job, step), block in blocks.items():
        block.check(workflow.jobs[job]["steps"][step])
    return known + count


def _node_of(workflow: Workflow, comment: Comment) -> Node | None:
    """Return the only node of a step."""
    step = workflow.step(comment)
    env = step.get("env") or {}
    call = str(env.get("RDC_CALL") or env.get("CALL") or "")
    names = call.splitlines()[1:] if "\n" in call else call.split()[1:]
    if call.startswith(("step", "entry")) and len(names) == 1:
        return workflow.nodes.get(names[0])
    gates = (node for node in workflow.program.nodes if isinstance(node.task, Gate))
    job = str(workflow.jobs[comment.job].get("name", ""))
    approved = re.fullmatch(r"Approve:? (.+?)(?:, (?:after|attempt|because) .*)?", job)
    if approved:
        return next((gate for gate in gates if approved[1] in (gate.id, gate.id.rpartition("/")[0])), None)
    return workflow.titles.get(" ".join(str(step.get("name", "")).split()))


def _above_job(workflow: Workflow, comment: Comment) -> bool:
    line = workflow.text.split("\n")[comment.line - 1]
    if line.startswith("  # "):
        fixed = (
            r"(?:Publishes an agent's answer|Proposes the agents' changes) in a job without agents and secrets\.",
            r"Waits until a reviewer of the environment `(?P<environment>.+)` approves \(YES\) or rejects \(NO\)\.",
            r"A re-run would repeat completed steps, or use an approval twice\.",
            r"\w+: (?P<way>.+)",
        )
        match = next((found for each in fixed if (found := re.fullmatch(each, comment.text))), None)
        assert match, "unknown comment above a job"
        if way := match.groupdict().get("way"):
            asking = [node for node in workflow.program.nodes if isinstance(node.task, Ask)]
            assert any(fits(workflow, path, comment.text) for node in asking for path in paths(workflow, node)), way
        if environment := match.groupdict().get("environment"):
            assert environment in {job.get("environment") for job in workflow.jobs.values()}
        if comment.text.startswith(("Publishes", "Proposes")):
            after = next(text for text in workflow.text.split("\n")[comment.line :] if re.fullmatch(r"  \w+:", text))
            job = workflow.jobs[after.strip(" :")]
            assert not any("secrets." in text for text in workflow.strings(where=job))
        return True
    return bool(re.match(r"    +#", line)) and comment.text.startswith(("Runs the file at this path", "Runs a script"))


def check_above(workflow: Workflow, comment: Comment, block: Blocks) -> None:
    """Compare a line above a step."""
    text, step = comment.text.strip(), workflow.step(comment)
    if not text:
        return
    if text.startswith("--- "):
        groups = {" ".join(name_in_words(group.id, shown(group.title)).split()) for group in workflow.program.groups}
        assert any(name == " ".join(text[4:].split()) or bare(name) == bare(text[4:]) for name in groups), (
            "no such group"
        )
    elif any(re.fullmatch(each, text) for each in ABOVE_STEPS):
        assert OWN_STEPS.fullmatch(step["name"]) or "RDC_CALL" in (step.get("env") or {}), step["name"]
    elif block.title(text) or block.transition(text):
        return
    elif found := re.fullmatch(
        r"approved: step (\S+) may start, after all its approvals|rejected: STOP \"step (\S+) was .*", text
    ):
        assert workflow.jobs[comment.job]["environment"] == workflow.options.approval_environment
        assert (found[1] or found[2]) in {group.id for group in workflow.program.groups}
    elif text.startswith("This step has all secrets"):
        assert "RDC_SECRETS" in step["env"]
    elif not (
        is_of_questions(workflow, text, block) or is_of_calls(workflow, text) or is_of_conditions(workflow, text)
    ):
        assert bare(text.rstrip("…")) in workflow.prose or is_start(workflow, text), "unknown comment"


_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600}


def check_inline(workflow: Workflow, comment: Comment) -> None:
    """Compare a comment behind code."""
    code, text, job = comment.code, comment.text, workflow.jobs.get(comment.job, {})
    key, _, value = code.partition(": ")
    if key == "uses":
        references = {pin.reference: pin.version for pin in pins().values()} | {
            " ".join(str(each).partition(" # ")[::2]).strip(): "" for each in workflow.options.actions.values()
        }
        assert references.get(value) == text
    elif key in ("shell", "run") or text.startswith("without -e"):
        assert value == "bash {0}"
        assert text == "without -e and pipefail: the exit code is the command's own"
    elif key == "timeout-minutes":
        check_timeout(workflow, int(value), text)
    elif key == "fail-fast":
        assert (value, text) == ("false", "lets the other agents finish")
    elif key == "group":
        assert text == "one run at a time, on all branches"
        assert "github.ref" not in value
    elif key == "retention-days":
        assert text == "a decision after that comes too late"
    else:
        check_permission(workflow, job, key, value, text)


def check_timeout(workflow: Workflow, minutes: int, text: str) -> None:
    """Compare the arithmetic of a time limit."""
    if text == "without the time for the decision":
        return
    if text == "limit of the job, shorter than that of the step":
        assert minutes == (workflow.options.timeout_minutes or 360)
        return
    found = re.fullmatch(
        r"(?:option agent-timeout|limit of an attempt|.+?) (\d+)\s?(s|m|min|h)(?: × (\d+))?((?: \+ \d+)*)", text
    )
    assert found, "unknown comment on a time limit"
    seconds = int(found[1]) * _SECONDS[found[2]] * int(found[3] or 1)
    more = sum(int(each) for each in re.findall(r"\d+", found[4]))
    assert minutes == -(-seconds // 60) + more
    if text.startswith("option agent-timeout"):
        assert int(found[1]) * _SECONDS[found[2]] == workflow.options.agent_seconds


def check_permission(workflow: Workflow, job: Mapping[str, Any], scope: str, access: str, text: str) -> None:
    """Compare the reason of a permission with what its job does."""
    steps: list[Step] = job["steps"]
    env = [key for step in steps for key in (step.get("env") or {})]
    assert job["permissions"][scope] == access
    if text == "check out the repository":
        assert scope == "contents"
        assert access == "read" or (scope, access) in workflow.options.permissions.items()
        assert any(str(step.get("uses", "")).startswith("actions/checkout@") for step in steps) or (
            not workflow.options.checkout
        )
    elif text in ("set by the option `permissions`", "option permissions", "option `permissions`"):
        assert (scope, access) in workflow.options.permissions.items()
    elif text in ("see who reviewed this run", "read who approved", "read whether the environment has reviewers"):
        assert {"RDC_TOKEN", "GH_TOKEN"} & set(env)
        assert any("environment" in each for each in workflow.jobs.values())
    elif text == "check the waiting run and load its state":
        assert workflow.continues()
    else:
        assert re.fullmatch(r"(?:open the pull request|push a branch with the .+|comment on the .+)", text), (
            "unknown reason"
        )
        assert "TOKEN" in env
        assert access == "write"
