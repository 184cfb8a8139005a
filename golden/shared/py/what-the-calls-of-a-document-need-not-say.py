# --- What the calls of a document need not say, since it follows from others.
WORDS_OF_TASKS = {"gate": ["approved", "rejected"], "confirm": ["yes", "no"], "input": ["pass"]}
UNREAD = ("none", "invalid", "ambiguous", "failed")  # the outcomes of an agent without one of its keywords
CALLING = ("shell", "agent", "tool", "parallel")
TEXTS = ("title", "prompt", "block", "command", "message", "reason", "arguments", "options", "entries")
def read_json(path, text):  # any JSON value
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"{path}: not JSON, which a program reads (`rdc run` reads YAML too): {error}") from None

class Shared(Extension):
    @staticmethod
    def complete(table):
        for node in table["nodes"].values():
            node.update(implied(node, node))
        add_common(table)
def implied(node, said=()):
    known = [keyword for one in (node, *node.get("entries", ())) for keyword in one.get("keywords", ())]
    words = [*dict.fromkeys(known), *UNREAD] if known else WORDS_OF_TASKS.get(node["task"])
    found = {"agent": "" if node["task"] == "agent" else None, "words": words}
    return {key: value for key, value in found.items() if value is not None and key not in said}
def add_common(table):
    values = table.pop("outputs", [])
    inputs = [item["name"] for item in table.get("inputs", [])]
    names = [name for name in (*inputs, *values) if name not in table["registers"]]
    table["registers"] = {**dict.fromkeys(names), **table["registers"]}
    marks = {f"{{{{{name}}}}}": [name, "", "", f"{{{{{name}}}}}"] for name in names}
    marks.update(table.pop("placeholders", {}))
    for node in (*table["nodes"].values(), *table.get("groups", {}).values()):
        if node.get("task") in CALLING:
            node.setdefault("texts", {name: name for name in names})
        if node.get("task") == "shell":
            keep_values(node, node.get("outputs", values))
        shown, said = str([node.get(key) for key in TEXTS]), node.get("placeholders", {})
        found = {mark: place for mark, place in marks.items() if mark in shown}
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

