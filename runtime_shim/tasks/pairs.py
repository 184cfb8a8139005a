"""Commands by name, as options and files of the operator give them."""

from runtime_shim.engine.program import RefusedError
from runtime_shim.engine.texts import one_line
from runtime_shim.tasks.answers import read_text


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
