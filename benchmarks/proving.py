"""How long proofs of rules take, and how much memory: ten rules on a long runbook that people could have written."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.compiling import write
from benchmarks.figures import Figure
from benchmarks.rounds import ROOT, most_memory
from compiler.driver import compile_file
from compiler.ir.program import Program
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import IDLE, Ask, alphabet
from compiler.rules.prove import prove

MOST_SECONDS, MOST_MEGABYTES = 10.0, 300.0


def proving(steps: int = 10_000, rounds: int = 3, limit: float = 1.0) -> list[Figure]:
    """Proofs against the time and the memory that they may take; the best of the rounds, each in a new process."""
    with TemporaryDirectory() as folder:
        source = write(Path(folder), steps)
        command = [sys.executable, "-m", "benchmarks.proving", str(source)]
        found = []
        for _ in range(rounds):
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
            found.append([float(word) for word in done.stdout.split()])
    seconds, megabytes = (min(values) for values in zip(*found, strict=True))
    what = f"ten rules on {steps:,} steps"
    return [
        Figure(what, "the time that they may take", seconds, MOST_SECONDS, limit),
        Figure(f"{what}, 1 MB as 1 s", "the memory that they may take", megabytes, MOST_MEGABYTES, limit),
    ]


def ten_rules(program: Program) -> tuple[Rule, ...]:
    """Rules of all kinds about steps at the start, in the middle and at the end; some are broken."""
    tasks = [node for node in program.nodes if type(node.task) not in IDLE]
    names = [node.id for node in tasks]
    first, middle, late, last = (names[place] for place in (0, len(names) // 2, -3, -2))
    ends = (Event("", "complete"), Event("", "stop"))
    asked = tuple(Event(node.id, "pass") for node in tasks if isinstance(node.task, Ask))
    every = tuple(Event(node.id, word) for node in tasks[:-2] for word in alphabet(node.task))
    return (
        Rule("tested", "", (Event(last),), opens=(Event(first, "pass"),)),
        Rule("in the middle", "", (Event(last),), opens=(Event(middle, "pass"),)),
        Rule("asked", "", (Event(last),), opens=asked),
        Rule("after anything", "", (Event(last),), opens=every),
        Rule("again", "", (Event(late),), opens=asked, closes=(Event(middle, "fail"),)),
        Rule("not after a failure", "", (Event(last),), closes=(Event(middle, "fail"),), is_open=True),
        Rule("restored", "", ends, opens=(Event("Rollback"),), closes=(Event(middle, "fail"),), is_open=True),
        Rule("always", "", (ends[0],), opens=(Event(last, "pass"),)),
        Rule("once", "", (Event(last),), most=1),
        Rule("a few", "", tuple(map(Event, names)), most=12),
    )


def main() -> None:
    """Print the seconds of the proofs and the most megabytes of the process."""
    compilation = compile_file(sys.argv[1])
    assert compilation.program
    rules = ten_rules(compilation.program)
    start = time.perf_counter()
    prove(compilation.program, rules)
    print(time.perf_counter() - start, most_memory(os.getpid()))


if __name__ == "__main__":
    main()
