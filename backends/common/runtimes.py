"""The runtimes in generated files, as items for people who review them."""

import re
from collections.abc import Iterator

from compiler.text.source import sha256_of

_BUNDLED = re.compile(
    rb"^# The runtime of rdc [^\n]{1,40}, edition ([a-z]{1,20}) \(sha256 ([0-9a-f]{64})\)\.$", re.MULTILINE
)
_SHARED = re.compile(r"(?:.*/)?rdc_(?:runtime_)?([a-z_]+?)_[0-9a-f]{8}\.py")


def runtime_at(path: str) -> str:
    """Return the name of the shared runtime at a path, or ""."""
    match = _SHARED.fullmatch(path)
    return match[1] if match else ""


def runtime_items(path: str, data: bytes) -> Iterator[str]:
    """Yield the item of a shared runtime, or of each runtime that is bundled in another file."""
    if name := runtime_at(path):
        yield f"runtime {name} {sha256_of(data)}"
        return
    for edition, digest in _BUNDLED.findall(data):
        yield f"runtime {edition.decode()} {digest.decode()}"
