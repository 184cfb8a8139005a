"""Copy pins of actions from generated workflows, where a bot changed them, to the configuration."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tomlkit

from backends.base import Backend
from backends.registry import BACKENDS, load
from compiler.diagnostics.model import Diagnostic
from compiler.project.project import CONFIGURATION
from rdc.build.lock import items_in, read_lock
from rdc.output.write import File, write_all

_USES = re.compile(r"^ +(?:- )?uses: (([\w.-]+/[\w.-]+)[^@\s]*)@([0-9a-f]{40})(?: # (v[\w.+-]{1,40}))?$", re.MULTILINE)


def pinning() -> Backend[Any]:
    """Return the target whose outputs have pins."""
    return next(target for target in map(load, BACKENDS) if target.pins_option)


def changed_pins(root: str) -> tuple[dict[str, str], list[Diagnostic]]:
    """Return the pins in generated workflows that differ from the lock.

    Returns:
        The new content of the option for pins, and diagnostics for pins that can't be taken.
    """
    taken: dict[str, tuple[str, str]] = {}
    wrong: list[Diagnostic] = []
    known = {pin.partition("@")[0] for pin in pinning().pins().values()}
    for path, action, value in _edited(root, items_in(read_lock(root) or "")):
        if action not in known:
            message = f"{action} in {path} gets its pin from a document or an option"
            wrong.append(Diagnostic("RD543", path, None, message, f"change the pin there to {value}"))
            continue
        first, other = taken.setdefault(action, (path, value))
        if other != value:
            message = f"{first} and {path} have different pins of {action}"
            remedy = "use the same pin in both files, then run this command again"
            wrong.append(Diagnostic("RD543", path, None, message, remedy))
    return {action: value for action, (_, value) in taken.items()}, wrong


def _edited(root: str, locked: Mapping[str, list[str]]) -> Iterator[tuple[str, str, str]]:
    """Yield the path, action and pin of each action that changed since the lock was written."""
    for path, items in locked.items():
        built = {item.removeprefix("action ") for item in items if item.startswith("action ")}
        file = Path(root, path)
        if not built or not file.is_file():
            continue
        for match in _USES.finditer(file.read_text(encoding="utf-8", errors="replace")):
            action, repository, commit, version = match.groups()
            value = f"{commit} # {version}" if version else commit
            if f"{action}@{value}" not in built and any(item.startswith(f"{action}@") for item in built):
                yield path, repository, value


def take(configuration: str, chosen: Mapping[str, str]) -> None:
    """Write pins to a valid configuration. Its comments and order stay. Raises `OSError` if it cannot be written."""
    file = Path(configuration)
    document = tomlkit.parse(file.read_bytes().decode("utf-8-sig"))
    table = document if file.name == CONFIGURATION else document["tool"]["rdc"]
    target = pinning()
    for name in (target.name, target.pins_option):
        table = table.setdefault(name, tomlkit.table())
    for action, value in sorted(chosen.items()):
        table[action] = value
    write_all([File(file, tomlkit.dumps(document).encode())])
