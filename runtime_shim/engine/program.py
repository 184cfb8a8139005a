"""The program table: what may go wrong with it, and which program a state belongs to (R4)."""

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


def identified(program: Table, nodes: Table) -> Table:
    """Return what tells a program: its name and source, its hash, short digests of what tells its steps (R4)."""
    whole = {key: program.get(key, {}) for key in ("entry", "registers", "scopes")}
    hashes = {"program": digest({**whole, "nodes": nodes}), "nodes": {name: digest(nodes[name])[:12] for name in nodes}}
    return {"name": program["name"], "source": program["source"], **hashes}


def without_places(program: Table) -> Table:
    """Return the steps without the lines of the document on which they stand."""
    return {name: {key: node[key] for key in node if key != "at"} for name, node in program["nodes"].items()}


def differences(recorded: dict[str, str], now: dict[str, str]) -> list[str]:
    """Say which steps were added, removed and changed since."""
    found: dict[str, list[str]] = {"added": [], "removed": [], "changed": []}
    for name in {**now, **recorded}:
        if now.get(name) != recorded.get(name):
            found["added" if name not in recorded else "changed" if name in now else "removed"].append(name)
    lines = [f"{how}: {', '.join(names)}" for how, names in found.items() if names]
    return lines or ["no step differs, only where the program begins or what it counts"]
