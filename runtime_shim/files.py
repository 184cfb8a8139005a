"""Text files that the operator names."""

from pathlib import Path

from runtime_shim.display import one_line
from runtime_shim.program import RefusedError

LARGEST_INPUT = 1 << 20  # bytes


def read_text(path: str) -> str:
    """Read a text file that is given as an input, or holds several."""
    with Path(path).open("rb") as file:
        content = file.read(LARGEST_INPUT + 1)
    if len(content) > LARGEST_INPUT:
        raise RefusedError(f"{path}: larger than {LARGEST_INPUT:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RefusedError(f"{path}: not UTF-8") from None


def pairs(place: str, words: list[str]) -> dict[str, str]:
    """Read `KEY=COMMAND` words."""
    found: dict[str, str] = {}
    for word in words:
        key, equals, command = word.partition("=")
        if not equals or not command.strip() or "\0" in command:
            raise RefusedError(f"{place}: {one_line(word)}: expected NAME=COMMAND")
        found[key.strip()] = command
    return found


def read_pairs(place: str, path: str) -> dict[str, str]:
    """Read a file of `KEY=COMMAND` lines; one that begins with `#` is a comment."""
    lines = read_text(path).splitlines()
    return pairs(place, [line for line in lines if line.strip() and not line.lstrip().startswith("#")])
