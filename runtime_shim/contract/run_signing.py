"""Who let a run through a gate: the records of a run have a name for each decision (B8)."""

from runtime_shim.engine.journal import Record
from runtime_shim.engine.session import RECORDS, Session
from runtime_shim.operator.signing import user


def signed_gate(session: Session, record: Record) -> Record:
    """Return a record of a gate with who decided: whoever has made this call, where nobody else is named."""
    is_gate = record.get("kind") == "done" and session.program["nodes"].get(record["node"], {}).get("task") == "gate"
    return {**record, "by": record.get("by") or user()} if is_gate else record


RECORDS.append(signed_gate)
