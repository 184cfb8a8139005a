"""The comments of a workflow, compared with what runs. A comment of an unknown kind is an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import yaml

from backends.base import Emission
from backends.common.command import read_command
from backends.common.specification import Specification
from backends.github import GithubBackend
from backends.github.options.model import GithubOptions, command_of
from backends.github.yaml.pins import pins
from compiler.ir.edges import CounterTest, Edge, OutcomeTest, SlotTest, Test
from compiler.ir.program import Node, Program, texts_of
from compiler.ir.tasks import Ask, Branch, End, Gate, Parallel, Shell, Stage, Tool, agents_of
from compiler.ir.texts import Text
from runtime_shim.targets.naming import name_in_words
from tests.support.github.compiling import LOADER

Step = Mapping[str, Any]


@dataclass(frozen=True)
class Comment:
    """A comment: its text, the code before it on its line, and the job and step that it is in or above."""

    text: str
    code: str
    line: int
    job: str
    step: int


def comments_of(text: str) -> Iterator[Comment]:
    """Yield the comments of a workflow in order. A `#` in a scalar starts none."""
    inside = [
        (token.start_mark.index, token.end_mark.index)
        for token in yaml.scan(text, LOADER)
        if isinstance(token, yaml.ScalarToken)
    ]
    place, job, step, at = 0, "", -1, 0
    for number, line in enumerate(text.splitlines(), 1):
        if re.fullmatch(r"  \w+:", line) and "\njobs:\n" in text[:at]:
            job, step = line.strip(" :"), -1
        step = -1 if line == "    steps:" else step
        while place < len(inside) and inside[place][1] <= at:
            place += 1
        ends = [(start - at, end - at) for start, end in inside[place : place + 8]]
        first = next(
            (
                found.start()
                for found in re.finditer(r"(?:^|(?<= ))#", line)
                if not any(start <= found.start() < end for start, end in ends)
            ),
            None,
        )
        if line.startswith("      - ") and not any(start < 0 < end for start, end in ends):
            step += 1
        if first is not None:
            code = line[:first].strip()
            above = not code and line.startswith("      #")
            yield Comment(line[first + 1 :].removeprefix(" "), code, number, job, step + 1 if above else step)
        at += len(line) + 1


@dataclass(frozen=True)
class Workflow:
    """A compiled workflow with everything that its comments may speak of."""

    program: Program
    given: Mapping[str, object]
    emission: Emission
    options: GithubOptions

    @classmethod
    def of(cls, program: Program, given: Mapping[str, object]) -> Workflow:
        backend = GithubBackend()
        return cls(program, given, backend.emit(program, given), backend.options.validated(given))

    @cached_property
    def text(self) -> str:
        assert self.emission.text is not None
        return self.emission.text

    @cached_property
    def values(self) -> dict[str, Any]:
        found = yaml.load(self.text, LOADER)
        return {"on" if key is True else str(key): value for key, value in found.items()}

    @cached_property
    def jobs(self) -> dict[str, Any]:
        return dict(self.values["jobs"])

    @cached_property
    def nodes(self) -> dict[str, Node]:
        return self.program.index()

    @cached_property
    def titles(self) -> dict[str, Node]:
        """The nodes by their names for people."""
        return {
            " ".join(name_in_words(node.id, shown(node.title)).split()): node for node in reversed(self.program.nodes)
        }

    @cached_property
    def prose(self) -> set[str]:
        """The lines of all texts of the document, without their values."""
        texts = [shown(text) for node in self.program.nodes for text in texts_of(node)]
        texts += [shown(text) for group in self.program.groups for text in (group.title, group.prompt)]
        return {bare(line) for text in texts for line in text.splitlines()} | {bare(text) for text in texts}

    def step(self, comment: Comment) -> Step:
        found: Step = self.jobs[comment.job]["steps"][comment.step]
        return found

    def continues(self) -> bool:
        inputs = (self.values["on"].get("workflow_dispatch") or {}).get("inputs") or {}
        return "resume" in inputs

    def strings(self, *, where: object = None) -> Iterator[str]:
        """Yield all strings of the jobs."""
        pending = [self.jobs if where is None else where]
        while pending:
            item = pending.pop()
            if isinstance(item, dict):
                pending += item.values()
            elif isinstance(item, list):
                pending += item
            elif isinstance(item, str):
                yield item


def shown(text: Text) -> str:
    return "".join(part if isinstance(part, str) else part.written or f"{{{part.register}}}" for part in text.parts)


def bare(line: str) -> str:
    """A line without values and ends, because comments show these in other ways."""
    words = re.sub(r"\{+[^{}]*\}+", "", line.replace("$ {{", "${{"))
    return " ".join("".join(char if char.isprintable() else " " for char in words).split())


# --- The header -------------------------------------------------------------------------------------------------------


def check_header(workflow: Workflow) -> int:
    """Compare the lines above `name:`; return their number."""
    lines = [line.removeprefix("#").removeprefix(" ") for line in workflow.text.split("\nname: ")[0].split("\n")]
    for line in lines:
        _check_line(workflow, line)
    first = next(place for place, line in enumerate(lines) if line.startswith("Runs on: "))
    facts = [*lines[first:]]
    while facts and any(pattern.fullmatch(facts[-1]) for pattern, _ in GUIDE):
        facts.pop()
    sentences = re.findall(r"[A-Z][^.]*?(?:: | )(?:`[^`]*`|[^`])*?\.(?= [A-Z]|$)", " ".join(facts))
    assert " ".join(sentences) == " ".join(facts), facts
    for sentence in sentences:
        check(workflow, sentence, FACTS)
    _check_all_is_said(workflow, sentences)
    return len(lines)


def _check_line(workflow: Workflow, line: str) -> None:
    if command := read_command(line.strip()):
        if "steps" not in workflow.given and "\\n" not in repr(workflow.given):  # these are in the document
            words = GithubBackend().options.from_words(command.options)
            assert GithubBackend().emit(workflow.program, words).text == workflow.text
        return
    if found := re.match(
        r"(?:Generated by rdc \S+ from|with) (\S.*?)(?: \(sha256 ([0-9a-f]{64})\))?[.,](?: Do not.*)?$", line
    ):
        assert [each.sha256 for each in workflow.program.sources if each.path == found[1]] == [found[2]], line
        return
    if line.startswith("Do not edit this file: change the document and run "):
        return
    for pattern, checker in GUIDE:
        if found := pattern.fullmatch(line):
            checker(workflow, found)


def check(workflow: Workflow, text: str, kinds: Sequence[Kind]) -> None:
    """Compare a comment by the first kind that matches."""
    for pattern, checker in kinds:
        if found := pattern.fullmatch(text):
            checker(workflow, found)
            return
    raise AssertionError(f"unknown comment: {text!r}")


Check = Callable[[Workflow, "re.Match[str]"], None]
Kind = tuple["re.Pattern[str]", Check]


def _listed(found: re.Match[str]) -> list[str]:
    return found[1].split(", ")


def _runner(workflow: Workflow, found: re.Match[str]) -> None:
    for job in workflow.jobs.values():
        runs_on = job["runs-on"]
        assert _listed(found) == ([runs_on] if isinstance(runs_on, str) else runs_on)


def _environments(workflow: Workflow, found: re.Match[str]) -> None:
    used = {job["environment"] for job in workflow.jobs.values() if "environment" in job}
    assert set(_listed(found)) <= used


def _secrets(workflow: Workflow, found: re.Match[str]) -> None:
    used = {name for text in workflow.strings() for name in re.findall(r"\$\{\{[^}]*?\bsecrets\.(\w+)", text)}
    used |= {name for text in workflow.strings() for name in re.findall(r"secrets\.(\w+) == ''", text)}
    assert ([] if found[1] == "none" else _listed(found)) == sorted(used)


def _token(workflow: Workflow, found: re.Match[str]) -> None:
    granted: dict[str, str] = {}
    for job in workflow.jobs.values():
        for scope, access in (job.get("permissions") or {}).items():
            granted[scope] = "write" if "write" in (access, granted.get(scope)) else access
    said = {} if found[1] == "none" else dict(item.split() for item in _listed(found))
    assert said == granted
    assert workflow.values["permissions"] == {}


def calls_of(workflow: Workflow, node: Node) -> list[str]:
    """Return the effective commands of one visit of a node."""
    options, task = workflow.options, node.task
    model = f" -m {options.agent_model}" if options.agent_model else ""
    if isinstance(task, Stage):
        config = Specification(workflow.program).config
        if task.stage == "execute":
            return [command_of(options.executor) or config["executor"]]
        known = config.get("tools", {}).get(task.subject, {}).get("command")
        command = command_of(options.tools.get(task.subject)) or known
        return [command] if task.stage == "tool" and command else []
    callers = [options.caller_of(agent.agent) for agent in agents_of(task)]
    if isinstance(task, Ask) and options.prompts == "agent":
        callers = [options.agent]
    if isinstance(task, Tool):
        callers, model = [options.tools.get(task.connection)], ""
    return [f"{command_of(each)}{model if command_of(each) == 'llm' else ''}" for each in callers if each is not None]


def _first_line(command: str) -> str:
    first, more, _ = command.strip().partition("\n")
    line = first + (" …" if more else "")
    return line if len(line) <= 100 else line[:100] + "…"


def _calls(workflow: Workflow, found: re.Match[str]) -> None:
    """The commands are those of the options, and no path of bounded length calls one more often."""
    said = {
        command.strip("`"): None if number == "(no limit)" else int(number[1:])
        for command, number in re.findall(r"(`[^`]*`|[^` ]\S*) (×\d+|\(no limit\))(?:, |$)", found[1])
    }
    wanted: dict[str, int] = {}
    for node in workflow.program.nodes:
        for command in calls_of(workflow, node):
            line = _first_line(command)
            wanted[line] = wanted.get(line, 0) + 1
    assert said.keys() == wanted.keys()
    options, limit = workflow.options, workflow.program.limit
    for command, most in said.items():
        once = wanted[command]
        if most is not None and not (options.agent_calls or limit or options.max_steps):
            assert most >= once
        if options.agent_calls and most is not None and "×" in found[0] and not workflow.program.stepspec:
            is_tool = any(command == _first_line(command_of(each)) for each in options.tools.values())
            assert is_tool or most <= options.agent_calls


def _people(workflow: Workflow, found: re.Match[str]) -> None:
    names = _listed(found)
    assert all(isinstance(workflow.nodes[name].task, Ask | Gate) for name in names)
    if found[0].startswith("A person decides"):
        assert any("environment" in job for job in workflow.jobs.values())
    elif found[0].startswith("The agent decides"):
        assert workflow.options.prompts == "agent"
    else:
        assert workflow.continues()


def _needs(workflow: Workflow, found: re.Match[str]) -> None:
    checks = {check for node in workflow.program.nodes if isinstance(node.task, Stage) for check in node.task.checks}
    config, tasks = Specification(workflow.program).config, [node.task for node in workflow.program.nodes]
    tools = {task.subject for task in tasks if isinstance(task, Stage) and task.stage == "tool"}
    own = {name for name, tool in config.get("tools", {}).items() if "command" in tool}
    of_tools = ["git"] if {"gitStatus", "gitDiff"} & tools - own else []
    of_checks = [name for name, check in (("mypy", "types"), ("ruff", "lint")) if check in checks]
    if found.re.groups:
        assert _listed(found) == of_tools + of_checks
    else:
        assert of_checks


def _has_agents(workflow: Workflow, _: re.Match[str]) -> None:
    assert any([*agents_of(node.task)] for node in workflow.program.nodes)


def _restarts(workflow: Workflow, _: re.Match[str]) -> None:
    assert len(workflow.jobs) == 1
    assert not workflow.continues()


def _check_all_is_said(workflow: Workflow, sentences: Sequence[str]) -> None:
    """No call, decision or restart is left out."""
    said = " ".join(sentences)
    assert ("Calls " in said) == any(calls_of(workflow, node) for node in workflow.program.nodes)
    deciding = [node.id for node in workflow.program.nodes if isinstance(node.task, Ask | Gate)]
    told = [
        name
        for line in sentences
        if " decides: " in line or " answers: " in line
        for name in line.split(": ")[1][:-1].split(", ")
    ]
    assert sorted(told) == sorted(deciding)
    assert ("A re-run starts" in said) == (len(workflow.jobs) == 1 and not workflow.continues())


FACTS: list[Kind] = [
    (re.compile(r"Runs on: (.+)\."), _runner),
    (re.compile(r"Environments?: (.+)\."), _environments),
    (re.compile(r"Secrets: (.+)\."), _secrets),
    (re.compile(r"Token: (.+)\."), _token),
    (re.compile(r"Uses on the runner: (.+)\."), _needs),
    (re.compile(r"A check without its program is skipped, and its step can pass\."), _needs),
    (re.compile(r"Agents have the rights of their step: .*\."), _has_agents),
    (re.compile(r"Calls (.+)\."), _calls),
    (re.compile(r"It calls agents at most (\d+) times\."), lambda flow, found: _is(flow.options.agent_calls, found)),
    (re.compile(r"(?:A person|The agent) (?:decides|answers): (.+)\."), _people),
    (re.compile(r"A re-run starts from the beginning\."), _restarts),
]


def _is(number: int | None, found: re.Match[str]) -> None:
    assert str(number) == found[1]


# --- The guide --------------------------------------------------------------------------------------------------------


def _program(workflow: Workflow, found: re.Match[str]) -> None:
    if found[1].startswith("the program"):
        assert any(step["name"] == "Write the program" for job in workflow.jobs.values() for step in job["steps"])
        return
    main = workflow.emission.companions[0]
    assert found[1] == f".github/{main.path.removeprefix('../')}" or found[1].endswith(main.path)


def _has(test: Callable[[Workflow], bool]) -> Check:
    def checker(workflow: Workflow, found: re.Match[str]) -> None:
        assert test(workflow), found[0]

    return checker


def _limit(workflow: Workflow, found: re.Match[str]) -> None:
    given = workflow.options.max_steps
    assert int(found[1]) == (workflow.program.limit if given is None else given)


def _runs_commands(workflow: Workflow) -> bool:
    return any(isinstance(node.task, Shell) for node in workflow.program.nodes)


def _ending(workflow: Workflow, found: re.Match[str]) -> None:
    assert workflow.program.kind == "workflow"
    agents = [agent for node in workflow.program.nodes for agent in agents_of(node.task)]
    assert set(found[1].split(" and ")) == {word for agent in agents for word in agent.reading.excused}
    in_parallel = any(isinstance(node.task, Parallel) for node in workflow.program.nodes)
    assert found[0].endswith("In a parallel step, all agents must give it.") == in_parallel


GUIDE: list[Kind] = [
    (re.compile(r"Each step calls (.+?), which .*(?:`run:`|`env:`).*"), _program),
    (re.compile(r"A run that stops or waits is red\. .*"), _has(Workflow.continues)),
    (
        re.compile(r"A failed run is red\. .*"),
        _has(lambda flow: flow.continues() and flow.program.stepspec is not None),
    ),
    (re.compile(r"A run stops after (\d+) steps\."), _limit),
    (re.compile(r"An answer with (.+) ends the run as COMPLETE at any step: a rule of the format\..*"), _ending),
    (re.compile(r"A step whose command fails stays green if the run continues\. .*"), _has(_runs_commands)),
    (re.compile(r"A prompt starts with its context\. .*"), _has(lambda flow: bool(flow.program.contexts))),
    (re.compile(r"`\{NAME\}` in a prompt is a value of the run\."), _has(lambda flow: flow.program.kind == "workflow")),
    (
        re.compile(r"Deciding needs an environment named `(.+?)` with required reviewers .*"),
        _environments,
    ),
]


# --- Comments in jobs -------------------------------------------------------------------------------------------------


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
    said, _, message = action.partition(' "')
    if isinstance(target.task, End) and message and bare(edge.label) != bare(action):
        return bare(shown(target.task.message)).startswith(bare(message.rstrip('"').rstrip("…")))
    said = re.sub(r"^(?:to|next|GOTO) ", "", said if isinstance(target.task, End) else action)
    ends = isinstance(target.task, End) and said.lower() in (target.task.result, "end")
    return ends or bare(said) in {
        bare(edge.label),
        bare(re.sub("^(?:to|next|GOTO) ", "", edge.label)),
        bare(edge.target),
    }


ABOVE_STEPS = (
    r"Writes a script that (?:turns|ends) .*",
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
    elif not (_of_questions(workflow, text, block) or _of_calls(workflow, text) or _of_conditions(workflow, text)):
        assert bare(text.rstrip("…")) in workflow.prose or _is_start(workflow, text), "unknown comment"


def _is_start(workflow: Workflow, text: str) -> bool:
    return text == "…" or (len(text) > 150 and any(line.startswith(bare(text[:-1])) for line in workflow.prose))


def _of_questions(workflow: Workflow, text: str, block: Blocks) -> bool:
    waits = r"The run waits here\. A person continues it (?:with the answer.*|and chooses one of .*)\."
    asks = rf"asks (?:a person|the agent)|{waits}|A person (?:answers|chooses).*"
    if re.fullmatch(r"`\{.+\}`.* (?:is|are) the numbers? of the instances?\.", text):
        return any(counter.role == "instance" for counter in workflow.program.counters)
    if not re.fullmatch(asks, text):
        return False
    assert block.node is None or isinstance(block.node.task, Ask | Gate)
    assert ("agent" in text) == (workflow.options.prompts == "agent")
    return True


def _of_calls(workflow: Workflow, text: str) -> bool:
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


def _of_conditions(workflow: Workflow, text: str) -> bool:
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
