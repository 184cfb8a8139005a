"""Agents of a parallel step that are jobs of their own: each keeps what it says, and the next job joins that (I14).

Nothing that is kept is trusted. An entry that has kept something is not done again when its job is: the job that comes
after all entries may have begun.
"""

import json
import os
import re
import time
from pathlib import Path
from typing import NamedTuple, Optional

from runtime_shim.legacy.program import EXIT_COMPLETE, RefusedError, Table
from runtime_shim.legacy.reading import LARGEST_ANSWER, cleaned
from runtime_shim.legacy.runner_agents import entry_alone, joined
from runtime_shim.legacy.runner_calls import BEGINNING, STEPS, Caller, pause, processes_of
from runtime_shim.legacy.runner_folder import place_reports
from runtime_shim.legacy.runner_says import annotate, one_line, output
from runtime_shim.legacy.runner_state import Run, is_count, read_state
from runtime_shim.legacy.signals import Interrupted, held_back
from runtime_shim.legacy.values import UnfitError

ENTRY_FILE = "entry"  # in the artifact of an entry
LARGEST_ENTRY = 8 * LARGEST_ANSWER  # bytes: JSON writes a byte of an answer with up to six
ENTRY_FIELDS = {"run", "node", "entry", "attempt", "seconds", "answer"}


class KeptEntry(NamedTuple):
    """What an entry has come to: in which attempt at the run, after how many seconds, and the answer, if any."""

    attempt: int
    seconds: int
    answer: Optional[str]


def do_entry(program: Table, folder: Path, words: list[str]) -> int:
    """Call the agent of an entry, and keep what it says; that it has no answer is kept too."""
    place, index = words[0], int(words[1])
    run = read_state(program, folder / "state")
    if place not in program["matrices"] or run.end or run.node not in program["places"][place]:
        raise RefusedError(f"the run stands at {run.node}, which is not the step of this job")
    place_reports(run)  # for: folder
    path = folder.with_name("rdc-entry") / ENTRY_FILE
    if _read_entry(run, index, path, _first_attempt(folder)) is not None:
        print("This was done in an earlier attempt.", flush=True)
        return EXIT_COMPLETE
    begun = time.monotonic()
    answer = _answer(run, folder, place, index)
    kept = {
        "run": run.number,
        "node": run.node,
        "entry": index,
        "attempt": _this_attempt(),
        "seconds": round(time.monotonic() - begun),
        "answer": answer,
    }
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(kept), encoding="ascii")
    output("kept", "true")
    return EXIT_COMPLETE


def _answer(run: Run, folder: Path, place: str, index: int) -> Optional[str]:
    with held_back() as signals:
        caller = Caller(run, processes_of(signals), folder, place)
        pause(run, signals)
        try:
            answer = entry_alone(caller, index)
        except UnfitError as error:
            annotate("error", "Step", f"{run.token} {index} failed: {error}")
            answer = None
        if signals.has_come():
            raise Interrupted
    return answer


def join_entries(run: Run) -> None:
    """Go on from a step whose agents were jobs of their own, if the run stands there."""
    folder = Path(os.environ["RUNNER_TEMP"], "rdc")
    for place in os.environ.get("RDC_JOINED", "").split():
        was_done = os.environ[f"RDC_ENTRIES_{place}"] != "skipped"
        if was_done != (place == run.token and not run.end):
            raise RefusedError(f"the run stands at {run.node}, where its jobs have not left it. Begin a new run")
        if was_done:
            _join(run, folder, place)
            return


def _join(run: Run, folder: Path, place: str) -> None:
    since = _first_attempt(folder)
    found: list[KeptEntry] = []
    lost: list[str] = []
    for index, entry in enumerate(run.unit["entries"]):
        path = folder.with_name("rdc-entries") / f"{place}-{index}" / ENTRY_FILE
        kept = _read_entry(run, index, path, since)
        if kept is not None:
            found.append(kept)
            continue
        who = f"the entry {index} of {run.node}" + (f" ({one_line(entry['agent'])})" if entry["agent"] else "")
        lost.append(f"{who} has no answer: {_why(path, place)}")
    if lost:
        raise RefusedError(*lost)
    if max(kept.attempt for kept in found) != _this_attempt():
        raise RefusedError(
            "all entries have answered in an earlier attempt, which may have gone on from here. Begin a new run"
        )
    with held_back() as signals:
        caller = Caller(run, processes_of(signals), folder, place)
        outcome = joined(caller, [kept.answer for kept in found])
    print(f"{place}: {one_line(outcome.word)}", flush=True)
    run.go_on(outcome, max(kept.seconds for kept in found))


def _why(path: Path, place: str) -> str:
    """Say why an entry has no answer, and what to do about it."""
    if path.exists():
        return "what it has kept is damaged, or from an earlier attempt. Re-run its job"
    if os.environ[f"RDC_ENTRIES_{place}"] == "success":
        return "what it has kept could not be fetched. Begin a new run"
    return "its job has kept nothing. Re-run the failed jobs"


def _read_entry(run: Run, index: int, path: Path, since: int) -> Optional[KeptEntry]:
    """Read what an entry has kept since an attempt; None for anything that it cannot have written."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_ENTRY + 1)
        found = json.loads(content) if len(content) <= LARGEST_ENTRY else None
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or set(found) != ENTRY_FIELDS:
        return None
    is_its = [found["run"], found["node"]] == [run.number, run.node] and _is(found["entry"], index)
    is_timely = is_count(found["attempt"]) and since <= found["attempt"] <= _this_attempt()
    if is_its and is_timely and is_count(found["seconds"]) and _is_answer(found["answer"]):
        return KeptEntry(found["attempt"], found["seconds"], found["answer"])
    return None


def _is(value: object, number: int) -> bool:
    return type(value) is int and value == number


def _is_answer(value: object) -> bool:
    is_text = isinstance(value, str) and len(value) <= LARGEST_ANSWER and cleaned(value) == value
    return value is None or is_text


def _first_attempt(folder: Path) -> int:
    """Return the attempt by which the run came to the step."""
    return _number((folder / "attempt").read_text(encoding="ascii", errors="replace"))


def _this_attempt() -> int:
    return _number(os.environ["GITHUB_RUN_ATTEMPT"])


def _number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}\n?", text):
        raise RefusedError("the number of an attempt is damaged. Begin a new run")
    return int(text)


STEPS["entry"] = do_entry
BEGINNING.append(join_entries)
