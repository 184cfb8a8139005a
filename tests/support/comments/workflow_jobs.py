"""The comments of a workflow, compared with what runs. A comment of an unknown kind is an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from backends.github.yaml.pins import pins
from compiler.ir.program import Node
from compiler.ir.tasks import Ask, Gate
from runtime_shim.targets.naming import name_in_words
from tests.support.comments.workflow import Comment, Step, Workflow, bare, comments_of, shown
from tests.support.comments.workflow_calls import (
    Blocks,
    fits,
    is_of_calls,
    is_of_conditions,
    is_of_questions,
    is_start,
    paths,
)
from tests.support.comments.workflow_header import check_header

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
