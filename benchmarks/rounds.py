"""Measuring side by side: whatever slows the machine down meets the thing measured and its yardstick alike."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The folder of the project, from which the processes are started that import it."""

CALLER = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""The environment of the processes: Python keeps what it has compiled, as it does for a user."""

Times = dict[str, list[float]]


def alternate(contestants: Mapping[str, Callable[[], float]], rounds: int) -> Times:
    """Let each contestant run once in every round, forwards in one round and backwards in the next.

    Args:
        contestants: What to measure, by name; each call runs it once and returns its seconds.
        rounds: How many rounds. One more goes before, unrecorded, which fills the caches.

    Returns:
        The seconds of each contestant, in the order of the rounds.
    """
    times: Times = {name: [] for name in contestants}
    for round_ in range(rounds + 1):
        for name in list(contestants)[:: 1 if round_ % 2 else -1]:
            seconds = contestants[name]()
            if round_:
                times[name].append(seconds)
    return times


def elapsed(command: Sequence[str], folder: Path = ROOT, environment: Mapping[str, str] | None = None) -> float:
    """The seconds that a process takes whose output goes nowhere.

    Raises:
        RuntimeError: It failed, so its time says nothing.
    """
    begun = time.perf_counter()
    process = subprocess.run(
        command,
        cwd=folder,
        env={**CALLER, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    seconds = time.perf_counter() - begun
    if process.returncode:
        raise RuntimeError(f"{command[0]} ended with exit code {process.returncode}: {' '.join(command)}")
    return seconds


def most_memory(process: int) -> float:
    """The most memory that a process has had, in MiB."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))
