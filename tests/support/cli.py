"""Running the command line in tests: inside this process where that does, else as a process."""

import io
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from rdc.cli import main
from tests.support import warm

ROOT = Path(__file__).parents[2]

GOOD = """# Deploy

## 1. Build

```bash
echo building
```

## 2. Test

```bash
echo testing
```
"""
UNKNOWN_TARGET = "# Deploy\n\n## 1. Build\n\n```bash\ntrue\n```\n\n- PASS: GOTO 9\n"
MISSING_TITLE = "# Deploy\n\n## 1\n\n```bash\ntrue\n```\n"
TOLERATED = """# Batch

## 1. Both

### 1.1 First

```bash
false
```

- FAIL: CONTINUE

### 1.2 Second

```bash
true
```
"""


@dataclass(frozen=True)
class Result:
    """What a run of rdc came to."""

    code: int
    out: str
    err: str

    def exits(self, code: int) -> Self:
        """Check the exit code; gives the result."""
        assert self.code == code, self
        return self


def call(*arguments: str, cwd: Path) -> Result:
    """Run rdc in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    with chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    texts = []
    for stream in (out, err):
        stream.flush()
        assert isinstance(stream.buffer, io.BytesIO)
        texts.append(stream.buffer.getvalue().decode())
    return Result(code, *texts)


def fork(act: Callable[[], int | None]) -> int:
    """Begin a fork of this process that does something and ends with its exit code; gives the fork's number."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        code = act() or 0
    finally:
        os._exit(code)


def ended(child: int) -> int:
    """Wait for the end of a fork; gives its exit code, or the negative number of the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def executed(words: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str] | None = None) -> Result:
    """Run any program as a process."""
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, timeout=60, check=False)
    return Result(done.returncode, done.stdout, done.stderr)


def environment(**more: str) -> dict[str, str]:
    """The environment of a child process that finds this tree."""
    inherited = {name: value for name, value in os.environ.items() if "COLOR" not in name}
    path = os.pathsep.join(filter(None, [str(ROOT), inherited.get("PYTHONPATH")]))
    return {**inherited, "PYTHONPATH": path, **more}


def spawn(*arguments: str, cwd: Path, given: str = "", **variables: str) -> Result:
    """Run rdc as a process of its own; where variables matter that an interpreter begins with, it starts over."""
    command = [sys.executable, "-m", "rdc", *arguments]
    if any(name.startswith(warm.DECIDED_AT_THE_START) for name in variables):
        done = subprocess.run(
            command, cwd=cwd, env=environment(**variables), input=given.encode(), capture_output=True, check=False
        )
    else:
        done = warm.run(command, cwd=cwd, env=environment(**variables), input=given.encode())
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def document(folder: Path, name: str, text: str) -> Path:
    """Write a document."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
