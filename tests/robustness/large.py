"""Documents that are deep, wide or long, and the time and memory that rdc needs for them."""

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple

from backends.registry import BACKENDS
from tests.support import warm
from tests.support.cli import Result, environment

Files = dict[str, str]

MAIN, OLD = "main.runbook.md", "old.runbook.md"
MEGABYTE = 1_000_000
LIMIT = 8 * 1024 * 1024
STEP = "## 1. Build\n\n```bash\ntrue\n```\n"


def steps(count: int, ending: str = "", command: str = "true {}") -> str:
    """Numbered steps; `{}` in what ends them and in their commands is their number."""
    form = "## {0}. Do\n\n```bash\n" + command.replace("{}", "{0}") + "\n```\n\n" + ending.replace("{}", "{0}") + "\n"
    return "\n".join(form.format(number) for number in range(1, count + 1))


def changed_steps(count: int) -> Files:
    """A third of the commands differ between two versions, and the older one has more steps."""
    lines = steps(count).split("\n")
    older = [line.replace("true", "false") if number % 18 == 3 else line for number, line in enumerate(lines)]
    return {MAIN: "\n".join(lines), OLD: "\n".join(older) + f"\n## {count + 1}. End\n\nWhat?\n"}


def substeps(count: int) -> str:
    """All of them in one step."""
    return "## 1. Do\n\n" + "\n".join(f"### 1.{n} Part\n\n```bash\ntrue {n}\n```\n" for n in range(1, count + 1))


def loop(count: int) -> str:
    """Each step goes to the next or back to the first, the last one to the first."""
    body = steps(count - 1, "- PASS: CONTINUE\n- FAIL: GOTO 1\n").replace("GOTO 1", "STOP", 1)
    return f"{body}\n## {count}. Again\n\n```bash\ntrue\n```\n\n- PASS: GOTO 1\n- FAIL: GOTO 2\n"


def chain(count: int, times: int) -> Files:
    """Runbooks each of which includes the next one, so many times."""
    names = [MAIN, *(f"r{number}.runbook.md" for number in range(1, count))]
    including = {name: "## 1. Include\n\n" + f"- {after}\n" * times for name, after in pairwise(names)}
    return including | {names[-1]: STEP}


def frontmatter(text: str) -> str:
    return f"---\n{text}\n---\n\n{STEP}"


def bomb(levels: int) -> str:
    lines = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(["a0: &a0 [x, x]", *lines])


def in_frontmatter(key: str) -> str:
    return frontmatter(f"{bomb(30)}\n{key}: *a29")


def with_configuration(text: str) -> Files:
    return {MAIN: STEP, "rdc.toml": text}


