"""Strict JSON from executors and tools, and the evidence of steps. Pure."""

import datetime
import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, Callable

from runtime_shim.engine.program import Table
from runtime_shim.io.reading import NO_TEXT, no_json

DEEPEST_JSON = 100  # nesting; Python reads about a thousand and writes fewer


def read_strictly(text: str) -> Any:  # any JSON value
    """Return the value of a JSON text; raise ValueError with the reason if it is not strict JSON.

    U+FFFD replaces characters that some target could not keep.
    """
    try:
        found = json.loads(text, parse_constant=no_json, parse_float=_finite)
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: {error}") from None
    return changed_texts(lambda text: re.sub(NO_TEXT, "\ufffd", text), found, DEEPEST_JSON)


def json_or_text(text: str) -> Any:
    """Return the JSON value of a text, or the text itself if it is not JSON."""
    try:
        return read_strictly(text)
    except ValueError:
        return text


def _finite(written: str) -> float:
    """Return a number, or refuse one that is too large for Python."""
    if not math.isfinite(number := float(written)):
        raise ValueError(f"the number {written[:40]} is too large")
    return number


def changed_texts(change: Callable[[str], str], value: Any, depth: float = math.inf) -> Any:  # any JSON value
    """Return a value with its strings and names changed; raise ValueError if it is nested deeper than the depth."""
    if depth < 0:
        raise ValueError("its values are nested too deeply")
    if isinstance(value, list):
        return [changed_texts(change, item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {change(key): changed_texts(change, item, depth - 1) for key, item in value.items()}
    return change(value) if isinstance(value, str) else value


FACTORS = {"CL1": 0.5, "CL2": 0.8, "CL3": 1.0}  # of congruence
LEVELS = ("L0", "L1", "L2")
VALID_DAYS = 90
MOST_RECORDS = 1000
MOMENT = r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{3}(\d{3})?)?(Z|[+-]\d\d:\d\d)?)?"


def is_fraction(value: Any) -> bool:  # any JSON value
    """Return whether a value is a number from 0 to 1."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def is_said(value: Any) -> bool:
    """Return whether a value is a non-empty string."""
    return isinstance(value, str) and bool(value.strip())


def moment_of(text: Any) -> "datetime.datetime | None":
    """Return the time of a string with a date or a date and time; None for other values."""
    if not isinstance(text, str) or not re.fullmatch(MOMENT, text, re.ASCII):  # some Pythons accept more
        return None
    try:
        moment = datetime.datetime.fromisoformat(text[:-1] + "+00:00" if text[-1] == "Z" else text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.timezone.utc)


FIELDS: dict[str, tuple[Callable[[Any], object], str]] = {
    **dict.fromkeys(("id", "claim", "source", "carrier_ref"), (is_said, "a string")),
    **dict.fromkeys(("date", "valid_until"), (moment_of, "a date and time such as 2026-01-31T12:00:00Z")),
    **dict.fromkeys(("reliability", "wlnk"), (is_fraction, "a number from 0 to 1")),
    "level": (LEVELS.__contains__, "L0, L1 or L2"),
    "congruence": (lambda value: isinstance(value, str) and value in FACTORS, "CL1, CL2 or CL3"),
}


def records_in(value: Any, name: str) -> list[Table]:
    """Return a file's object or list of objects as a list; raise ValueError for anything else."""
    found = value if isinstance(value, list) else [value]
    if not all(isinstance(one, dict) for one in found):
        raise ValueError(f"{name}: expected an object, or a list of objects")
    if len(found) > MOST_RECORDS:
        raise ValueError(f"{name}: more than {MOST_RECORDS} objects")
    return found


def checked_evidence(value: Any, taken: Iterable[str]) -> list[Table]:
    """Return the evidence of an executor, or raise ValueError with the reason. `taken` are the ids of other steps."""
    found, ids = records_in(value, "evidence"), set(taken)
    for number, one in enumerate(found, start=1):
        for field, (is_fit, expected) in FIELDS.items():
            if field in one and not is_fit(one[field]):
                raise ValueError(f"evidence {number}: {field}: expected {expected}")
        if one.get("id") in ids:
            raise ValueError(f"evidence {number}: the id {one['id']} is already used")
        ids |= {one["id"]} if "id" in one else set()
    return found


def unfit_for(spec: Table, one: Table, now: str) -> str:
    """Return why well-formed evidence does not fit its step, or ""."""
    needed, outputs = spec.get("evidence"), spec.get("outputs") or []
    if needed not in LEVELS and not outputs:
        return ""  # it is not recorded
    if needed in LEVELS and one.get("level", needed) < needed:  # L0, L1, L2
        return f"the level {one['level']} is below {needed}, which the step needs"
    if "carrier_ref" in one and one["carrier_ref"] not in outputs:
        return f"the carrier_ref {one['carrier_ref']} is not an output of the step"
    date, until, day = moment_of(one.get("date", now)), moment_of(one.get("valid_until")), len("2026-01-31")
    if not (date and until):
        return ""
    is_before = until.date() < date.date() if len(one["valid_until"]) == day else until < date
    return f"valid_until {one['valid_until']} is before the date" if is_before else ""


def in_utc(date: str, days: int = 0) -> str:
    """Return a date and time in UTC, some days later."""
    moment = moment_of(date)
    try:
        found = moment and (moment + datetime.timedelta(days=days)).astimezone(datetime.timezone.utc)
    except OverflowError:  # the end of the calendar
        return in_utc(date) if days else date
    return found.isoformat().replace("+00:00", "Z") if found else date


def whole_evidence(given: Sequence[Table], spec: Table, level: str, now: str, taken: Iterable[str]) -> list[Table]:
    """Return the evidence of a step: the given records with all fields, or a derived one."""
    found, ids = [], {*taken, *(one["id"] for one in given if "id" in one)}
    for one in given or ([{}] if level else []):
        times: dict[str, str] = {key: in_utc(one[key]) for key in ("date", "valid_until") if key in one}
        free = (name for number in range(1, len(ids) + 2) if (name := f"ev-{spec['id']}-{number}") not in ids)
        record = {"id": next(free), **_derived(spec, level, times.get("date", now), given), **one, **times}
        ids.add(record["id"])
        record.setdefault("wlnk", round(record["reliability"] * FACTORS[record["congruence"]], 6))
        found.append(record)
    return found


def _derived(spec: Table, level: str, date: str, given: Sequence[Table]) -> Table:
    """Return the fields of evidence that an executor did not give, from the facts of the step."""
    named, outputs = [one.get("carrier_ref") for one in given], spec.get("outputs") or [None]
    carrier = next((path for path in outputs if path not in named), outputs[0])
    claim = next(filter(None, (spec.get(key) for key in ("description", "name", "id"))), "")
    about = {"claim": claim, "level": level or LEVELS[0], "source": spec["id"], "carrier_ref": carrier}
    return {**about, "date": date, "valid_until": in_utc(date, VALID_DAYS), "congruence": "CL1", "reliability": 0}


def evidence_of(path: str, given: Sequence[Table], whole: Sequence[Table]) -> list[str]:
    """Return the ids of the evidence that names an output, or of all evidence of its step."""
    named = [one.get("carrier_ref") == path for one in given]
    return [one["id"] for one, names in zip(whole, named or [True]) if names or True not in named]
