"""What the shell of a Makefile cannot say exactly: the rules of inputs and the fields of answers (I8, I19)."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Callable

from runtime_shim.fitting import unfit
from runtime_shim.reading import extracted


def keep(path: str, text: str) -> None:
    """Write a file that has its name once it is whole."""
    Path(f"{path}.new").write_bytes(text.encode("utf-8", "replace"))
    Path(f"{path}.new").replace(path)


def extract(answer: str, field: str, target: str) -> str:
    """Keep a field of an answer; all three are files."""
    text = Path(answer).read_bytes().decode("utf-8", "replace")
    keep(target, extracted(text, Path(field).read_bytes().decode("utf-8")))
    return ""


def fits(rule: str, value: str) -> str:
    """Return why a value breaks a rule; both are files."""
    text = Path(value).read_bytes().decode("utf-8", "surrogateescape")
    return unfit(text, *json.loads(Path(rule).read_bytes()))


REQUESTS: dict[str, Callable[..., str]] = {"extract": extract, "fits": fits}
"""What the script may ask for; each returns what is wrong, "" if nothing is. Other modules add to it."""


def main(words: Sequence[str]) -> None:
    """Do what the script asks for."""
    says = REQUESTS[words[0]](*words[1:])
    if says:
        sys.stdout.buffer.write(says.encode("utf-8", "replace"))
        sys.stdout.flush()
        sys.exit(2)
