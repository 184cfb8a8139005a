# --- Who let a run through a gate: the records of a run have a name for each decision (B8).
def signed_gate(session, record):
    """Return a record of a gate with who decided: whoever has made this call, where nobody else is named."""
    is_gate = record.get("kind") == "done" and session.program["nodes"].get(record["node"], {}).get("task") == "gate"
    return {**record, "by": record.get("by") or user()} if is_gate else record

RECORDS.append(signed_gate)

