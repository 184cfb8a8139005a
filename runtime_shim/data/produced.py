"""What a run has put out so far, as its status tells it: the texts that are kept, by step and name, with sizes."""

from collections.abc import Iterator
from typing import Optional

from runtime_shim.engine.display import one_line
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import State
from runtime_shim.engine.status import FACTS, TAILS

OUTPUT = "output "
UNTOLD = ("last output", "prompt ", "__elicit_step_")  # slots that repeat others, or are no outputs


def kept_slots(program: Table) -> Iterator[tuple[str, str]]:
    """Return each slot that the answer of a step is kept in, with the step, in order."""
    for name, node in program["nodes"].items():
        for edge in node.get("edges", ()):
            yield from ((name, effect[0]) for effect in edge.get("do", ()) if effect[1:2] == ["keep"])


def outputs_of(program: Table, state: State) -> Table:
    """Return the outputs that there are."""
    rows: dict[str, Table] = {}
    for node, slot in dict.fromkeys(kept_slots(program)):
        text = state.registers.get(slot)
        if text is None or slot.startswith(UNTOLD):
            continue
        is_label = slot.startswith(OUTPUT)
        row = rows.setdefault(node, {"step": node, "label": node, "names": {}})
        if is_label:
            row["label"] = slot[len(OUTPUT) :]
            row["bytes"] = len(text.encode("utf-8", "replace"))
        else:
            row["names"][slot] = len(text.encode("utf-8", "replace"))
    return {"outputs": list(rows.values())} if rows else {}


def told_outputs(_session: Session, facts: Table, record: Optional[Table]) -> list[str]:
    """Return a line for each output, above the steps."""
    if record is not None or not facts.get("outputs"):
        return []
    lines = ["  outputs:"]
    for row in facts["outputs"]:
        whole = [_sized(row["bytes"])] if "bytes" in row else []
        parts = whole + [f"{name} {_sized(size)}" for name, size in row["names"].items()]
        lines.append(one_line(f"{row['label']}: {', '.join(parts)}"))
    return [lines[0], *(f"    {line}" for line in lines[1:])]


def _sized(size: int) -> str:
    return f"{size:,} byte{'s' * (size != 1)}"


FACTS.append(outputs_of)
TAILS.append(told_outputs)
