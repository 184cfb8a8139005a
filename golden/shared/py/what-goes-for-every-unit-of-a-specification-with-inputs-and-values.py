# --- What goes for every unit of a specification with inputs and values, and so is not said in their calls (I6, I7, I9).
CALLING = ("shell", "agent", "tool", "parallel")
TEXTS = ("title", "prompt", "block", "command", "message", "reason", "arguments", "options", "entries")

def add_common(table):
    """Give units the inputs and values of the program as variables, as values and in texts, if they say nothing else.

    An input that `about` lists among its texts is left to the units.
    """
    values = table.pop("values", [])
    inputs = [item["name"] for item in table.get("inputs", [])]
    names = [name for name in (*inputs, *values) if name not in table["registers"]]
    table["registers"] = {**dict.fromkeys(names), **table["registers"]}
    written = [(f"{{{{{name}}}}}", name) for name in names]
    for unit in (*table["units"].values(), *table.get("groups", {}).values()):
        if unit.get("task") in CALLING:
            unit.setdefault("texts", {name: name for name in names})
        if unit.get("task") == "shell":
            keep_values(unit, unit.get("values", values))
        shown, said = str([unit.get(key) for key in TEXTS]), unit.get("placeholders", {})
        found = {mark: [name, "", "", mark] for mark, name in written if mark in shown}
        places = {**said, **found, **said}.items()  # what is said comes first, and counts
        unit["placeholders"] = {mark: place for mark, place in places if place is not None}
        for key in ("texts", "placeholders", "values"):
            if key in unit and not unit[key]:
                del unit[key]

def keep_values(unit, values):
    """Let each way of a unit keep its values; where the unit says what it `gives`, its ways say what they keep."""
    if "gives" in unit:
        unit["values"] = unit.pop("gives")
        return
    unit["values"] = sorted(values)
    keeps = [[unit["texts"].get(name, name), "keep", ["value", name]] for name in values]
    for edge in unit["edges"] if keeps else ():
        edge["do"] = [*keeps, *edge.get("do", ())]

COMPLETES.append(add_common)

