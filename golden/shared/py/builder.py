# --- The table of a program, put together from the calls of its document.
OUTCOMES = {"on_pass": "pass", "on_fail": "fail", "on_yes": "pass", "on_no": "fail", "then": None, "otherwise": None}

class Builder:
    def __init__(self):
        self.table = {"registers": {}, "nodes": {}}
    def about(self, title, counters=None, texts=None, **facts):
        self.table.update(title=title, registers={**(counters or {}), **(texts or {})}, **facts)
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
        counter = f"{name} retries" if any("times" in one for _, one in pairs) else ""
        if counter:
            node["attempt"], self.table["registers"][counter] = counter, 0
        node["edges"] = [self._edge(name, counter, {"on": word, "go": name, **one}) for word, one in pairs]
    def _edge(self, name, counter, edge):
        if "times" in edge:
            edge.update({"if": [[counter, "<", edge.pop("times")]], "do": [[counter, "+", 1]]})
        elif counter:  # who leaves and comes back has all attempts again
            edge["do"] = [*edge["do"], [counter, "=", 0]]
        if "end" in edge:
            edge["go"] = self._end(name, edge.pop("end"))
        return {key: value for key, value in edge.items() if value or key == "says"}
    def end(self, name, result, message='', **settings):
        self.step(name, task="end", result=result, **settings)
        self.table["nodes"][name]["message"] = message
    def go(self, go, says='', when=(), do=()):
        return {"go": go, "if": when, "do": do, "says": says}
    def complete(self, message='', says='COMPLETE', when=(), do=(), **more):
        return {**self.go("", says, when, do), "end": {"result": "complete", "message": message, **more}}
    def stop(self, message='', says='STOP', when=(), do=(), **more):
        return {**self.go("", says, when, do), "end": {"result": "stop", "message": message, **more}}
    def retry(self, times, says='', then=()):
        return [{"times": times, "says": says or f"RETRY {times}"}, then]
    def _flat(self, word, said):  # transitions, nested as they come
        return [(word, said)] if isinstance(said, dict) else [pair for one in said for pair in self._flat(word, one)]
    def _end(self, name, end):
        nodes, name = self.table["nodes"], f"{name}/{end['result'].upper()}"
        more = (f"{name}~{number}" for number in range(2, len(nodes) + 2))
        name = next(free for free in (name, *more) if free not in nodes)
        nodes[name] = {"title": "", "task": "end", **end, "edges": []}
        return name

def unframed(value):  # a text, or any other setting
    return value[1:-1] if isinstance(value, str) and value.startswith("\n") else value

def built(document, extensions):
    builder, code = Builder(), document.__code__
    words = code.co_varnames[: code.co_argcount]
    document(*(getattr(builder, word, None) or functools.partial(builder.step, task=word) for word in words))
    for extension in extensions:
        extension.complete(builder.table)
    return builder.table

