"""Tests of the GitHub target with act: on this machine, without Docker or GitHub."""

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from backends.base import Emission
from backends.common.identifiers import CLOSED, SUMMARY
from backends.registry import load
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Branch, End, Verdict, alphabet
from compiler.ir.texts import text
from compiler.reading.yaml import load_value
from compiler.text.regex import Regex
from rdc.testing.process import Finished, execute, find_tool
from rdc.testing.run import Run, Setting, Step

KEPT = ("env", "setup")
"""The document's options that also apply on this machine."""

ADVICE = (
    "install it from https://github.com/nektos/act or with rdc's extra `act` "
    "(in a checkout of rdc: `uv tool install '.[act]'`), or test another target"
)

OURS = {"COMPLETE", "STOP", CLOSED}
"""The first words of rdc's own steps that write the summary."""

ABSENT = Path(__file__).parent / "absent"

# Without these, act needs a Git repository. SHA_REF sets `github.sha`.
REPOSITORY = {"GITHUB_REPOSITORY": "owner/repository", "GITHUB_REF": "refs/heads/main", "SHA_REF": "0123456789" * 4}

OPTIONS = (
    "--json",
    "--verbose",  # needed to see skipped steps
    "--platform=ubuntu-latest=-self-hosted",
    "--platform=ubuntu-24.04=-self-hosted",
    "--container-daemon-socket=-",
    "--no-cache-server",
    *(f"--{kind}-file=/dev/null" for kind in ("env", "input", "secret", "var")),
)

Event = dict[str, Any]

_KEEPS_FILES = Regex(r"actions/(?:upload|download)-artifact@.*")
_ROW = Regex(r"^\| (?P<title>.*?) \| (?P<attempt>\d+) \| (?P<word>[^|]*?) \| \d* ?s? ?\|$", re.MULTILINE)
_REPORTED = Regex(
    r"^\| \d[-\d: ]+ \| (?P<title>[^|]*?)(?:, instance [\d.]+)?(?:, attempt (?P<attempt>\d+))? \| "
    r"\**(?P<word>[^|*,]*)\**(?:, [^|]*)? \| [^|]+ \| [^|]* \|$",
    re.MULTILINE,
)
"""A row of a run's report, which workflows that call the program show."""

_VERDICTS = {"YES": Verdict.PASS.value, "NO": Verdict.FAIL.value}
_VALUE = "\ue000"  # a private character, which no title has
_INSTANCE = Regex(r", instance [\d.]+$")
_HEADING = Regex(r"^### (?P<result>[A-Z]+) ?(?P<message>.*)$", re.MULTILINE)


def run(setting: Setting) -> Run:
    """Run the generated workflow, and read the run from its summary."""
    tool = find_tool("act", advice=ADVICE)
    path = setting.lay("workflow.yml", _workflow(setting), setting.workspace / ".github" / "workflows")
    workflow: Any = load_value(path.read_bytes().decode())
    # act gives a step without an id its number in the job.
    named = [
        (part.get("id", str(at)), part) for job in workflow["jobs"].values() for at, part in enumerate(job["steps"])
    ]
    # Trials don't need the actions that store files on GitHub, because all answers are given.
    storing = {part["uses"] for _, part in named if _KEEPS_FILES.fullmatch(part.get("uses", ""))}
    home = setting.scratch / "home"
    home.mkdir()
    # Act reads options from `.actrc` in the current folder, in HOME and in XDG's folders.
    places = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"), str(home))
    environment = {**setting.secrets, "PATH": os.environ.get("PATH", os.defpath), **places}
    absent = (f"--local-repository={action}={ABSENT}" for action in sorted(storing))
    command = [tool, "workflow_dispatch", *OPTIONS, f"--workflows={path}", *absent, *_words(setting)]
    done = execute(command, home, environment, setting.timeout)
    ours = {SUMMARY, *(name for name, part in named if part["name"].partition(":")[0] in OURS)}
    summary = "".join(
        printed for step, printed in summaries(events_of(done.out)) if step in ours
    )  # commands write them, too
    result = _HEADING.search(summary)
    if result is None:
        return Run((), "", (log_of(done).strip().splitlines() or ["act printed nothing"])[-1])
    return Run(tuple(_steps(setting.program, summary)), result["result"], _plain(result["message"]))


