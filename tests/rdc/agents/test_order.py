"""The order holds against any client: many at once, late ones, and one that calls at random."""

import json
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest
from mcp.types import ElicitRequestFormParams, ElicitResult

from compiler.driver import compile_file
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import Agent, Ask, Parallel
from compiler.passes import optimize
from tests.support.agents import MODES, FormReply, Host, Table, accepted, connected, drive, finish, serve

pytestmark = pytest.mark.process

LOOP = """# Loop
## 1. Count
```bash
echo again >> count
```
## 2. Repeat
```bash
true
```
- PASS: GOTO 1
"""
RUN = "loop.runbook.md@mcp"


def test_many_clients_run_a_step_once(tmp_path: Path, is_whole: bool) -> None:
    serve(tmp_path, "loop.runbook.md", LOOP)
    rounds = 20 if is_whole else 2

    async def act() -> None:
        async with (
            connected(tmp_path) as first,
            connected(tmp_path, mode=MODES[1]) as second,
            connected(tmp_path) as third,
            connected(tmp_path, mode=MODES[1]) as fourth,
        ):
            place = (await first.call("start", document="loop.runbook.md"))["at"]
            for number in range(rounds):
                async with anyio.create_task_group() as group:
                    for host in (first, second, third, fourth):
                        group.start_soon(partial(host.raw, "next", run=RUN, at=place))
                place = (await first.call("status", run=RUN))["at"]
                assert place == f"{number + 1}:{2 - number % 2}"
                assert (tmp_path / "count").read_text() == "again\n" * (number // 2 + 1)

    finish(act())


def some_document(draw: random.Random, *, has_agents: bool) -> tuple[str, str]:
    """Return the name and text of a document with commands and questions, or with agents."""
    count = draw.randint(2, 4)
    if has_agents:
        steps = "\n".join(_of_workflow(draw, number, count) for number in range(count))
        return "some.workflow.yaml", f"name: some\nsteps:\n{steps}\n"
    return "some.runbook.md", "# Some\n\n" + "\n".join(_of_runbook(draw, n, count) for n in range(1, count + 1))


def _of_workflow(draw: random.Random, number: int, count: int) -> str:
    if number == count - 1:
        return f"  - name: s{number}\n    prompt: Say it.\n    end: true"
    prompt = "prompt: End with PASSED or FAILED."
    entries = "".join(f"      - agent: {name}\n        {prompt}\n" for name in "ab")
    asks = f"    parallel:\n{entries}    check: all\n" if draw.random() < 0.5 else f"    {prompt}\n"
    report = f'    report:\n      name: r{number}\n      format: Text\n      validation: "PASSED|FAILED"\n'
    goes = (("FAILED", draw.randrange(count)), ("PASSED", number + 1))
    conditions = "".join(f"\n      - keyword: {word}\n        goto: s{to}" for word, to in goes)
    return f"  - name: s{number}\n{asks}{report}    conditions:{conditions}"


def _of_runbook(draw: random.Random, number: int, count: int) -> str:
    others = [f"GOTO {other}" for other in range(1, count + 1) if other != number]
    good, bad = draw.choice(["CONTINUE", "COMPLETE", *others]), draw.choice(["STOP", "CONTINUE", "RETRY 1", *others])
    if draw.random() < 0.5:
        return f"## {number}. Is it {number}?\n\n- YES: {good}\n- NO: {bad.replace('RETRY 1', 'STOP')}\n"
    command = draw.choice(["true", "false"])
    return f"## {number}. Do {number}\n\n```bash\n{command}\n```\n\n- PASS: {good}\n- FAIL: {bad}\n"


NO_REPLY = [ElicitResult(action="decline"), ElicitResult(action="cancel"), ElicitResult(action="accept", content={})]


async def call_at_random(host: Host, draw: random.Random, document: str, calls: int) -> None:
    """Call tools with the current place or another one, for the right actor or a wrong one."""
    shown: Table = {"at": "0:1"}
    for _ in range(calls):
        step = shown.get("step", {})
        entry = draw.choice([*(one["entry"] for one in step.get("entries", ())), ""])
        place = draw.choice([shown.get("at", ""), shown.get("at", ""), shown.get("at", ""), "0:1", "1:2", "9:s9", ""])
        about = {"run": f"{document}@mcp", "at": place}
        right = "report" if step.get("by") == "agent" else "next"
        name = draw.choice([right, right, right, "next", "report", "start", "status"])
        about_answer = {"answer": draw.choice(["PASSED", "FAILED", "?", ""]), "entry": entry}
        wanted = {"start": {"document": document}, "status": {"run": about["run"]}, "report": {**about, **about_answer}}
        result = await host.raw(name, **wanted.get(name, about))
        if not result.is_error:
            shown = result.structured_content


def archived_too(folder: Path) -> Iterator[list[Table]]:
    """Yield the records of each run: `start` archives a run that is over."""
    for path in [*folder.glob(".rdc/*@mcp/journal"), *folder.glob(".rdc/*@mcp/history/*[!.]*")]:
        if path.is_file() and path.suffix == "":
            yield [json.loads(line.partition(" ")[2]) for line in path.read_text().splitlines()]


def stays_on_a_path(machine: Machine, run: list[Table]) -> int:
    """Replay a run, and return how many questions a person has answered."""
    state, asked = machine.start(), 0
    for record in (one for one in run if one["kind"] == "done"):
        node = machine.nodes[state.node]
        assert record["node"] == node.id
        by = record.get("by", "")
        if isinstance(node.task, Ask):
            assert by.endswith("via tester (form)")
            asked += 1
        assert (by == "tester (agent)") == isinstance(node.task, Agent | Parallel)
        state = machine.advance(state, Outcome(record["outcome"])).state
        assert record["next"] == state.node
    return asked


@pytest.mark.share(40)
@pytest.mark.parametrize("seed", range(40))
def test_a_random_client_stays_on_a_path(tmp_path: Path, seed: int, is_whole: bool) -> None:
    """It passes no question without a recorded person."""
    draw = random.Random(seed)
    document, text = some_document(draw, has_agents=seed >= 20)
    serve(tmp_path, document, text)
    replies: list[FormReply] = []

    def form(_params: ElicitRequestFormParams) -> FormReply:
        replies.append(draw.choice([accepted("yes"), accepted("no"), accepted("maybe"), *NO_REPLY]))
        return replies[-1]

    async def act(host: Host) -> None:
        await host.call("start", document=document)
        await call_at_random(host, draw, document, 40 if is_whole else 12)

    drive(tmp_path, act, "--forms", mode=MODES[seed // 20 - 1], form=form)
    program = compile_file(str(tmp_path / document)).program
    assert program
    machine = Machine(optimize(program))
    asked = sum(stays_on_a_path(machine, run) for run in archived_too(tmp_path))
    assert asked == sum(reply in (accepted("yes"), accepted("no")) for reply in replies)
