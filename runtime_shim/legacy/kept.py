"""Texts that a run keeps, tests and shows: what slots add to `walk` (I5, I6, I17, I19)."""

from collections.abc import Mapping
from typing import Optional

from runtime_shim.legacy.reading import extracted
from runtime_shim.legacy.walk import TESTS, VALUES, VERBS, Registers, Verbs

Slot = Optional[str]


def keeping(text: str, values: Mapping[str, str]) -> Verbs:
    """Return the effects of an edge after an outcome with this text and these values (I19)."""

    def keep(before: Slot, what: list[str]) -> Slot:
        if what[0] == "output":
            return values.get(what[1], before)
        return extracted(text, what[1]) if what[0] == "field" else text

    return {**VERBS, "keep": keep}


def reference(place: list[str], registers: Registers) -> str:
    """Return what stands for a reference that has texts around it, or another one where the slot is unset (I6)."""
    register, before, after, missing = place
    value = registers[register]
    return missing if value is None else f"{before}{value}{after}"


def _equal(slot: Slot, text: str) -> bool:
    return (slot or "") == text


def _differ(slot: Slot, text: str) -> bool:
    return not _equal(slot, text)


def _clear(_slot: Slot, _what: list[str]) -> Slot:
    return None


TESTS.update({"==": _equal, "!=": _differ})
VERBS["clear"] = _clear
VERBS.update(keeping("", {}))
VALUES[list] = reference
