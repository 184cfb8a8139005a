"""Which `python3` the programs find that tests start."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def put_first() -> None:
    """Put the folder of this interpreter first on PATH: the launcher of a version manager is slower than most calls."""
    folder = str(Path(sys.executable).resolve().parent)
    if folder not in os.environ["PATH"].split(os.pathsep)[:1]:
        os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
