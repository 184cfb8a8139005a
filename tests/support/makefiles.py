"""Generated Makefiles in folders of their own, and make run in them."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from backends.make import MakeBackend
from compiler.driver import compile_file
from compiler.ir.program import Program
from tests.support import warm

PATIENCE = 20.0

PLAIN = (
    "# Plain\n\n## 1. Build it\n\n```bash\necho build >> log\n```\n\n## 2. Ship it\n\n```sh\necho ship >> log\n```\n"
)
FLOW = """\
# Flow

## 1. Build it

```bash
echo build >> log
```

## 2. Look at it

Is it good?

- YES: CONTINUE
- NO: STOP "It is bad"

## 3. Look again

Is it really?

## 4. Ship it

```bash
echo "ship $RDC_RUN_ID" >> log
```

- PASS: COMPLETE "Out it goes"
"""
SLOW = "# Slow\n\n## 1. Build\n\n```bash\necho build >> log\n```\n\n## 2. Wait\n\n```bash\necho $$ > began\n"
SLOW += "[ -e quick ] || exec sleep 30\n```\n\n## 3. Ship\n\n```bash\necho ship >> log\n```\n"
SLOW_FLOW = SLOW + '\n- PASS: COMPLETE "Done"\n'
BOTH = pytest.mark.parametrize("document", [SLOW, SLOW_FLOW], ids=["plain", "flow"])


class Place:
    """A folder with a Makefile in which make is run."""

    def __init__(self, folder: Path, document: str, others: dict[str, str] | None = None, **options: str) -> None:
        self.folder = folder
        self.write(document, others or {}, **options)

    def write(self, document: str, others: dict[str, str], **options: str) -> None:
        """The documents, and the Makefile of the first one."""
        (self.folder / "rdc.toml").touch()
        for name, text in {"main.runbook.md": document, **others}.items():
            (self.folder / name).write_bytes(text.encode())
        compilation = compile_file(str(self.folder / "main.runbook.md"))
        assert compilation.program, compilation.diagnostics
        lay(self.folder, compilation.program, **options)

    def make(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run make to its end."""
        done: subprocess.CompletedProcess[str] = run(self.folder, words, variables, encoding="utf-8")
        return done

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start make in a session of its own, and wait until its slow command runs."""
        process = subprocess.Popen(
            ["make", *words],
            cwd=self.folder,
            env=environment({}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        deadline = time.monotonic() + PATIENCE
        while not self.lines("began"):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.005)
        return process

    def stands(self) -> str:
        """What `status` says, without titles, times and transitions."""
        return re.sub(r"^(over: \w+|\S+ \S+).*$", r"\1", self.make("status").stdout, flags=re.MULTILINE)

    def lines(self, name: str) -> list[str]:
        """The lines of a file."""
        path = self.folder / name
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    @property
    def state(self) -> Path:
        """The only state directory."""
        (found,) = (self.folder / ".rdc").iterdir()
        return found

    @property
    def files(self) -> dict[str, bytes]:
        """All files with their contents."""
        return {str(path): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}


def run(folder: Path, words: Sequence[str], variables: dict[str, str], **how: Any) -> Any:
    """Run make to its end, with variables of the environment, and as `subprocess.run` is told."""
    return subprocess.run(
        ["make", *words],
        cwd=folder,
        env=warm.forking(environment(variables)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
        **how,
    )


def lay(folder: Path, program: Program, **options: str) -> bool:
    """Write the Makefile of a program, and what it calls; whether it calls anything."""
    emission = MakeBackend().emit(program, options)
    assert emission.text, emission.diagnostics
    (folder / "Makefile").write_bytes(emission.text.encode())
    for companion in emission.companions:
        (folder / companion.path).parent.mkdir(exist_ok=True, parents=True)
        (folder / companion.path).write_bytes(companion.text.encode())
    return bool(emission.companions)


def environment(variables: dict[str, str]) -> dict[str, str]:
    """The environment for make: this one without what make and rdc themselves put there."""
    ours = re.compile("RDC_|MAKE|MFLAGS|STEP$|ANSWERS$")
    return {name: value for name, value in os.environ.items() if not ours.match(name)} | variables


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    """The last line on standard output, with how the run ended."""
    return (done.stdout.splitlines() or [""])[-1]


def here() -> str:
    """How a lock names this machine and its namespace of processes."""
    space = str(Path("/proc/self/ns/pid").readlink()) if Path("/proc/self/ns").exists() else ""
    return re.sub("[^A-Za-z0-9.-]", "_", f"{os.uname().nodename} {space}")


def kill_all(pid: int) -> None:
    """Kill a process and all that descends from it, whatever groups and sessions they have made."""
    found: list[int] = []
    left = [pid]
    while left:  # stopped first, so that none begins another one meanwhile
        one = left.pop()
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGSTOP)
        found.append(one)
        left += [child for child in children(one) if child not in found]
    for one in found:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def children(pid: int) -> list[int]:
    """The processes that a process has begun."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(path.read_text(errors="replace").rpartition(")")[2].split()[1]) == pid:
                found.append(int(path.parent.name))
    return found
