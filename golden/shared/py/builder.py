# --- The table of a program, put together from the calls of its document.
OUTCOMES = {"on_pass": "pass", "on_fail": "fail", "on_yes": "pass", "on_no": "fail", "then": None, "otherwise": None}

class Builder:
    def __init__(self):
        self.table = {"registers": {}, "nodes": {}}
    def about(self, title, counters=(), texts=(), **facts):
        texts = texts if isinstance(texts, dict) else dict.fromkeys(texts)
        self.table.update(title=title, registers={**dict(counters), **texts}, **facts)
    def group(self, name, **facts):
        self.table.setdefault("groups", {})[name] = {key: unframed(value) for key, value in facts.items()}
    def step(self, name, title='', at='', task='shell', **settings):
        self.table.setdefault("entry", name)
        node = self.table["nodes"].setdefault(name, {"title": title, "task": task, "edges": []})
        if at:
            node["at"] = f"{self.table['source']}:{at}" if isinstance(at, int) else at
        pairs = []
        for key, value in settings.items():
            if key in OUTCOMES:
                pairs += self._flat(OUTCOMES[key], value)
            elif key == "on":
                for word, found in value.items() if isinstance(value, dict) else value:
                    pairs += self._flat(word, found)
            elif key in ("bash", "sh"):
                node.update(shell=key, command=unframed(value))
            else:
                node[key] = unframed(value)
        if task == "ask":
            node.setdefault("question", "yes/no" if {"on_yes", "on_no"} & {*settings} else "pass/fail")
        clears = [[slot, "clear", []] for slot in node.pop("clears", ())]
        counter = f"{name} retries" if any("times" in one for _, one in pairs) else ""
        if counter:
            node["attempt"], self.table["registers"][counter] = counter, 0
        edges = [{"on": word, "go": name, **one, "do": [*clears, *one.get("do", ())]} for word, one in pairs]
        node["edges"] = [self._edge(name, counter, edge) for edge in edges]
    def _edge(self, name, counter, edge):
        if "times" in edge:
            edge.update({"if": [[counter, "<", edge.pop("times")]], "do": [[counter, "+", 1]]})
        elif counter:  # who leaves and comes back has all attempts again
            edge["do"].append([counter, "=", 0])
        if "end" in edge:
            edge["go"] = self._end(name, edge, edge.pop("end"))
        return {key: value for key, value in edge.items() if value or key == "says"}
    def end(self, name, result, message='', **settings):
        self.step(name, task="end", result=result, **settings)
        self.table["nodes"][name]["message"] = message
    def go(self, go, says='', when=(), do=(), keeps=()):
        pairs = [(one, ["answer"]) if isinstance(one, str) else (one[0], ["field", one[1]]) for one in keeps]
        return {"go": go, "if": when, "do": [*do, *([slot, "keep", what] for slot, what in pairs)], "says": says}
    def complete(self, message='', says=None, when=(), do=(), **more):
        return {**self.go("", says, when, do), "end": {"result": "complete", "message": message, **more}}
    def stop(self, message='', says=None, when=(), do=(), **more):
        return {**self.go("", says, when, do), "end": {"result": "stop", "message": message, **more}}
    def retry(self, times, says='', then=()):
        return [{"times": times, "says": says or f"RETRY {times}"}, then]
    def _flat(self, word, said):  # transitions, nested as they come
        return [(word, said)] if isinstance(said, dict) else [pair for one in said for pair in self._flat(word, one)]
    def _end(self, name, edge, end):
        nodes, word = self.table["nodes"], end["result"].upper()
        if edge["says"] is None:
            edge["says"] = "" if "to" in end else word
        more = (f"{name}/{word}~{number}" for number in range(2, len(nodes) + 2))
        name = end.pop("to", None) or next(free for free in (f"{name}/{word}", *more) if free not in nodes)
        nodes[name] = {"title": "", "task": "end", **end, "edges": []}
        return name
def unframed(value):  # a text, or any other setting
    return value[1:-1] if isinstance(value, str) and value.startswith("\n") else value
def built(document, extensions):
    words = document.__code__.co_varnames[: document.__code__.co_argcount]
    makers = [extension.builder for extension in extensions if extension.builder]
    builder = next((make for make in makers if all(hasattr(make, word) for word in words)), Builder)()
    document(*(getattr(builder, word, None) or functools.partial(builder.step, task=word) for word in words))
    table = builder.table
    for extension in extensions:
        extension.complete(table)
    return table

