"""Run the tasks of a build on all cores, so that a slow document doesn't block others (B-4)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from rdc.building.build import WorkerError
from rdc.building.compiling import Made, compile_task
from rdc.building.plan import Task

FEW = 3
"""For this many tasks, starting processes takes longer."""

_MOST_AT_ONCE = 8
_SHARES = 8
"""Tasks per process and batch. Small batches let all processes finish together."""


def compiled(root: str, tasks: Sequence[Task], jobs: int) -> Iterator[Made]:
    """Compile documents in any order.

    Args:
        root: The root of the project.
        tasks: The documents to compile.
        jobs: The maximum number of processes; 0 for one per core.

    Raises:
        WorkerError: A process was killed, for example because memory ran out.
    """
    workers = min(jobs or cores(), len(tasks))
    if workers < 2 or (not jobs and len(tasks) <= FEW):
        yield from (compile_task(root, task) for task in tasks)
        return
    yield compile_task(root, tasks[0])  # its imports are shared by forks
    rest, method = tasks[1:], "fork" if os.name == "posix" else "spawn"
    size = max(1, min(_MOST_AT_ONCE, len(rest) // (_SHARES * workers)))
    with ProcessPoolExecutor(workers, get_context(method)) as pool:
        waiting = [pool.submit(_compiled, root, rest[at : at + size]) for at in range(0, len(rest), size)]
        try:
            for done in as_completed(waiting):
                yield from done.result()
        except BrokenProcessPool:
            raise WorkerError from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _compiled(root: str, tasks: Sequence[Task]) -> list[Made]:
    return [compile_task(root, task) for task in tasks]


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