def long(before: str, after: str = "", text: str = "a") -> str:
    return before + (text * (MEGABYTE // len(text))) + after + "\n"


def dynamic(count: int) -> str:
    """A dynamic step with many substeps that go on to its next instance."""
    part = "### {{N}}.{} Part {{N}}\n\n```bash\ntrue\n```\n\n- FAIL: GOTO NEXT {{N}}\n"
    body = "\n".join(part.format(number) for number in range(1, count + 1))
    return f"## {{N}}. Item {{N}}\n\n{body}"


FENCE = "```bash\n"

CASES: dict[str, Callable[[], str | Files]] = {
    # Many steps
    "steps": lambda: changed_steps(10_000),
    "other-steps": lambda: {MAIN: steps(3_000), OLD: steps(3_000, command="false {}")},
    "named-steps": lambda: (
        steps(10_000, "- PASS: GOTO Step{}\n").replace("## ", "## Step").replace("GOTO Step10000", "STOP")
    ),
    "substeps": lambda: substeps(10_000),
    "substeps-that-jump": lambda: (
        "## 1. Do\n\n"
        + "\n".join(f"### 1.{n} Part\n\n```bash\ntrue\n```\n\n- FAIL: GOTO 1.{n % 3000 + 1}\n" for n in range(1, 3_001))
    ),
    "dynamic": lambda: dynamic(1_000),
    "loop": lambda: loop(10_000),
    "retries": lambda: steps(5_000, "- FAIL: RETRY 3 GOTO 1\n").replace(" GOTO 1", "", 1),
    # Long lines
    "long-title": lambda: long("# ", f"\n\n{STEP}"),
    "long-command": lambda: long(f"## 1. A\n\n{FENCE}", "\n```"),
    "long-message": lambda: long(f'{STEP}\n- PASS: COMPLETE "', '"'),
    "long-escapes": lambda: long(f'{STEP}\n- PASS: STOP "', "", '\\"'),
    "long-path-of-folders": lambda: long("## 1. A\n\n- ", "b.runbook.md", "a/"),
    "long-almost-transition": lambda: long("## 1. A\n\n- PASS", "", "*"),
    "long-comment": lambda: long("## 1. A\n\n<!--", "", "--"),
    "long-sexagesimal": lambda: long("---\nversion: 1", f"\n---\n{STEP}", ":59"),
    "long-digits-in-configuration": lambda: with_configuration(f"a = {'9' * MEGABYTE}\n"),
    # Deep
    "nested-items": lambda: STEP + "\n" + "- " * 5_000 + "x\n",
    "nested-quotes": lambda: "## 1. A\n\n" + ">" * 5_000 + " x\n",
    "nested-both": lambda: "## 1. A\n\n" + "> - " * 5_000 + "x\n",
    "nested-yaml-lists": lambda: frontmatter("a: " + "[" * 5_000 + "]" * 5_000),
    "nested-toml-lists": lambda: with_configuration("a = " + "[" * 5_000 + "]" * 5_000),
    "nested-toml-keys": lambda: with_configuration("github" + ".a" * 5_000 + " = 1"),
    # Repetition
    "chain": lambda: chain(1_000, 1),
    "doubled": lambda: chain(300, 2),
    "fan": lambda: {MAIN: "## 1. A\n\n" + "- b.runbook.md\n" * 5_000, "b.runbook.md": STEP},
    "bomb-as-scenarios": lambda: in_frontmatter("scenarios"),
    "bomb-as-events": lambda: in_frontmatter("rdc:\n  github:\n    on"),
    "merge-bomb": lambda: frontmatter(
        "\n".join(
            ["a0: &a0 {x: 1}", *(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 20))]
        )
    ),
    # Errors
    "wrong-targets": lambda: steps(10_000, "- PASS: GOTO Nowhere{}\n"),
    "same-headers": lambda: "## 1. A\n\nWhat?\n\n" * 10_000,
    "missing-runbooks": lambda: "## 1. A\n\n" + "".join(f"- r{n}.runbook.md\n" for n in range(10_000)),
    "many-options": lambda: with_configuration("[github]\n" + "".join(f"o{n} = 1\n" for n in range(10_000))),
    "many-scenarios": lambda: frontmatter("scenarios:\n" + "\n".join(f"  s{n}: 1" for n in range(10_000))),
    # As large as a file may be, and larger
    "too-large": lambda: STEP + "\n" * (LIMIT - len(STEP) + 1),
}


def files(name: str) -> Files:
    """The files of a case, an older version of the document and a configuration among them."""
    made: Any = CASES[name]()
    own: Files = {MAIN: made} if isinstance(made, str) else made
    return {"rdc.toml": "", OLD: own[MAIN], **own}


SECONDS, MEGABYTES = 30.0, 1024.0
"""What a process may take of the processor and of memory; most take a small part of it."""

PATIENCE = 4 * SECONDS
"""How long it may last on a machine that does other things too."""

COMMANDS = {
    "check": ("check", MAIN),
    **{target: ("compile", MAIN, "--to", target, "-o", "out") for target in BACKENDS},
    "graph": ("graph", MAIN, "--format", "dot", "-o", "out.dot"),
    "diff": ("diff", OLD, MAIN),
    "diff-dot": ("diff", OLD, MAIN, "--format", "dot", "-o", "out.dot"),
}


class Measured(NamedTuple):
    """How a process ended (a signal as a negative number), what it took, and its output."""

    code: int
    seconds: float
    megabytes: float
    output: str

    @property
    def is_well(self) -> bool:
        """Whether it ended in time with a result or with diagnostics, and within its memory."""
        bounded = self.seconds < SECONDS and self.megabytes < MEGABYTES
        return bounded and self.code in (0, 1, 2) and "Traceback" not in self.output and "internal" not in self.output


def write(name: str, folder: Path) -> None:
    for file, text in files(name).items():
        (folder / file).write_text(text, encoding="utf-8", newline="")


def measure(command: str, folder: Path) -> Measured:
    """Runs a command in a folder; a process that lasts too long is killed."""
    for made in folder.glob("out*"):
        made.unlink()
    path = folder / "printed"
    with path.open("wb") as stream:
        words, null = [sys.executable, "-m", "rdc", *COMMANDS[command]], subprocess.DEVNULL
        process = subprocess.Popen(words, cwd=folder, env=environment(), stdin=null, stdout=stream, stderr=stream)
    patience = Timer(PATIENCE, process.kill)
    patience.start()
    _, status, usage = os.wait4(process.pid, 0)  # which tells what this one process took
    patience.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    measured = path.read_text(encoding="utf-8", errors="replace")
    return Measured(process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, measured)


FEW_SECONDS = 8
"""What a small document may take of the processor; those that are tested took from 10 to 80."""


def limited(folder: Path, *words: str) -> Result:
    return timed(folder, "-m", "rdc", *words)


def timed(folder: Path, *words: str) -> Result:
    done = warm.run([sys.executable, *words], cwd=folder, env=environment(), timeout=120, seconds=FEW_SECONDS)
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())
