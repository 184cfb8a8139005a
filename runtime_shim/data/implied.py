"""Settings of a step that follow from its task and keywords."""

from __future__ import annotations

from collections.abc import Container

from runtime_shim.engine.program import Table

WORDS_OF_TASKS = {"gate": ["approved", "rejected"], "confirm": ["yes", "no"], "input": ["pass"]}
UNREAD = ("none", "invalid", "ambiguous", "failed")  # outcomes of an answer without one keyword


def implied(node: Table, said: Container[str] = ()) -> Table:
    """Return the implied settings of a step, except those that it sets."""
    known = [keyword for one in (node, *node.get("entries", ())) for keyword in one.get("keywords", ())]
    words = [*dict.fromkeys(known), *UNREAD] if known else WORDS_OF_TASKS.get(node["task"])
    found = {"agent": "" if node["task"] == "agent" else None, "words": words}
    return {key: value for key, value in found.items() if value is not None and key not in said}
