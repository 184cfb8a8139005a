"""The rules of inputs and the fields of answers, for the script of a Makefile (I8, I19)."""

import json
from pathlib import Path

from runtime_shim.legacy.fitting import unfit
from runtime_shim.legacy.helper import REQUESTS, keep
from runtime_shim.legacy.reading import extracted


def extract(answer: str, field: str, target: str) -> str:
    """Keep a field of an answer; all three are files."""
    text = Path(answer).read_bytes().decode("utf-8", "replace")
    keep(target, extracted(text, Path(field).read_bytes().decode("utf-8")))
    return ""


def fits(rule: str, value: str) -> str:
    """Return why a value breaks a rule; both are files."""
    text = Path(value).read_bytes().decode("utf-8", "surrogateescape")
    return unfit(text, *json.loads(Path(rule).read_bytes()))


REQUESTS.update({"extract": extract, "fits": fits})
