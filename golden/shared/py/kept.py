# --- Texts that a run keeps, tests and shows: what slots add to `walk` (I5, I6, I17, I19).
def keeping(text, values):  # Return the effects of an edge after an outcome with this text and these values (I19).

    def keep(before, what):
        if what[0] == "output":
            return values.get(what[1], before)
        return extracted(text, what[1]) if what[0] == "field" else text

    return {**VERBS, "keep": keep}

def reference(place, registers):
    """Return what stands for a reference that has texts around it, or another one where the slot is unset (I6)."""
    register, before, after, missing = place
    value = registers[register]
    return missing if value is None else f"{before}{value}{after}"

def _equal(slot, text):
    return (slot or "") == text

def _differ(slot, text):
    return not _equal(slot, text)

def _clear(_slot, _what):
    return None

TESTS.update({"==": _equal, "!=": _differ})
VERBS["clear"] = _clear
VERBS.update(keeping("", {}))
VALUES[list] = reference

