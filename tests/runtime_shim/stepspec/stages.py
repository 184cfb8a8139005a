"""Programs with a contract for the tests: one step, with the stages that a test asks for (I32)."""

import json
import math
import os
import signal
import time
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from compiler.ir.edges import Add, CounterTest, Edge, OutcomeTest
from compiler.ir.program import Counter, Group, Node, Program, Slot, SourceFile, SpecifiedStep, StepSpecs
from compiler.ir.tasks import Check, End, Stage
from compiler.ir.texts import Reference, Text, text
from compiler.ir.verify import verify
from runtime_shim.stepspec.attempt import Stages
from runtime_shim.tasks.process import Ended, Processes
from tests.support.runtime_programs import ORIGIN, Compiled, edge, node, of

STEP = "draft"
EVERYTHING: Any = ("exists", "parses", "ast", "types", "lint")


def stepspec(
    *stages: Stage, config: dict[str, Any] | None = None, retries: int = 0, slots: dict[str, str] | None = None,
    secrets: tuple[str, ...] = (), **spec: Any,
) -> Program:  # fmt: skip
    """A program of one step with these stages, in order; it begins again at the first one while there are retries."""
    names = [name_of(stage) for stage in stages]
    counter = f"{STEP} retries"
    nodes = []
    for stage, name, after in zip(stages, names, (*names[1:], "COMPLETE"), strict=True):
        again = Edge((OutcomeTest("fail"), CounterTest(counter, "<", retries)), (Add(counter, 1),), names[0], ())
        nodes.append(node(name, stage, edge(after, "pass"), again, edge("STOP"), group=STEP, retries=counter))
    whole = {"id": STEP, "name": "draft-prd", "description": "Write the draft", "inputs": {}, "outputs": [], **spec}
    ends = (
        Node("COMPLETE", Text(), ORIGIN, End("complete", text("all done")), ()),
        Node("STOP", Text(), ORIGIN, End("stop", text("step draft failed")), ()),
    )
    steps = (SpecifiedStep(STEP, with_references(json.dumps(whole))),)
    made = Program(
        "deploy", "Deploy", (SourceFile("deploy.json", "0"),), names[0], (*nodes, *ends),
        counters=(Counter(counter, STEP),), groups=(Group(STEP, text("draft-prd"), Text(), "step", "", ORIGIN),),
        stepspec=StepSpecs('{"module": "bmm", "workflow": "prd"}', steps, json.dumps(config or {})),
        kind="specification", slots=tuple(Slot(name, value) for name, value in (slots or {}).items()), secrets=secrets,
    )  # fmt: skip
    verify(made)
    return made


def with_references(written: str) -> Text:
    """A text with a reference for each `{folder}`."""
    *parts, last = written.split("{folder}")
    return of(*(piece for part in parts for piece in (part, Reference("folder", "{folder}"))), last)


def name_of(stage: Stage) -> str:
    """The name of a stage's node."""
    return STEP if stage.stage == "execute" else f"{STEP}/{stage.subject if stage.stage == 'tool' else stage.stage}"


def stage(kind: Any, *paths: str, subject: str = "", place: int = 0, checks: tuple[Check, ...] = ()) -> Stage:
    """A stage of the step."""
    return Stage(kind, STEP, subject, place, tuple(map(with_references, paths)), checks)


EXECUTE = stage("execute")


def found(place: Compiled, step: str) -> list[dict[str, Any]]:
    """What the records of a step keep, in order."""
    return [one.get("found", {}) for one in place.records() if one["kind"] == "done" and one["node"] == step]


def compiled(path: Path, *stages: Stage, **more: Any) -> Compiled:
    """A place with such a program."""
    return Compiled(path, stepspec(*stages, **more))


class Polled(Processes):
    """Processes that are waited for without signals, which other threads of the tests would take."""

    def __init__(self) -> None:
        """Need nothing of a run."""

    def spawn(
        self, path: str, words: list[bytes], environment: Mapping[bytes, bytes], files: Sequence[Any] = ()
    ) -> int:
        return os.posix_spawnp(path, words, environment, file_actions=files, setpgroup=0)

    def watch(
        self, groups: Sequence[int], seconds: int = 0, ended: Ended = lambda _index, _code: None
    ) -> list[int | None]:
        (group,), deadline = groups, time.monotonic() + (seconds or math.inf)
        pid, status = 0, 0
        while not pid and time.monotonic() < deadline:
            time.sleep(0.002)
            pid, status = os.waitpid(group, os.WNOHANG)
        if not pid:
            os.killpg(group, signal.SIGKILL)
            os.waitpid(group, 0)
        code = os.waitstatus_to_exitcode(status) if pid else None
        ended(0, code)
        return [code]


def direct(root: Path, seconds: float = 60, **program: Any) -> Stages:
    """What the functions of stages need of the performer, without a run: to call them directly."""
    ends = time.monotonic() + seconds

    def left(most: float = math.inf) -> int:
        return max(math.ceil(min(ends - time.monotonic(), most)), 0)

    about: Any = types.SimpleNamespace(
        root=str(root),
        processes=Polled(),
        session=types.SimpleNamespace(program=program),
        seconds_left=left,
        time_limit=lambda most=math.inf: Stages.time_limit(about, most),
    )
    return cast("Stages", about)
