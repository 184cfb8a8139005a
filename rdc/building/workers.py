"""The tasks of a build on all cores: one slow document holds up no other (B-4)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from rdc.building.build import WorkerError
from rdc.building.compiling import Made, compile_task
from rdc.building.plan import Task

FEW = 3
"""So many tasks take less time than starting processes does."""

_MOST_AT_ONCE = 8
_SHARES = 8
"""How many tasks a process is given at a time: few where there are few, so that all processes end together."""


def compiled(root: str, tasks: Sequence[Task], jobs: int) -> Iterator[Made]:
    """Compile the documents of tasks, in any order.

    Args:
        root: The root of the project.
        tasks: What to compile.
        jobs: How many processes to use at most; 0 for one on each core.

    Raises:
        WorkerError: A process was killed, as happens where memory runs out.
    """
    workers = min(jobs or cores(), len(tasks))
    if workers < 2 or (not jobs and len(tasks) <= FEW):
        yield from (compile_task(root, task) for task in tasks)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed  # noqa: PLC0415 (only for many documents)
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415
    from multiprocessing import get_context  # noqa: PLC0415

    yield compile_task(root, tasks[0])  # which imports what a fork then has
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
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
