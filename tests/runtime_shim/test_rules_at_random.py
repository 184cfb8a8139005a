"""Rules in runs with random jumps, assumptions, repetitions and kills: each hold is as a model of the trace says."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from compiler.ir.tasks import Ask
from tests.support.process import Result
from tests.support.rules import Flow, Happened, holds_alone, random_program
from tests.support.runtime_programs import Compiled

pytestmark = pytest.mark.process


class Trial:
    """A run of a random program, beside its model."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.chance, self.made = chance, random_program(chance)
        self.place, self.flow = Compiled(folder, self.made), Flow(self.made, self.made.entry)
        self.is_proven, self.acted, self.holds = holds_alone(self.made), False, 0
        self.is_interrupted = self.kills = False

    def proceed(self, *words: str) -> None:
        """Start or continue the run, and compare how it stops."""
        self.expect(self.place.run(*words))

    def expect(self, result: Result) -> None:
        flow = self.flow
        while not flow.is_over and flow.enter():
            if flow.at in ("COMPLETE", "STOP"):
                break
            if isinstance(self.made.index()[flow.at].task, Ask):
                assert (result.code, result.last) == (75, f"rdc: WAITING {flow.at} Step {flow.at}"), result.err
                return
            if self.kills:
                self.kills, self.is_interrupted = False, True
                assert result.code == -9, result.err
                return
            flow.leave("fail" if (self.place.path / f"fail-{flow.at}").exists() else "pass")
        if flow.is_over:
            assert result.code == (0 if flow.at == "COMPLETE" else 1), result.err
            return
        self.held(result)

    def held(self, result: Result) -> None:
        """Compare a hold: its exit code, its rules and its place."""
        flow, self.holds = self.flow, self.holds + 1
        assert result.code == 75, (result.err, flow)
        what = "the run can't end" if flow.at in ("COMPLETE", "STOP") else f"{flow.at} can't start"
        for rule in self.made.rules:
            assert (f"{what}: rule {rule.name} " in result.err) == (rule.name in flow.broken(flow.next_event)), (
                result.err
            )
        assert result.last.startswith(f"rdc: WAITING {flow.at}"), result.err
        assert self.acted or not self.is_proven, "a proven rule holds a run that no operator has touched"

    def act(self) -> None:
        """Take a random action of an operator."""
        flow, chance = self.flow, self.chance
        for name in flow.program.index():
            path = self.place.path / f"fail-{name}"
            path.unlink(missing_ok=True)
            if chance.random() < 0.3:
                path.touch()
        self.kills = chance.random() < 0.5
        (self.place.path / "kill").unlink(missing_ok=True)
        if self.kills:
            (self.place.path / "kill").touch()
        if self.is_interrupted:
            self.decide()
        elif flow.is_over or chance.random() < 0.4:
            self.jump()
        elif flow.is_started:
            word = chance.choice(["pass", "fail"])
            before = flow.at
            flow.leave(word)
            answered = self.place.run("answer", before, word)
            assert answered.code == 0, answered.err
            self.proceed("resume")
        else:
            self.override()

    def decide(self) -> None:
        """Assume an outcome for the interrupted command, or run it again."""
        self.acted, self.is_interrupted = True, False
        word = self.chance.choice(["pass", "fail", ""])
        if word:
            self.flow.leave(word, is_assumed=True)
            self.proceed("resume", "--assume", word)
        else:
            self.flow.is_started = False
            self.proceed("resume", "--rerun-interrupted")

    def jump(self) -> None:
        """Go to a step: refused if a rule forbids it."""
        flow, name = self.flow, self.chance.choice([one.id for one in self.made.nodes if one.id.isdigit()])
        if flow.is_over and flow.at == "COMPLETE":
            return
        self.acted = True
        before = len(self.place.records())
        result = self.place.run("goto", name)
        broken = Flow(self.made, name, flow.trace).broken(Flow(self.made, name).next_event)
        assert result.code == (2 if broken else 0), (result.err, flow)
        if broken:
            assert len(self.place.records()) == before
            return
        flow.at, flow.is_started = name, False
        self.proceed("resume")

    def override(self) -> None:
        """Let the held event pass, with all rules that hold it."""
        flow, self.acted = self.flow, True
        broken = flow.broken(flow.next_event)
        flow.trace.append(Happened(flow.next_event, opens=False))
        flow.is_started = True
        words = [word for name in broken for word in ("--override", name)]
        if flow.at not in ("COMPLETE", "STOP") and not isinstance(self.made.index()[flow.at].task, Ask):
            if self.kills:
                self.kills, self.is_interrupted = False, True
                assert self.place.run("resume", *words, "--note", "so").code == -9
                return
            flow.leave("fail" if (self.place.path / f"fail-{flow.at}").exists() else "pass")
        self.proceed("resume", *words, "--note", "so")


@pytest.mark.parametrize("seed", [*range(16), *(pytest.param(n, marks=pytest.mark.soak) for n in range(16, 400))])
def test_a_run_is_held_as_the_trace_says(tmp_path: Path, seed: int) -> None:
    trial = Trial(tmp_path, random.Random(seed))
    trial.proceed("run")
    for _ in range(10):
        trial.act()
