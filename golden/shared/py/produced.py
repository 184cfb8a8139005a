# --- What a run has put out so far, as its status tells it: the texts that are kept, by step and name, with sizes.
OUTPUT = "output "
UNTOLD = ("last output", "prompt ", "__elicit_step_")  # slots that repeat others, or are no outputs

def kept_slots(program):
    for name, node in program["nodes"].items():
        for edge in node.get("edges", ()):
            yield from ((name, effect[0]) for effect in edge.get("do", ()) if effect[1:2] == ["keep"])

def _sized(size):
    return f"{size:,} byte{'s' * (size != 1)}"

class Produced(OfMore):
    def facts(self, state):
        rows = {}
        for node, slot in dict.fromkeys(kept_slots(self.session.program)):
            text = state.registers.get(slot)
            if text is None or slot.startswith(UNTOLD):
                continue
            size, is_label = len(text.encode("utf-8", "replace")), slot.startswith(OUTPUT)
            row = rows.setdefault(node, {"step": node, "label": node, "names": {}})
            if is_label:
                row.update(label=slot[len(OUTPUT) :], bytes=size)
            else:
                row["names"][slot] = size
        return {"outputs": list(rows.values())} if rows else {}
    def lines(self, facts, record):
        if record is not None or not facts.get("outputs"):
            return []
        lines = ["  outputs:"]
        for row in facts["outputs"]:
            whole = [_sized(row["bytes"])] if "bytes" in row else []
            parts = whole + [f"{name} {_sized(size)}" for name, size in row["names"].items()]
            told = f"{row['label']}: {', '.join(parts)}"
            lines.append(f"    {one_line(told)}")
        return lines

