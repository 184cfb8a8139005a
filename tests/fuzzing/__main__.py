"""`python -m tests.fuzzing`: fuzzes the entries one after the other, and shows the first input that breaks one."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.fuzzing.entries import ENTRIES

HERE = Path(__file__).parent
CORPUS, FOUND = HERE / "corpus", HERE / "found"

LIMITS = ("-timeout=8", "-rss_limit_mb=1024", "-max_len=4096", "-report_slow_steps=100")
"""Seconds and memory for one input; what takes more is a finding."""


def main() -> int:
    """Exit code 1 if an input was found that breaks something."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="for all entries together (default: 10)")
    parser.add_argument("--entry", choices=ENTRIES, help="fuzz this one only")
    parser.add_argument(
        "--seed", type=int, default=0, help="of the changes that are tried (default: another each time)"
    )
    parser.add_argument("--minimize", action="store_true", help="write a small corpus that reaches all that is reached")
    parser.add_argument("--scratch", type=Path, default=ROOT / ".fuzz", help="where findings go (default: .fuzz)")
    given = parser.parse_args()
    names = [given.entry] if given.entry else list(ENTRIES)
    if given.minimize:
        return max(minimize(name, given.scratch.resolve()) for name in names)
    shares = sum(ENTRIES[name].share for name in names)
    seconds = {name: given.minutes * 60 * ENTRIES[name].share / shares for name in names}
    return int(any(fuzz(name, given.scratch.resolve(), seconds[name], given.seed) for name in names))


def fuzz(name: str, scratch: Path, seconds: float, seed: int) -> bool:
    """Whether an input was found within that time."""
    own = scratch / name
    own.mkdir(parents=True, exist_ok=True)
    seeds = [str(folder / name) for folder in (CORPUS, FOUND) if (folder / name).is_dir()]
    options = (
        f"-max_total_time={max(1, round(seconds))}",
        f"-artifact_prefix={scratch}/{name}-",
        *LIMITS,
        f"-seed={seed}",
    )
    code, log = run_worker(name, scratch, *options, str(own), *seeds)
    ((rounds, edges),) = re.findall(r"^#(\d+)\t.*? cov: (\d+)", log, re.MULTILINE)[-1:] or [("0", "0")]
    print(f"{name}: {rounds} inputs in {seconds:.0f} s, {edges} edges reached", flush=True)
    if code == 0:
        return False
    print(log[log.rfind("\n#") :].partition("\n\n")[2] or log[-3000:])
    for path in map(Path, re.findall(r"Test step written to (.+)", log)):
        print(f"\n--- {path}\n{path.read_bytes().decode(errors='backslashreplace')}\n---")
    return True


def minimize(name: str, scratch: Path) -> int:
    """Makes the corpus the fewest inputs that reach what it and the scratch folder reach; exit code 0 if it could."""
    small, stored = scratch / f"{name}.small", CORPUS / name
    shutil.rmtree(small, ignore_errors=True)
    small.mkdir()
    folders = [str(folder) for folder in (stored, scratch / name) if folder.is_dir()]
    code, log = run_worker(name, scratch, "-set_cover_merge=1", "-use_counters=0", *LIMITS, str(small), *folders)
    if code == 0:
        shutil.rmtree(stored, ignore_errors=True)
        shutil.move(small, stored)
    print(log[-500:])
    return code


def run_worker(name: str, scratch: Path, *arguments: str) -> tuple[int, str]:
    """The exit code of a fuzzing process, and what it said."""
    command = [sys.executable, "-m", "tests.fuzzing.worker", name, *arguments]
    temporary = scratch / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return done.returncode, done.stdout.decode(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
