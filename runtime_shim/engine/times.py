"""When the steps of a run started, from its records. The records of older versions have no times."""

from contextlib import suppress
from typing import Any

from runtime_shim.engine.journal import Record
from runtime_shim.engine.state import State


def readable(stamp: object) -> str:
    """Return a record's time as people read it, or ""."""
    return f"{str(stamp)[:19].replace('T', ' ')} UTC" if stamp else ""


def is_decision(record: Record) -> bool:
    """Return whether a person decided a finished step."""
    return "by" in record or (record["how"].startswith("answered") and record["how"] != "answered by the agent")


def moment(stamp: object) -> Any:
    """Return a record's time as a `datetime`; raise ValueError without a time."""
    import datetime  # slow to import

    return datetime.datetime.fromisoformat(f"{stamp}"[:-1]).replace(tzinfo=datetime.timezone.utc)


def timed_step(before: Record, record: Record) -> Record:
    """Return a finished step with the seconds it `took` and, if known, when it `started`.

    A question starts when the step `before` it, or the run, ends. A command starts `seconds` before its end.
    """
    took, more = record["seconds"], {}
    with suppress(ValueError, OverflowError):
        last, now = (moment(one.get("time")) for one in (before, record))
        took = max((now - last).total_seconds(), 0.0) if is_decision(record) else took
        more = {"started": (now - type(now - last)(seconds=took)).isoformat(timespec="microseconds")[:26] + "Z"}
    return {**record, **more, "took": took}


def timed(state: State) -> list[Record]:
    """Return the finished steps with their times."""
    return [timed_step(*each) for each in zip([state.begin, *state.finished], state.finished)]
