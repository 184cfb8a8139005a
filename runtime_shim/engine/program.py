"""What a program and its caller have in common: exit codes, refusals, the table of the program (R3)."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable, NamedTuple

Table = dict[str, Any]

EXIT_COMPLETE, EXIT_STOP, EXIT_REFUSED, EXIT_WAITING, EXIT_INTERRUPTED = 0, 1, 2, 75, 130  # R3


Parse = Callable[[str, str], Any]  # of the text of a file, by its name


class RefusedError(Exception):
    """A reason to go no further, after lines with details, for the operator; the exit code is 2 (R3)."""


def read_json(path: str, text: str) -> Any:  # noqa: ANN401 (any JSON value)
    """Return what stands in a file of JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"{path}: not JSON, which a program reads (`rdc run` reads YAML too): {error}") from None


class Host(NamedTuple):
    """What runs a program: the words that call it, what reads its files, and the name and hash of its edition."""

    prog: str = ""
    parse: Parse = read_json
    edition: str = ""


@contextmanager
def naming(path: object) -> Iterator[None]:
    """See to it that an error of the system names the file that it is about."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def digest(value: object) -> str:
    """Return the SHA-256 of a text, or of another value as JSON, wherever and whenever it is made."""
    import hashlib  # what is slow to import is imported late: `--help` does not need it

    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