def _words(setting: Setting) -> Iterator[str]:
    yield from (f"--directory={setting.workspace}", f"--action-cache-path={setting.scratch / 'cache'}")
    yield from (f"--env={name}={value}" for name, value in REPOSITORY.items())
    yield "--secret=GITHUB_TOKEN=none"
    yield from (f"--secret={name}" for name in setting.secrets)  # act takes the values from its environment
    yield from (f"--input={name}={value}" for name, value in setting.inputs.items())
    if setting.replies or setting.answers[0]:
        yield f"--env=RDC_REPLIES={setting.write_answers()}"


def _workflow(setting: Setting) -> Emission:
    stored = {} if setting.is_mock else {key: setting.options[key] for key in KEPT if key in setting.options}
    calls = {"agent": setting.mocks.get(""), "tools": setting.tools}
    whole = {"checkout": False, "runtime": "inline"} if setting.is_mock else {}
    options = {**stored, **calls, **whole, "prompts": "answers", "python": sys.executable, "summary": True}
    return load("github").emit(setting.program, options)


def _steps(program: Program, summary: str) -> Iterator[Step]:
    nodes = {node.id: node for node in program.nodes if not isinstance(node.task, Branch | End)}
    steps = {title: name for name, title in _titles(program).items() if name in nodes}
    filled = {
        re.compile(re.escape(title).replace(_VALUE, ".*")): name
        for name, title in _titles(program, _VALUE).items()
        if name in nodes
    }
    for row in _ROW.finditer(summary):
        whole = _plain(row["title"])
        title = _INSTANCE.sub("", whole)
        with_values = (name for form, name in filled.items() if form.fullmatch(title))
        step = steps.get(whole) or steps.get(title) or next(with_values, title)
        yield Step(step, int(row["attempt"]), _word(nodes.get(step), row["word"]))

    for row in _REPORTED.finditer(summary):
        title = unescape(row["title"]).replace("\u200b", "").replace("\\", "")
        step = max((name for name in nodes if f"{title} ".startswith(f"{name} ")), key=len, default=title)
        yield Step(step, int(row["attempt"] or 1), _word(nodes.get(step), row["word"]))


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _titles(program: Program, value: str = "") -> dict[str, str]:
    """Return the titles of steps in a summary; with a value, of those with references, which have it instead."""
    if value:
        nodes = [node for node in program.nodes if not node.title.is_plain]
        titles = ["".join(part if isinstance(part, str) else value for part in node.title.parts) for node in nodes]
        titled = (replace(node, title=text(title)) for node, title in zip(nodes, titles, strict=True))
        program = replace(program, nodes=tuple(titled))
    return {name: _plain(shown) for name, shown in load("github").shown_steps(program).items()}


def _word(node: Node | None, shown: str) -> str:
    """Return the outcome in a row. Rows have capital letters, and escape characters that are special in Markdown."""
    own = alphabet(node.task) if node else ()
    return next((word for word in own if _bare(word.upper()) == _bare(shown)), _VERDICTS.get(shown, shown))


def _bare(text: str) -> str:
    return "".join(re.findall(r"\w", unescape(text)))


def events_of(output: str) -> list[Event]:
    """Return the lines of act, which must be called with `OPTIONS`, as events. All but the last ones are JSON."""
    lines = filter(None, output.split("\n"))
    return [json.loads(line) if line.startswith("{") else {"level": "error", "msg": line} for line in lines]


def summaries(events: Sequence[Event]) -> list[tuple[str, str]]:
    """Return the text that steps wrote to `$GITHUB_STEP_SUMMARY`, each with the id of its step."""
    return [(event["stepID"][0], event["content"]) for event in events if event.get("command") == "summary"]


def log_of(done: Finished) -> str:
    """Return the log for people, without colors, and without complaints about Docker or a missing repository."""
    message = [event for event in events_of(done.out) if event["level"] != "debug"]
    message += [event for event in events_of(done.err) if event["level"] == "error"]
    texts = [str(event["raw"] if "raw" in event else event["msg"]) for event in message]
    return "".join(click.unstyle(text).removesuffix("\n") + "\n" for text in texts)
