"""The timeline of a run: all its records by time, and as a table for people. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from runtime_shim.engine.program import Table
from runtime_shim.engine.texts import one_line

WHEN = {
    "tool_results": ("tool", "ended_at"),
    "artifacts": ("artifact", "recorded_at"),
    "evidence": ("evidence", "date"),
    "drrs": ("drr", "recorded_at"),
}
"""Kinds of records: the name of their entries, and the field with their time."""
DETAILS = ("reason", "approved_by", "attempt", "attempts", "error", "path", "evidence_id", "name", "status", "note")
MARKUP = frozenset("&<>|\\`*_[]#~!@")
HEADINGS = ("Time", "Event", "Step", "Details")


def timeline(
    run: str, now: str, events: Sequence[Table], gates: Sequence[Table], found: Mapping[str, list[Table]]
) -> Table:
    """Return the timeline of a run."""
    entries = sorted(_entries(events, gates, found), key=lambda entry: in_order(entry["timestamp"]))
    return {"run_id": run, "generated_at": now, "entries": entries}


def in_order(timestamp: str) -> str:
    """Return a time as a sortable string; some times have no fraction of a second."""
    return timestamp[:-1].ljust(20, ".").ljust(26, "0")


def _entries(events: Sequence[Table], gates: Sequence[Table], found: Mapping[str, list[Table]]) -> Iterator[Table]:
    for event in events:
        details = {key: value for key, value in event["payload"].items() if key not in ("run_id", "timestamp")}
        yield _entry("event", event["timestamp"], event["step_id"], {"event_type": event["event_type"], **details})
    for gate in gates:
        yield _entry("gate", gate["requested_at"], gate["step_id"], gate)
    for kind, (called, when) in WHEN.items():
        yield from (_entry(called, one[when], one["step_id"], one) for one in found[kind])


def _entry(kind: str, timestamp: str, step: object, details: Table) -> Table:
    return {"kind": kind, "timestamp": timestamp, "step_id": step, "details": details}


def timeline_lines(entries: Sequence[Table], is_markdown: bool) -> list[str]:
    """Return the events and tool calls of a timeline as a table."""
    rows = [HEADINGS, *(_row(entry) for entry in entries if entry["kind"] in ("event", "tool"))]
    if is_markdown:
        rows.insert(1, ("---",) * len(HEADINGS))
        return [f"| {' | '.join(map(_in_markdown, row))} |" for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _row(entry: Table) -> tuple[str, ...]:
    details = entry["details"]
    told = [f"{key} {_shown(details[key])}" for key in DETAILS if details.get(key) not in (None, "", [])]
    when = entry["timestamp"][:19].replace("T", " ")
    return when, details.get("event_type", "Tool"), one_line(entry["step_id"] or ""), ", ".join(told)


def _shown(value: object) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value))


def _in_markdown(text: str) -> str:
    """Escape a text so that it has no Markdown, HTML or links."""
    return "".join(f"&#{ord(sign)};" if sign in MARKUP else sign for sign in text.replace("://", ": //"))
