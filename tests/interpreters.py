"""The Python interpreters of this machine."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def interpreter(version: str) -> str | None:
    """An interpreter of a version that really starts: the one running, on the path, or of pyenv."""
    managed = Path.home() / ".pyenv" / "versions"
    found = [shutil.which(f"python{version}"), *sorted(map(str, managed.glob(f"{version}.*/bin/python3")))]
    if f"{sys.version_info.major}.{sys.version_info.minor}" == version:
        found.insert(0, sys.executable)
    for candidate in filter(None, found):
        says = [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        shown = subprocess.run(says, capture_output=True, text=True, check=False)
        if shown.stdout.strip() == version:
            return candidate
    return None


def put_first() -> None:
    """Put `python3` first on PATH, the interpreter running without packages.

    The launcher of a version manager is slower than most calls, and so are packages that start with the interpreter.
    Generated programs need no package.
    """
    home = Path(tempfile.mkdtemp(prefix="rdc-python-"))
    atexit.register(_removed, home, os.getpid())
    real = Path(sys.executable).resolve()
    (home / "bin").mkdir()
    for name in ("python", "python3"):
        (home / "bin" / name).symlink_to(real)
    (home / "pyvenv.cfg").write_text(f"home = {real.parent}\ninclude-system-site-packages = false\n", encoding="utf-8")
    os.environ["PATH"] = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"


def _removed(home: Path, owner: int) -> None:
    if os.getpid() == owner:  # a process that a test forked is not the last that needs it
        shutil.rmtree(home, ignore_errors=True)
