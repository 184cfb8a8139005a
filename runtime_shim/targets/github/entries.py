"""Agents of a parallel step that are jobs of their own: each keeps what it says, and the next job joins that (I14).

Nothing that is kept is trusted. An entry that has kept something is not done again when its job is: the job that comes
after all entries may have begun.
"""

import json
import os
from typing import Any, NamedTuple, Optional

from runtime_shim.engine.program import Table
from runtime_shim.targets.github.api import HaltError
from runtime_shim.targets.github.says import plain

ENTRY = "entry"  # the file in the artifact of an entry
LONGEST_ANSWER = 1 << 20  # characters
LARGEST_ENTRY = 8 * LONGEST_ANSWER  # bytes: JSON writes a byte of an answer with up to six
ENTRY_FIELDS = {"run", "node", "entry", "attempt", "answer"}


class KeptEntry(NamedTuple):
    """What an entry has come to: in which attempt at the run, and the answer, if any."""

    attempt: int
    answer: Optional[str]


def this_attempt() -> int:
    """Return the number of the attempt at the run."""
    return int(os.environ["GITHUB_RUN_ATTEMPT"])


def keep_entry(path: str, node: str, index: int, answer: Optional[str]) -> None:
    """Keep what an entry says; that it has no answer is kept too."""
    about = {"run": os.environ["GITHUB_RUN_ID"], "node": node, "entry": index, "attempt": this_attempt()}
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        json.dump({**about, "answer": answer}, file)


def read_entry(path: str, node: str, index: int, since: int) -> Optional[KeptEntry]:
    """Read what an entry has kept since an attempt; None for anything that it cannot have written."""
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
    """Return whether agents have been jobs of their own; refuses a run that is not where these jobs have left it."""
    was_done = result not in ("", "skipped")
    if was_done != (node == place):
        raise HaltError("Elsewhere", f"the run is at {plain(node)}, where its jobs have not left it. Begin a new run")
    return was_done


def joined_entries(folder: str, name: str, node: Table, result: str, since: int) -> list[Optional[str]]:
    """Return what all entries have said, or refuse to go on without one of them."""
    found: list[KeptEntry] = []
    lost: list[str] = []
    for index, entry in enumerate(node["entries"]):
        path = os.path.join(folder, str(index), ENTRY)
        kept = read_entry(path, name, index, since)
        if kept is not None:
            found.append(kept)
            continue
        who = f"the entry {index} of {name}" + (f" ({plain(entry['agent'])})" if entry["agent"] else "")
        lost.append(f"{who} has no answer: {_why(path, result)}")
    if lost:
        raise HaltError("Lost entry", "; ".join(lost))
    if max(kept.attempt for kept in found) != this_attempt():
        says = "All entries have answered in an earlier attempt, which may have gone on from here. Begin a new run"
        raise HaltError("Re-run", says)
    return [kept.answer for kept in found]


def _why(path: str, result: str) -> str:
    """Say why an entry has no answer, and what to do about it."""
    if os.path.exists(path):
        return "what it has kept is damaged, or from an earlier attempt. Re-run its job"
    if result == "success":
        return "what it has kept could not be fetched. Begin a new run"
    return "its job has kept nothing. Re-run the failed jobs"
