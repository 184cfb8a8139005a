# --- What goes for every step of a document with inputs and outputs, and so is not said in its calls (I6, I7, I9).
CALLING = ("shell", "agent", "tool", "parallel")
TEXTS = ("title", "prompt", "block", "command", "message", "reason", "arguments", "options", "entries")

class Shared(Extension):
    @staticmethod
    def complete(table):
        if {"inputs", "outputs", "gives"} & {*table}.union(*table["nodes"].values()):
            add_common(table)

def add_common(table):
    values = table.pop("outputs", [])
    inputs = [item["name"] for item in table.get("inputs", [])]
    names = [name for name in (*inputs, *values) if name not in table["registers"]]
    table["registers"] = {**dict.fromkeys(names), **table["registers"]}
    written = [(f"{{{{{name}}}}}", name) for name in names]
    for node in (*table["nodes"].values(), *table.get("groups", {}).values()):
        if node.get("task") in CALLING:
            node.setdefault("texts", {name: name for name in names})
        if node.get("task") == "shell":
            keep_values(node, node.get("outputs", values))
        shown, said = str([node.get(key) for key in TEXTS]), node.get("placeholders", {})
        found = {mark: [name, "", "", mark] for mark, name in written if mark in shown}
        places = {**said, **found, **said}.items()  # what is said comes first, and counts
        node["placeholders"] = {mark: place for mark, place in places if place is not None}
        for key in ("texts", "placeholders", "outputs"):
            if key in node and not node[key]:
                del node[key]

def keep_values(node, values):
    if "gives" in node:
        node["outputs"] = node.pop("gives")
        return
    node["outputs"] = sorted(values)
    keeps = [[node["texts"].get(name, name), "keep", ["output", name]] for name in values]
    for edge in node["edges"] if keeps else ():
        edge["do"] = [*keeps, *edge.get("do", ())]

