"""Trials of the GitHub target with act: on this machine, without Docker or GitHub."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from backends.base import Emission
from backends.github import GithubBackend
from backends.github.calling.surroundings import CLOSED
from backends.github.identifiers import SUMMARY
from backends.github.summary import shown_title
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Branch, End, Verdict, alphabet
from compiler.ir.texts import joined
from compiler.regex import Regex
from compiler.yaml_text import load_value
from rdc.trials.act import OPTIONS, REPOSITORY, read_run
from rdc.trials.process import execute, find_tool
from rdc.trials.run import Run, Setting, Step

KEPT = ("env", "setup")
"""The document's options that also apply on this machine."""

ADVICE = (
    "install it from https://github.com/nektos/act or with rdc's extra `act` "
    "(in a checkout of rdc: `uv tool install '.[act]'`), or test another target"
)

ABSENT = Path(__file__).parent / "absent"

_KEEPS_FILES = Regex(r"actions/(?:upload|download)-artifact@.*")
_ROW = Regex(r"^\| (?P<title>.*?) \| (?P<attempt>\d+) \| (?P<word>[^|]*?) \| \d* ?s? ?\|$", re.MULTILINE)
_VERDICTS = {
    word: verdict.value
    for word, verdict in {"PASS": Verdict.PASS, "YES": Verdict.PASS, "FAIL": Verdict.FAIL, "NO": Verdict.FAIL}.items()
}
_VALUE = "\ue000"  # a private character, which no title has
_INSTANCE = Regex(r", instance [\d.]+$")
_HEADING = Regex(r"^### (?P<result>[A-Z]+) ?(?P<message>.*)$", re.MULTILINE)


def run(setting: Setting) -> Run:
    """Run the generated workflow, and read the run from its summary."""
    tool = find_tool("act", advice=ADVICE)
    path = setting.lay("workflow.yml", _workflow(setting), setting.workspace / ".github" / "workflows")
    text = path.read_bytes().decode()
    home = setting.scratch / "home"
    home.mkdir()
    words = [
        f"--directory={setting.workspace}",
        f"--workflows={path}",
        f"--action-cache-path={setting.scratch / 'cache'}",
        *(f"--local-repository={action}={ABSENT}" for action in sorted(_actions(text))),
        *(f"--env={name}={value}" for name, value in REPOSITORY.items()),
        "--secret=GITHUB_TOKEN=none",
    ]
    secrets = setting.secrets
    words += [f"--secret={name}" for name in secrets]  # act takes the values from its environment
    words += [f"--input={name}={value}" for name, value in setting.inputs.items()]
    if setting.replies:
        words.append(f"--input=answers={_as_json(setting.replies)}")
    elif setting.answers:
        words.append(f"--input=answers={'; '.join(setting.answers)}")
    # Act reads options from `.actrc` in the current folder, in HOME and in XDG's folders.
    places = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"), str(home))
    environment = {**secrets, "PATH": os.environ.get("PATH", os.defpath), **places}
    done = execute([tool, "workflow_dispatch", *OPTIONS, *words], home, environment, setting.timeout)
    ran = read_run(done)
    ours = _own_steps(text)
    summary = "".join(said for step, said in ran.summaries if step in ours)  # commands may write summaries, too
    result = _HEADING.search(summary)
    if result is None:
        return Run((), "", (ran.log.strip().splitlines() or ["act printed nothing"])[-1])
    message = re.sub(r"\\(.)", r"\1", result["message"])
    return Run(tuple(_steps(setting.program, summary)), result["result"], message)


def _workflow(setting: Setting) -> Emission:
    kept = {} if setting.is_mock else {key: setting.options[key] for key in KEPT if key in setting.options}
    calls = {"agent": setting.callee, "tools": setting.tools} if setting.callee else {}
    whole = {"checkout": False, "runtime": "inline"} if setting.is_mock else {}
    options = {**kept, **calls, **whole, "python": sys.executable, "summary": True}
    return GithubBackend().emit(setting.program, options)


def _as_json(replies: tuple[tuple[str, str], ...]) -> str:
    steps = dict.fromkeys(step for step, _ in replies)
    return json.dumps({step: [reply for other, reply in replies if other == step] for step in steps})


def _actions(text: str) -> set[str]:
    """Return the actions that store files on GitHub. Trials don't need them, because all answers are given."""
    workflow: Any = load_value(text)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    used = {step["uses"] for step in steps if "uses" in step}
    return {action for action in used if _KEEPS_FILES.fullmatch(action)}


def _own_steps(text: str) -> set[str]:
    """Return the ids of rdc's own steps that write the summary."""
    workflow: Any = load_value(text)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    ours = {"COMPLETE", "STOP", CLOSED}
    return {SUMMARY, *(step["id"] for step in steps if step["name"] in ours and "id" in step)}


def _steps(program: Program, summary: str) -> Iterator[Step]:
    """Yield the rows of the table in a summary."""
    nodes = {node.id: node for node in program.nodes if not isinstance(node.task, Branch | End)}
    steps = {shown_title(node): name for name, node in nodes.items()}
    filled = {_with_any_values(node): name for name, node in nodes.items() if not node.title.is_plain}
    for row in _ROW.finditer(summary):
        title = _INSTANCE.sub("", row["title"])
        with_values = (name for form, name in filled.items() if form.fullmatch(title))
        step = steps.get(row["title"]) or steps.get(title) or next(with_values, title)
        yield Step(step, int(row["attempt"]), _word(nodes.get(step), row["word"]))


def _with_any_values(node: Node) -> re.Pattern[str]:
    """Return the expression for a step's title in a summary, where values replace its references."""
    marked = joined([part if isinstance(part, str) else _VALUE for part in node.title.parts])
    return re.compile(re.escape(shown_title(replace(node, title=marked))).replace(_VALUE, ".*"))


def _word(node: Node | None, shown: str) -> str:
    """Return the outcome in a row. Rows escape characters that are special in Markdown."""
    own = alphabet(node.task) if node else ()
    return next((word for word in own if _bare(word) == _bare(shown)), _VERDICTS.get(shown, shown))


def _bare(text: str) -> str:
    return "".join(re.findall(r"\w", unescape(text)))
