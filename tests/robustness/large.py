"""Documents that are deep, wide or long, and the time and memory that rdc needs for them.

`python -m tests.robustness.large [CASE…]` prints a table.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple

from backends.registry import BACKENDS
from tests.support import warm
from tests.support.cli import environment

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


def backwards(count: int) -> str:
    """Each step goes to the one before it, and the first to the last."""
    before = [count, *range(1, count)]
    return "\n".join(f"## {n}. Do\n\n```bash\ntrue\n```\n\n- PASS: GOTO {b}\n" for n, b in enumerate(before, 1))


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
    body = "\n".join(
        f"### {{N}}.{n} Part {{N}}\n\n```bash\ntrue\n```\n\n- FAIL: GOTO NEXT {{N}}\n" for n in range(1, count + 1)
    )
    return f"## {{N}}. Item {{N}}\n\n{body}"


PASS = "- PASS: STOP"
FENCE = "```bash\n"

CASES: dict[str, Callable[[], str | Files]] = {
    # Many steps
    "steps": lambda: changed_steps(10_000),
    "other-steps": lambda: {MAIN: steps(3_000), OLD: steps(3_000, command="false {}")},
    "same-steps": lambda: {MAIN: steps(6_000, command="true"), OLD: steps(5_000, command="true")},
    "questions": lambda: "\n".join(f"## {n}. Go on?\n\n- YES: CONTINUE\n- NO: STOP no\n" for n in range(1, 10_001)),
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
    "backwards": lambda: backwards(10_000),
    "retries": lambda: steps(5_000, "- FAIL: RETRY 3 GOTO 1\n").replace(" GOTO 1", "", 1),
    "retries-forwards": lambda: steps(5_000, "- PASS: CONTINUE\n- FAIL: RETRY 3 CONTINUE\n"),
    "retried-step": lambda: substeps(3_000).replace("\n\n", "\n\n- FAIL: RETRY 3 STOP\n\n", 1),
    "ends": lambda: steps(10_000, '- PASS: CONTINUE\n- FAIL: STOP "Failed at {}"\n'),
    # Long lines
    "long-title": lambda: long("# ", f"\n\n{STEP}"),
    "long-header": lambda: long("## 1. ", "\n\nWhat?"),
    "long-name": lambda: long("## ", "\n\nWhat?"),
    "long-number": lambda: long("## ", "\n\nWhat?", "1"),
    "long-prompt": lambda: long("## 1. A\n\n"),
    "long-item": lambda: long("## 1. A\n\n- "),
    "long-command": lambda: long(f"## 1. A\n\n{FENCE}", "\n```"),
    "long-info": lambda: long("## 1. A\n\n```", "\ntrue\n```"),
    "long-message": lambda: long(f'{STEP}\n- PASS: COMPLETE "', '"'),
    "long-word": lambda: long(f"{STEP}\n- PASS: STOP "),
    "long-escapes": lambda: long(f'{STEP}\n- PASS: STOP "', "", '\\"'),
    "long-quotes": lambda: long(f"{STEP}\n- PASS: STOP ", "", '"'),
    "long-target": lambda: long(f"{STEP}\n- PASS: GOTO "),
    "long-spaces": lambda: long(f"{STEP}\n- PASS:", "x", " "),
    "long-path": lambda: long("## 1. A\n\n- ", ".runbook.md"),
    "long-path-of-folders": lambda: long("## 1. A\n\n- ", "b.runbook.md", "a/"),
    "long-almost-transition": lambda: long("## 1. A\n\n- PASS", "", "*"),
    "long-almost-transition-with-spaces": lambda: long("## 1. A\n\n- pass", "", " "),
    "long-almost-runbook": lambda: long("## 1. A\n\n- ", " x", ".runbook.md "),
    "long-almost-header": lambda: long("## 1. A\n\n##1", "", "#"),
    "long-comment": lambda: long("## 1. A\n\n<!--", "", "--"),
    "long-comments": lambda: long("## 1. A\n\n", "x", "<!-- -->"),
    "long-value": lambda: long("---\nname: ", f"\n---\n{STEP}"),
    "long-key": lambda: long("---\n", f": 1\n---\n{STEP}"),
    "long-digits": lambda: long("---\nversion: ", f"\n---\n{STEP}", "9"),
    "long-sexagesimal": lambda: long("---\nversion: 1", f"\n---\n{STEP}", ":59"),
    "long-configuration": lambda: with_configuration(f"[github]\nname = '{'a' * MEGABYTE}'\n"),
    "long-digits-in-configuration": lambda: with_configuration(f"a = {'9' * MEGABYTE}\n"),
    # Deep
    "nested-items": lambda: STEP + "\n" + "- " * 5_000 + "x\n",
    "nested-items-on-lines": lambda: "## 1. A\n\n" + "".join(f"{'  ' * n}- x\n" for n in range(2_000)),
    "nested-numbers": lambda: "## 1. A\n\n" + "1. " * 5_000 + "x\n",
    "nested-quotes": lambda: "## 1. A\n\n" + ">" * 5_000 + " x\n",
    "nested-quotes-on-lines": lambda: "## 1. A\n\n" + "".join(f"{'>' * n} x\n" for n in range(1, 2_000)),
    "nested-both": lambda: "## 1. A\n\n" + "> - " * 5_000 + "x\n",
    "parentheses": lambda: f"## 1. {'(' * 5_000}\n\n[{'[' * 5_000}](\n\n- PASS: STOP {'(' * 5_000}\n",
    "braces": lambda: f"## {'{' * 5_000}N}}. A\n\n- PASS: GOTO {'{' * 5_000}\n",
    "nested-yaml-lists": lambda: frontmatter("a: " + "[" * 5_000 + "]" * 5_000),
    "nested-yaml-mappings": lambda: frontmatter("a: " + "{a: " * 5_000 + "1" + "}" * 5_000),
    "nested-yaml-options": lambda: frontmatter("rdc: " + "{github: " * 150 + "1" + "}" * 150),
    "nested-yaml-env": lambda: frontmatter("rdc: {github: {on: " + "{push: " * 150 + "1" + "}" * 152),
    "open-yaml-lists": lambda: frontmatter("a: " + "[" * 100_000),
    "nested-yaml-items": lambda: frontmatter("a:\n  " + "- " * 5_000 + "x"),
    "nested-toml-lists": lambda: with_configuration("a = " + "[" * 5_000 + "]" * 5_000),
    "nested-toml-tables": lambda: with_configuration("a = " + "{a=" * 5_000 + "1" + "}" * 5_000),
    "nested-toml-keys": lambda: with_configuration("github" + ".a" * 5_000 + " = 1"),
    "nested-toml-header": lambda: with_configuration("[github" + ".a" * 5_000 + "]"),
    "nested-toml-options": lambda: with_configuration("[github]\non = " + "{push=" * 150 + "1" + "}" * 150),
    # Repetition
    "chain": lambda: chain(1_000, 1),
    "doubled": lambda: chain(300, 2),
    "fan": lambda: {MAIN: "## 1. A\n\n" + "- b.runbook.md\n" * 5_000, "b.runbook.md": STEP},
    "bomb": lambda: frontmatter(bomb(30)),
    "bomb-as-name": lambda: in_frontmatter("name"),
    "bomb-as-tags": lambda: in_frontmatter("tags"),
    "bomb-as-scenarios": lambda: in_frontmatter("scenarios"),
    "bomb-as-scenario": lambda: frontmatter(
        f"{bomb(30)}\nscenarios: {{a: {{commands: *a29, result: STOP, description: *a28}}}}"
    ),
    "bomb-as-options": lambda: in_frontmatter("rdc"),
    "bomb-as-layout": lambda: in_frontmatter("rdc:\n  transitions"),
    "bomb-as-target": lambda: in_frontmatter("rdc:\n  github"),
    "bomb-as-setup": lambda: in_frontmatter("rdc:\n  github:\n    setup"),
    "bomb-as-events": lambda: in_frontmatter("rdc:\n  github:\n    on"),
    "bomb-as-environment": lambda: in_frontmatter("rdc:\n  github:\n    env:\n      A"),
    "merge-bomb": lambda: frontmatter(
        "\n".join(
            ["a0: &a0 {x: 1}", *(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 20))]
        )
    ),
    # Errors
    "only-passes": lambda: f"{PASS}\n" * 100_000,
    "passes-in-a-step": lambda: f"{STEP}\n" + f"{PASS}\n" * 20_000,
    "bare-passes": lambda: f"{STEP}\n" + "- PASS:\n" * 20_000,
    "wrong-targets": lambda: steps(10_000, "- PASS: GOTO Nowhere{}\n"),
    "wrong-words": lambda: steps(10_000, "- PASS: GO {}\n"),
    "wrong-headings": lambda: f"{STEP}\n" + "#### Deep\n\n" * 10_000,
    "wrong-headers": lambda: "## !\n\n" * 10_000,
    "same-headers": lambda: "## 1. A\n\nWhat?\n\n" * 10_000,
    "same-names": lambda: "## Aa\n\nWhat?\n\n" * 10_000,
    "many-titles": lambda: "# A\n\n" * 10_000 + STEP,
    "missing-runbooks": lambda: "## 1. A\n\n" + "".join(f"- r{n}.runbook.md\n" for n in range(10_000)),
    "many-bodies": lambda: "## 1. A\n\n" + "```bash\ntrue\n```\n\n" * 10_000,
    "unreachable": lambda: steps(10_000, "- PASS: STOP\n- FAIL: STOP\n"),
    "many-hints": lambda: "## 1. A\n\n" + "- pass: continue\n" * 20_000,
    "many-options": lambda: with_configuration("[github]\n" + "".join(f"o{n} = 1\n" for n in range(10_000))),
    "many-tables": lambda: with_configuration("".join(f"[t{n}]\n" for n in range(10_000))),
    "many-setups": lambda: with_configuration("[[github.setup]]\nx = 1\n" * 10_000),
    "many-keys": lambda: frontmatter("\n".join(f"k{n}: 1" for n in range(20_000))),
    "many-scenarios": lambda: frontmatter("scenarios:\n" + "\n".join(f"  s{n}: 1" for n in range(10_000))),
    # As large as a file may be, and larger
    "largest-text": lambda: STEP.replace("## 1. Build\n", "## 1. Build\n\n" + "a" * (LIMIT - len(STEP) - 1)),
    "largest-prompt": lambda: "## 1. A\n\n" + "a few words, xx\n" * 499_000,
    "largest-steps": lambda: "".join(f"## {n}. A\n\nWhat?\n\n" for n in range(1, 100_001)),
    "most-lines": lambda: "*\n" * 499_999,
    "too-many-lines": lambda: "*\n" * 500_000,
    "largest-space": lambda: STEP + "\n" * (LIMIT - len(STEP)),
    "largest-marks": lambda: "#" * LIMIT,
    "largest-rules": lambda: "*\n" * (LIMIT // 2),
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
        process = subprocess.Popen(
            [sys.executable, "-m", "rdc", *COMMANDS[command]],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
        )
    patience = Timer(PATIENCE, process.kill)
    patience.start()
    _, status, usage = os.wait4(process.pid, 0)  # which tells what this one process took
    patience.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    measured = path.read_text(encoding="utf-8", errors="replace")
    return Measured(process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, measured)


FEW_SECONDS = 8
"""What a small document may take of the processor; those that are tested took from 10 to 80."""


def limited(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return timed(folder, "-m", "rdc", *words)


def timed(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    done = warm.run([sys.executable, *words], cwd=folder, env=environment(), timeout=120, seconds=FEW_SECONDS)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def main(names: list[str]) -> int:
    """Prints the table; exit code 1 if something is not well. A document with errors is refused alike by all."""
    wrong = 0
    for name in names or CASES:
        with tempfile.TemporaryDirectory() as temporary:
            write(name, Path(temporary))
            for command in COMMANDS:
                found = measure(command, Path(temporary))
                wrong += not found.is_well
                mark = "" if found.is_well else f"  <<< {found.output[-300:]}"
                figures = f"{found.code:>4} {found.seconds:6.2f} s {found.megabytes:6.0f} MB"
                print(f"{name:36} {command:9} {figures}{mark}", flush=True)
                if command == "check" and found.code:
                    break
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
