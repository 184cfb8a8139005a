"""The Python interpreters of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
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
    """Put the folder of this interpreter first on PATH: the launcher of a version manager is slower than most calls."""
    folder = str(Path(sys.executable).resolve().parent)
    if folder not in os.environ["PATH"].split(os.pathsep)[:1]:
        os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
