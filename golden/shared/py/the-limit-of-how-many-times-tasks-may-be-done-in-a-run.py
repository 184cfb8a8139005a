# --- The limit of how many times tasks may be done in a run (I24).
def counts(program, name):  # Tell whether doing a unit counts; waiting at a gate does not.
    return bool(program["units"].get(name, {}).get("task") != "gate")

def within_limit(program, move, before, stand):  # End a run by STOP where one task more would be done than may be.
    if before is None or not counts(program, move.node):
        return stand
    done = [*(record["unit"] for record in before.finished if record["outcome"] != "goto"), before.node]
    if sum(counts(program, name) for name in done) < program["limit"]:
        return stand
    return {"condition": "stop", "message": f"{move.node}: the limit of {program['limit']} units was reached"}

STANDS.append(within_limit)

