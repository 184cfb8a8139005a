# --- The table of a program, put together from the calls of its runbook.
OUTCOMES = {"on_pass": "pass", "on_fail": "fail", "on_yes": "pass", "on_no": "fail", "then": None, "otherwise": None}

class Builder:  # The words of a runbook. Of several transitions, the first whose conditions hold is taken.
    def __init__(self):
        self.table = {"registers": {}, "nodes": {}}
    def about(self, title, counters=None, texts=None, **facts):  # Say what the program is, and what it holds at first.
        self.table.update(title=title, registers={**(counters or {}), **(texts or {})}, **facts)
    def step(self, name, title='', at='', task='shell', **settings):  # Add a step.
        self.table.setdefault("entry", name)
        node = self.table["nodes"].setdefault(name, {"title": title, "task": task, "edges": []})
        if at:
            node["at"] = f"{self.table['source']}:{at}" if isinstance(at, int) else at
        pairs = []
        for key, value in settings.items():
            if key in OUTCOMES:
                pairs += self._flat(OUTCOMES[key], value)
            elif key in ("bash", "sh"):
                node.update(shell=key, command=unframed(value))
            else:
                node[key] = unframed(value)
        counter = f"{name} retries" if any("times" in one for _, one in pairs) else ""
        if counter:
            node["attempt"], self.table["registers"][counter] = counter, 0
        node["edges"] = [self._edge(name, counter, {"on": word, "go": name, **one}) for word, one in pairs]
    def _edge(self, name, counter, edge):  # Write a transition as an edge of a step.
        if "times" in edge:
            edge.update({"if": [[counter, "<", edge.pop("times")]], "do": [[counter, "+", 1]]})
        elif counter:  # who leaves and comes back has all attempts again
            edge["do"] = [*edge["do"], [counter, "=", 0]]
        if "end" in edge:
            edge["go"] = self._end(name, edge.pop("end"))
        return {key: value for key, value in edge.items() if value or key == "says"}
    def end(self, name, result, message='', **settings):  # Add an end that several steps share, or one that leads on.
        self.step(name, task="end", result=result, **settings)
        self.table["nodes"][name]["message"] = message
    def go(self, go, says='', when=(), do=()):  # Lead to a step; `says` is what the document says.
        return {"go": go, "if": when, "do": do, "says": says}
    def complete(self, message='', says='COMPLETE', when=(), do=(), **more):  # Lead to a good end.
        return {**self.go("", says, when, do), "end": {"result": "complete", "message": message, **more}}
    def stop(self, message='', says='STOP', when=(), do=(), **more):  # Lead to a bad end.
        return {**self.go("", says, when, do), "end": {"result": "stop", "message": message, **more}}
    def _flat(self, word, said):  # Return transitions one after the other, each with its outcome.
        return [(word, said)] if isinstance(said, dict) else [pair for one in said for pair in self._flat(word, one)]
    def _end(self, name, end):  # Add an end that only one transition leads to, and name it.
        nodes, name = self.table["nodes"], f"{name}/{end['result'].upper()}"
        more = (f"{name}~{number}" for number in range(2, len(nodes) + 2))
        name = next(free for free in (name, *more) if free not in nodes)
        nodes[name] = {"title": "", "task": "end", **end, "edges": []}
        return name

def unframed(value):  # Take the line ends off a text that stands on lines of its own between its quotes.
    return value[1:-1] if isinstance(value, str) and value.startswith("\n") else value

def built(runbook):  # Return the table of a runbook; a word that is not the builder's is the kind of a task.
    builder, code = Builder(), runbook.__code__
    words = code.co_varnames[: code.co_argcount]
    runbook(*(getattr(builder, word, None) or functools.partial(builder.step, task=word) for word in words))
    return builder.table

