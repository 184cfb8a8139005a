"""Steps per second, and the cost of a step beside its parts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.document import commands
from benchmarks.stepping import compiled
from benchmarks.workers.fleet import Fleet, until
from benchmarks.workers.places import KINDS, Found, Place, Runs

BARE = """
import os, sys
from dbos import DBOS, DBOSConfiguredInstance, DBOSPortableJSONSerializer
url, folder, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
if url.startswith("sqlite"):
    import sqlite3
    sqlite3.connect(url.partition("///")[2]).execute("PRAGMA journal_mode = WAL")
DBOS(config={"name": "bare", "system_database_url": url, "serializer": DBOSPortableJSONSerializer(),
             "log_level": "CRITICAL", "use_listen_notify": False})

def one():
    child = os.posix_spawn("/bin/bash", ["bash", "-c", "true"], os.environ)
    return str(os.waitpid(child, 0)[1])

@DBOS.workflow(name="bare")
def bare():
    for _ in range(steps):
        DBOS.run_step({"name": "one"}, one)

DBOS.launch()
print(flush=True)
for line in sys.stdin:
    bare()
    print(flush=True)
"""
"""A workflow of DBOS whose steps run `bash -c true`; each line of input runs it once."""


def speed(at: Place, steps: int = 50, rounds: int = 9, seconds: float = 60.0) -> Iterator[Found]:
    """Measure a step beside a bare one, and how many steps some workers run in a second."""
    for kind in KINDS:
        yield from (Found(f"{kind}: {one.what}", one.figure) for one in _step(at, kind, steps, rounds))
    yield _target(at.folder, steps)
    for kind in KINDS:
        for count in (1, 2, 4):
            with at.fleet(kind, f"speed{count}") as fleet:
                yield Found(f"{kind}: steps a second, {count} workers", _many(fleet, count, steps, seconds))


def _step(at: Place, kind: str, steps: int, rounds: int) -> Iterator[Found]:
    """Compare a step of a worker with a bare step, in turns. Both are timed by the rows that DBOS writes."""
    with at.fleet(kind, "step") as fleet:
        fleet.compile(commands(steps))
        (at.folder / f"bare-{kind}").mkdir()
        url = at.database(kind, "bare")
        bare = subprocess.Popen(
            [sys.executable, "-c", BARE, url, str(fleet.folder), str(steps)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        try:
            yield from _compared(fleet, bare, url, steps, rounds)
        finally:
            bare.kill()
            bare.wait()


def _compared(fleet: Fleet, bare: subprocess.Popen[str], url: str, steps: int, rounds: int) -> Iterator[Found]:
    if not bare.stdin or not bare.stdout:
        raise RuntimeError("no pipes")
    bare.stdout.readline()
    fleet.worker("--jobs", "1")
    runs = Runs(fleet)
    fleet.until("model", "complete", seconds=60)
    ours, theirs = [], []
    for number in range(rounds):
        bare.stdin.write("\n")
        bare.stdin.flush()
        bare.stdout.readline()
        runs.start([f"r{number}"])
        until(lambda name=f"r{number}": fleet.state(name) == "complete", 60, 0.1)  # type: ignore[misc]
        theirs.append(_per_step(url, steps, "bare"))
        ours.append(_per_step(fleet.url, steps, "leg"))
    bash = _bash(200)
    ratio = median(one / two for one, two in zip(ours, theirs, strict=True))
    yield Found("a step of a worker", f"{1000 * median(ours):.2f} ms")
    yield Found("a bare step of DBOS with bash -c true", f"{1000 * median(theirs):.2f} ms")
    yield Found("only bash -c true", f"{1000 * bash:.2f} ms")
    yield Found(f"ratio, the median of {rounds} pairs (at most 1.5)", f"{ratio:.2f}")


def _per_step(url: str, steps: int, name: str) -> float:
    """Return the seconds between the ends of the first and the last step of the newest workflow, by their number."""
    from runtime_shim.targets.dbos.legs import Legs  # noqa: PLC0415

    legs = Legs(url, "")
    rows = legs.rows(
        "SELECT completed_at_epoch_ms FROM operation_outputs WHERE workflow_uuid = (SELECT workflow_uuid FROM"
        " workflow_status WHERE name = ? ORDER BY created_at DESC LIMIT 1) ORDER BY function_id",
        name,
    )
    legs.close()
    ends = [row[0] for row in rows][:steps]
    return float(ends[-1] - ends[0]) / 1000 / (len(ends) - 1)


def _bash(count: int) -> float:
    """Return the seconds that `bash -c true` takes."""
    since = time.perf_counter()
    for _ in range(count):
        os.waitpid(os.posix_spawn("/bin/bash", ["bash", "-c", "true"], os.environ), 0)
    return (time.perf_counter() - since) / count


def _target(folder: Path, steps: int) -> Found:
    """Run the Python target's program of the same steps, several times."""
    source = folder / "steps.runbook.md"
    source.write_text(commands(steps), encoding="utf-8")
    program, took = compiled(source, folder / "steps.py"), []
    for number in range(5):
        where = folder / f"python-{number}"
        where.mkdir()
        since = time.perf_counter()
        subprocess.run([sys.executable, str(program), "run"], cwd=where, check=True, capture_output=True)
        took.append((time.perf_counter() - since) / steps)
    return Found("python target: steps a second, one run, with its start", f"{1 / median(took):.0f}")


def _many(fleet: Fleet, count: int, steps: int, seconds: float) -> str:
    """Return how many steps some workers run in a second, with eight runs at each."""
    fleet.compile(commands(steps))
    workers = [fleet.worker("--jobs", "8", poll="0.1")]
    runs = Runs(fleet)
    fleet.until("model", "complete", seconds=60)
    workers += [fleet.worker("--jobs", "8", poll="0.1") for _ in range(count - 1)]
    names = [f"r{number}" for number in range(24)]
    since = time.monotonic()
    runs.start(names)
    query = "SELECT COUNT(*) FROM workflow_status WHERE status = 'SUCCESS'"
    try:
        until(lambda: runs.legs.rows(query)[0][0] == 1 + len(names), seconds, 0.05)
        ended = len(names)
    except TimeoutError:
        ended = runs.legs.rows(query)[0][0] - 1
    took = time.monotonic() - since
    for worker in workers:
        worker.send(signal.SIGTERM)
    return f"{ended * steps / took:.0f} ({ended} runs of {steps} steps in {took:.1f} s)"
