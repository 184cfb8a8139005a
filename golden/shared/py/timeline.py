# --- The steps of a run, its timeline, and its records as texts (B6, B14). Pure.
PENDING, RUNNING, BLOCKED, FAILED, COMPLETED = "pending", "running", "blocked", "failed", "completed"
ALLOWED = {
    PENDING: (RUNNING,),
    RUNNING: (COMPLETED, FAILED, BLOCKED),
    FAILED: (RUNNING,),
    BLOCKED: (RUNNING,),
    COMPLETED: (),
}

class IllegalTransitionError(Exception):
    pass

def run_step(spec):
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

def change(step, status):
    if status not in ALLOWED[step["status"]]:
        raise IllegalTransitionError(f"step {step['step_id']}: {step['status']} cannot become {status}")
    step["status"] = status

def start(step, time):
    if step["status"] != RUNNING:
        change(step, RUNNING)
    step["started_at"] = step["started_at"] or time
    step["ended_at"] = None

def end(step, status, time):
    change(step, status)
    step["ended_at"] = time

class RecordTexts:
    def __init__(self, mask):
        self._mask = mask
        self._known = {}  # the texts of what the records have now, by the same on one line
        self._before = {}
    def of(self, files):
        self._before, self._known = self._known, {}
        return {name: self._whole(value) + "\n" for name, value in files.items()}
    def _whole(self, value):  # any JSON value
        if isinstance(value, list):
            return _around("[", map(self._item, value), "]")
        pairs = ((key, value[key]) for key in sorted(value))
        parts = (
            f"{json.dumps(key)}: {(self._whole if isinstance(part, list) else self._item)(part)}" for key, part in pairs
        )
        return _around("{", parts, "}")
    def _item(self, value):
        key = json.dumps(value, sort_keys=True)
        text = (
            self._known.get(key)
            or self._before.get(key)
            or json.dumps(in_masked(self._mask, value), indent=2, sort_keys=True)
        )
        self._known[key] = text
        return text

def _around(begin, parts, end):
    inner = ",\n".join(parts).replace("\n", "\n  ")
    return f"{begin}\n  {inner}\n{end}" if inner else begin + end

def in_masked(mask, value):  # any JSON value
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
DETAILS = ("reason", "approved_by", "attempt", "attempts", "error", "path", "evidence_id", "name", "status", "note")
MARKUP = frozenset("&<>|\\`*_[]#~!@")
HEADINGS = ("Time", "Event", "Step", "Details")

def timeline(run, now, events, gates, found):
    entries = sorted(_entries(events, gates, found), key=lambda entry: in_order(entry["timestamp"]))
    return {"run_id": run, "generated_at": now, "entries": entries}

def in_order(timestamp):
    return timestamp[:-1].ljust(20, ".").ljust(26, "0")

def _entries(events, gates, found):
    for event in events:
        details = {key: value for key, value in event["payload"].items() if key not in ("run_id", "timestamp")}
        yield _entry("event", event["timestamp"], event["step_id"], {"event_type": event["event_type"], **details})
    for gate in gates:
        yield _entry("gate", gate["requested_at"], gate["step_id"], gate)
    for kind, (called, when) in WHEN.items():
        yield from (_entry(called, one[when], one["step_id"], one) for one in found[kind])

def _entry(kind, timestamp, step, details):
    return {"kind": kind, "timestamp": timestamp, "step_id": step, "details": details}

def timeline_lines(entries, is_markdown):
    rows = [HEADINGS, *(_row(entry) for entry in entries if entry["kind"] in ("event", "tool"))]
    if is_markdown:
        rows.insert(1, ("---",) * len(HEADINGS))
        return [f"| {' | '.join(map(_in_markdown, row))} |" for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]  # Python 3.9 has no `strict`
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]

def _row(entry):
    details = entry["details"]
    called = details.get("event_type", "Tool")
    told = [f"{key} {_shown(details[key])}" for key in DETAILS if details.get(key) not in (None, "", [])]
    when = entry["timestamp"][:19].replace("T", " ")
    return when, called, one_line(entry["step_id"] or ""), ", ".join(told)

def _shown(value):
    return one_line(value if isinstance(value, str) else json.dumps(value))

def _in_markdown(text):
    return "".join(f"&#{ord(sign)};" if sign in MARKUP else sign for sign in text.replace("://", ": //"))

