"""What the shell of a Makefile cannot say exactly: what it may ask for, and the answer to it."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Callable

REQUESTS: dict[str, Callable[..., str]] = {}
"""What the script may ask for; each returns what is wrong, "" if nothing is. Modules add what they do."""


def keep(path: str, text: str) -> None:
    """Write a file that has its name once it is whole."""
    Path(f"{path}.new").write_bytes(text.encode("utf-8", "replace"))
    Path(f"{path}.new").replace(path)


def main(words: Sequence[str]) -> None:
    """Do what the script asks for."""
    says = REQUESTS[words[0]](*words[1:])
    if says:
        sys.stdout.buffer.write(says.encode("utf-8", "replace"))
        sys.stdout.flush()
        sys.exit(2)
