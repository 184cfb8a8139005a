"""Agents of a parallel step in separate jobs: each keeps its answer, and the next job joins them.

Kept data is not trusted. A re-run job does not repeat an entry that has kept an answer, since the job after
all entries may have started.
"""

import json
import os
from typing import Any, NamedTuple

from runtime_shim.engine.program import Table
from runtime_shim.targets.github.api import HaltError
from runtime_shim.targets.github.messages import plain

ENTRY = "entry"  # the file in an entry's artifact
LONGEST_ANSWER = 1 << 20  # characters
LARGEST_ENTRY = 8 * LONGEST_ANSWER  # bytes; JSON takes up to six for one
ENTRY_FIELDS = {"run", "node", "entry", "attempt", "answer"}


class KeptEntry(NamedTuple):
    """The attempt in which an entry ran, and its answer, if any."""

    attempt: int
    answer: "str | None"


def this_attempt() -> int:
    """Return the number of this attempt at the run."""
    return int(os.environ["GITHUB_RUN_ATTEMPT"])


def keep_entry(path: str, node: str, index: int, answer: "str | None") -> None:
    """Write an entry's answer to a file, even if there is none."""
    about = {"run": os.environ["GITHUB_RUN_ID"], "node": node, "entry": index, "attempt": this_attempt()}
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        json.dump({**about, "answer": answer}, file)


def read_entry(path: str, node: str, index: int, since: int) -> "KeptEntry | None":
    """Return an entry's kept answer from attempt `since` or later; None for an invalid file."""
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST_ENTRY + 1)
        found: Any = json.loads(content) if len(content) <= LARGEST_ENTRY else None
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or set(found) != ENTRY_FIELDS:
        return None
    is_its = [found["run"], found["node"]] == [os.environ["GITHUB_RUN_ID"], node] and found["entry"] == index
    are_numbers = type(found["entry"]) is int and type(found["attempt"]) is int
    if is_its and are_numbers and since <= found["attempt"] <= this_attempt() and _is_answer(found["answer"]):
        return KeptEntry(found["attempt"], found["answer"])
    return None


def _is_answer(value: object) -> bool:
    if value is None:
        return True
    is_text = isinstance(value, str) and 0 < len(value) <= LONGEST_ANSWER and "\0" not in value
    return is_text and not any("\ud800" <= character <= "\udfff" for character in str(value))


def must_join(node: str, place: str, result: str) -> bool:
    """Return whether agents ran in separate jobs; refuse a run that is not where these jobs left it."""
    was_done = result not in ("", "skipped")
    if was_done != (node == place):
        raise HaltError("Elsewhere", f"the run is at {plain(node)}, but its jobs left it elsewhere. Start a new run")
    return was_done


def joined_entries(folder: str, name: str, node: Table, result: str, since: int) -> "list[str | None]":
    """Return the answers of all entries, or refuse if one is missing."""
    found: list[KeptEntry] = []
    lost: list[str] = []
    for index, entry in enumerate(node["entries"]):
        path = os.path.join(folder, str(index), ENTRY)
        kept = read_entry(path, name, index, since)
        if kept is not None:
            found.append(kept)
            continue
        who = f"entry {index} of {name}" + (f" ({plain(entry['agent'])})" if entry["agent"] else "")
        lost.append(f"{who} has no answer: {_why(path, result)}")
    if lost:
        raise HaltError("Lost entry", "; ".join(lost))
    if max(kept.attempt for kept in found) != this_attempt():
        says = "All entries answered in an earlier attempt, which may have continued from here. Start a new run"
        raise HaltError("Re-run", says)
    return [kept.answer for kept in found]


def _why(path: str, result: str) -> str:
    """Return why an entry has no answer, and what to do."""
    if os.path.exists(path):
        return "its file is damaged or from an earlier attempt. Re-run its job"
    if result == "success":
        return "its file could not be fetched. Start a new run"
    return "its job kept nothing. Re-run the failed jobs"
