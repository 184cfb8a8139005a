"""An agent that knows nothing except the text of a skill follows it to the end of the run, and can do nothing else."""

import json
import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.conftest import ROOT
from tests.support import warm
from tests.support.cli import call
from tests.support.runbooks import command, question

pytestmark = pytest.mark.process

MOST = 60
"""The most rounds of an agent, which a loop must not reach."""

FIX = (
    '---\nrdc:\n  inputs:\n    word: {}\n  steps: {"2": {by: agent}}\n---\n\n# Fix\n\n'
    + question("1. Does {{word}} fit?", "Look.", "YES: CONTINUE", 'NO: STOP "no"')
    + command("2. Write it", 'grep -q "$word" greeting.txt', 'FAIL: RETRY 2 STOP "wrong"', text="Write {{word}}.")
    + command("3. Show it", "cat greeting.txt", 'PASS: COMPLETE "done"')
)

Work = Callable[[str, str, int], str]
"""What an agent answers to a step, its text and the number of its attempt."""


class Done(NamedTuple):
    code: int
    out: str
    err: str


class Follower:
    """The scripted agent. All that it runs is in the skill, with the words in capitals filled in."""

    def __init__(self, folder: Path, work: Work) -> None:
        self.folder, self.work, self.skill = folder, work, folder / ".agents/skills/work"
        text = (self.skill / "SKILL.md").read_text(encoding="utf-8")
        (way,) = (part for part in text.split("\n\n") if part.startswith("Without them: "))
        self.opening, *more = re.findall("`([^`]+)`", way.replace("\n", " "))
        self.status, self.step, self.answer = (found.removeprefix("… ") for found in more if found.startswith("… "))
        self.program = shlex.split(self.opening)[:2]
        assert self.program[0] == "python3"
        self.persons: list[str] = []

    def call(self, words: str, given: str = "", **env: str) -> Done:
        """Run the program in the folder of the project, as an agent does."""
        called = [sys.executable, str(self.skill / self.program[1]), *shlex.split(words.partition(" < ")[0])]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("RDC_")}
        env = {**clean, "AI_AGENT": "1", **env}
        done = warm.run(called, cwd=self.folder, env=env, input=given.encode())
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def facts(self) -> Any:
        return json.loads(self.call(self.status).out)

    def open(self, **inputs: str) -> None:
        words = " ".join(shlex.split(self.opening)[2:])
        for name, value in inputs.items():
            assert f"{name}=VALUE" in words
            words = words.replace(f"{name}=VALUE", shlex.quote(f"{name}={value}"))
        assert self.call(words).code == 0

    def follow(self) -> Any:
        """Do what the skill asks for until the run is over or a person must act."""
        for _ in range(MOST):
            facts = self.facts()
            now = facts["current"]
            if facts["state"] in ("complete", "stop"):
                return facts
            filled = (self.step, self.answer)
            step, answer = (each.replace("AT", facts["at"]).replace("STEP", now["step"]) for each in filled)
            done = self.call(step)
            if now["by"] == "person":
                self.persons.append(done.err)
                return facts
            if now["by"] == "agent":
                names = [entry["entry"] for entry in now["entries"]] or [now["step"]]
                texts = [entry["text"] for entry in now["entries"]] or [now["text"]]
                for name, text in zip(names, texts, strict=True):
                    words = answer.replace(f"answer {now['step']}", f"answer {name}")
                    said = self.call(words, self.work(name, text, now["attempt"]))
                    assert said.code in (0, 75), said.err
        raise AssertionError("the run does not end")

    def person(self) -> None:
        """Let a person run the first command that the agent shows."""
        shown = next(line for line in self.persons[-1].splitlines() if "work.py " in line)
        assert self.call(shown.partition("work.py ")[2], AI_AGENT="").code in (0, 75)


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Follower]:
    """Compiles a document to a skill, and returns an agent for it."""

    def make(text: str, work: Work = lambda *_: "done", name: str = "work.runbook.md") -> Follower:
        (tmp_path / "rdc.toml").touch()
        (tmp_path / name).write_text(text, encoding="utf-8")
        done = call("compile", name, "--to", "skill", "-o", ".agents/skills/work/SKILL.md", cwd=tmp_path)
        assert done.code == 0, done.err
        return Follower(tmp_path, work)

    return make


def test_an_agent_follows_a_runbook_to_its_end(made: Callable[..., Follower], tmp_path: Path) -> None:
    prompts: list[str] = []

    def work(_step: str, text: str, attempt: int) -> str:
        prompts.append(text)
        (tmp_path / "greeting.txt").write_text("hello" if attempt > 1 else "bye", encoding="utf-8")
        return "written"

    agent = made(FIX, work)
    agent.open(word="hello")
    assert agent.follow()["current"]["by"] == "person"
    (journal,) = tmp_path.glob(".rdc/*/journal")
    before = journal.read_bytes()
    for refused in ("answer 1 yes --at 0:1", "goto 3", "answer 2/do - --at 0:1", "step 2/do --at 0:1"):
        assert agent.call(refused, "yes\n").code in (2, 75)  # 75: the run waits for a person at another step
    assert journal.read_bytes() == before
    (shown,) = agent.persons
    assert "answer 1 yes" in shown
    assert agent.call("answer 1 yes", AI_AGENT="").code == 0
    facts = agent.follow()
    assert (facts["state"], facts["message"]) == ("complete", "done")
    assert [(one["step"], one["outcome"]) for one in facts["finished"]] == [
        ("1", "pass"),
        *[("2/do", "pass"), ("2", "fail"), ("2/do", "pass"), ("2", "pass")],
        ("3", "pass"),
    ]
    assert prompts == ["Write it\n\nWrite hello."] * 2


@pytest.mark.parametrize("name", ["security-audit", "plan-and-build"])
def test_an_agent_follows_a_workflow_with_parallel_steps_and_gates(made: Callable[..., Follower], name: str) -> None:
    folder = ROOT / "examples" / "workflows"
    scenario = next(iter(yaml.safe_load((folder / f"{name}.scenarios.yaml").read_text(encoding="utf-8")).values()))
    left = {step: [said] if isinstance(said, str) else list(said) for step, said in scenario["agents"].items()}
    text = (folder / f"{name}.workflow.yaml").read_text(encoding="utf-8")
    agent = made(text, lambda step, _text, _attempt: left[step].pop(0), "work.workflow.yaml")
    agent.open()
    while (facts := agent.follow())["state"] not in ("complete", "stop"):
        agent.person()
    assert facts["state"] == scenario["result"].lower()
    assert not any(left.values())
