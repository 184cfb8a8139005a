"""The steps of a run, its timeline, and its records as texts (B6, B14). Pure."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Callable

from runtime_shim.engine.program import Table
from runtime_shim.engine.texts import one_line

PENDING, RUNNING, BLOCKED, FAILED, COMPLETED = "pending", "running", "blocked", "failed", "completed"
ALLOWED = {
    PENDING: (RUNNING,),
    RUNNING: (COMPLETED, FAILED, BLOCKED),
    FAILED: (RUNNING,),
    BLOCKED: (RUNNING,),
    COMPLETED: (),
}


class IllegalTransitionError(Exception):
    """A status that a step cannot change to: an error in rdc, or a journal that rdc has not written."""


def run_step(spec: Table) -> Table:
    """Return the record of a step that has not begun (B14)."""
    return {
        "step_id": spec["id"],
        "name": spec.get("name", ""),
        "status": PENDING,
        "attempts": 0,
        "started_at": None,
        "ended_at": None,
        "error": None,
        "inputs": spec.get("inputs", {}),
        "outputs": spec.get("outputs", []),
        "tools": [],
        "telis_context": None,
        "guardrails": {"input": None, "output": None},
    }


def change(step: Table, status: str) -> None:
    """Change the status of a step; any change that is not allowed is a bug, and raises."""
    if status not in ALLOWED[step["status"]]:
        raise IllegalTransitionError(f"step {step['step_id']}: {step['status']} cannot become {status}")
    step["status"] = status


def start(step: Table, time: str) -> None:
    """Let a step run, if it does not."""
    if step["status"] != RUNNING:
        change(step, RUNNING)
    step["started_at"] = step["started_at"] or time
    step["ended_at"] = None


def end(step: Table, status: str, time: str) -> None:
    """Let a step be completed or failed."""
    change(step, status)
    step["ended_at"] = time


Mask = Callable[[str], str]  # takes out what must not be kept


class RecordTexts:
    """Writes the values of a run; records grow, and each text is made anew after every change."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._known: dict[str, str] = {}  # the texts of what the records have now, by the same on one line
        self._before: dict[str, str] = {}

    def of(self, files: dict[str, Any]) -> dict[str, str]:
        """Return the text of each file."""
        self._before, self._known = self._known, {}
        return {name: self._whole(value) + "\n" for name, value in files.items()}

    def _whole(self, value: Any) -> str:  # noqa: ANN401 (any JSON value)
        """Write a list item by item, and an object with the lists in it alike."""
        if isinstance(value, list):
            return _around("[", map(self._item, value), "]")
        pairs = ((key, value[key]) for key in sorted(value))
        parts = (
            f"{json.dumps(key)}: {(self._whole if isinstance(part, list) else self._item)(part)}" for key, part in pairs
        )
        return _around("{", parts, "}")

    def _item(self, value: Any) -> str:  # noqa: ANN401
        key = json.dumps(value, sort_keys=True)
        text = (
            self._known.get(key)
            or self._before.get(key)
            or json.dumps(in_masked(self._mask, value), indent=2, sort_keys=True)
        )
        self._known[key] = text
        return text


def _around(begin: str, parts: Iterable[str], end: str) -> str:
    inner = ",\n".join(parts).replace("\n", "\n  ")
    return f"{begin}\n  {inner}\n{end}" if inner else begin + end


def in_masked(mask: Mask, value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """Return a JSON value without what must not be kept."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [in_masked(mask, item) for item in value]
    return {key: in_masked(mask, item) for key, item in value.items()} if isinstance(value, dict) else value


WHEN = {
    "tool_results": ("tool", "ended_at"),
    "artifacts": ("artifact", "recorded_at"),
    "evidence": ("evidence", "date"),
    "drrs": ("drr", "recorded_at"),
}
"""Of each kind of record what its entries are called, and the field that says when it was made."""
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
    """Return a time so that the texts of times have the order of the times: some have no fraction of a second."""
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
    """Return a timeline as a table of what happened: its events and the calls of tools."""
    rows = [HEADINGS, *(_row(entry) for entry in entries if entry["kind"] in ("event", "tool"))]
    if is_markdown:
        rows.insert(1, ("---",) * len(HEADINGS))
        return [f"| {' | '.join(map(_in_markdown, row))} |" for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]  # noqa: B905 - Python 3.9 has no `strict`
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _row(entry: Table) -> tuple[str, ...]:
    details = entry["details"]
    called = details.get("event_type", "Tool")
    told = [f"{key} {_shown(details[key])}" for key in DETAILS if details.get(key) not in (None, "", [])]
    when = entry["timestamp"][:19].replace("T", " ")
    return when, called, one_line(entry["step_id"] or ""), ", ".join(told)


def _shown(value: object) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value))


def _in_markdown(text: str) -> str:
    """Write a text so that nothing in it is Markdown, HTML or an address."""
    return "".join(f"&#{ord(sign)};" if sign in MARKUP else sign for sign in text.replace("://", ": //"))
