"""Workers that are killed again and again."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator

from benchmarks.workers.fleet import Fleet, WorkerProcess
from benchmarks.workers.places import KINDS, Found, Place, Runs

STEPS = 6
SECONDS = 0.3
"""How long a step takes: most kills hit one."""

DOCUMENT = "# Kills\n\n" + "".join(
    f"## {n}. S\n\n```bash\necho $RDC_RUN_ID {n} starts >> steps\nsleep {SECONDS}\n"
    f"echo $RDC_RUN_ID {n} ends >> steps\n```\n\n"
    for n in range(1, STEPS + 1)
)


def kills(at: Place, count: int = 200, every: float = 1.1) -> Iterator[Found]:
    """Kill one of several workers, replace it, and let a person repeat the interrupted steps.

    The moments are spread at random. Each worker lives long enough to take over legs: that takes longer in PostgreSQL.
    """
    for kind, workers in zip(KINDS, (6, 10), strict=True):
        with at.fleet(kind, "kills") as fleet:
            yield from (Found(f"{kind}: {one.what}", one.figure) for one in _kills(fleet, count, workers, every))


class Answering:
    """A person who lets interrupted steps run again."""

    def __init__(self, fleet: Fleet, runs: Runs) -> None:
        self._fleet, self._runs = fleet, runs
        self._asked: dict[tuple[str, int], float] = {}
        self.repeats: Counter[tuple[str, str]] = Counter()

    def __call__(self) -> None:
        """Answer for each leg that was interrupted."""
        if not self._fleet.nursery:
            raise RuntimeError("no nursery")
        for leg in self._runs.legs.newest():
            if leg.result.get("state") != "interrupted" or (leg.run, leg.number) in self._asked:
                continue
            self._asked[leg.run, leg.number] = time.monotonic()
            step = self._step(leg.run)
            self.repeats[leg.run, step] += 1
            words = [str(self._fleet.script), "answer", leg.run, step, "rerun"]
            log = self._fleet.folder / f"answer-{len(self._asked)}.log"
            self._fleet.nursery.start(words, self._fleet.folder, log, self._fleet.environment)

    def _step(self, run: str) -> str:
        finished = self._runs.finished(run)
        return str(int(finished[-1]) + 1) if finished else "1"


def one_more(fleet: Fleet) -> WorkerProcess:
    """Start a worker for one run at a time."""
    return fleet.worker("--jobs", "1", poll="0.1", ready=False)


def _kills(fleet: Fleet, count: int, workers: int, every: float) -> Iterator[Found]:
    chance = random.Random(7)
    fleet.compile(DOCUMENT)
    runs = Runs(fleet)
    alive: list[WorkerProcess] = [one_more(fleet) for _ in range(workers)]
    answer, started, since = Answering(fleet, runs), 1, time.monotonic()
    for number in range(count):
        if sum(state in ("queued", "running") for state in runs.states().values()) < 2 * workers:
            runs.start([f"r{started + one}" for one in range(workers)])
            started += workers
        answer()
        time.sleep(max(0.0, since + (number + chance.random()) * every - time.monotonic()))
        alive.pop(0).kill()
        alive.append(one_more(fleet))
    states = runs.until_over(90, answer)
    took = time.monotonic() - since
    starts: Counter[tuple[str, str]] = Counter()
    for line in fleet.lines("steps"):
        run, step, what = line.split(" ")
        starts[run, step] += what == "starts"
    twice = sum(max(Counter(runs.finished(run)).values(), default=0) > 1 for run in states)
    unasked = {each: more for each, more in starts.items() if more > 1 + answer.repeats[each]}
    left = fleet.left()
    yield Found("kills -9", f"{count} in {took:.0f} s, {workers} workers")
    yield Found("runs complete", f"{sum(state == 'complete' for state in states.values())} of {len(states)}")
    yield Found("steps interrupted, and repeated by a person", str(sum(answer.repeats.values())))
    yield Found("runs with a step that is recorded twice", str(twice))
    yield Found("steps started twice unasked", f"{len(unasked)} {unasked or ''}".strip())
    yield Found("runs with a step left out", str(sum(len({*runs.finished(run)}) != STEPS for run in states)))
    for worker in alive:
        worker.kill()
    time.sleep(2.5)
    yield Found("processes left 2.5 s after the last kill", f"{len(fleet.left())} (before: {len(left)})")
