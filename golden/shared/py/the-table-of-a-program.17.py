# --- The table of a program, put together from the calls of its specification.
WAYS = {"on_pass": "pass", "on_fail": "fail", "on_yes": "pass", "on_no": "fail", "then": None, "otherwise": None}
COMPLETES = []  # what adds to a table that all calls have been made for

class Builder:  # The words of a specification. Ways lead from a unit; of several, the first whose conditions hold is taken.
    def __init__(self):
        self.table = {"registers": {}, "units": {}}
    def about(self, title, counters=None, texts=None, **facts):  # Say what the program is, and what it holds at first.
        self.table.update(title=title, registers={**(counters or {}), **(texts or {})}, **facts)
    def group(self, name, **facts):  # Say what a run is told when it comes into a group.
        self.table.setdefault("groups", {})[name] = {key: unframed(value) for key, value in facts.items()}
    def unit(self, name, title='', at='', task='shell', **settings):  # Add a unit.
        self.table.setdefault("entry", name)
        unit = self.table["units"].setdefault(name, {"title": title, "task": task, "edges": []})
        if at:
            unit["at"] = f"{self.table['source']}:{at}" if isinstance(at, int) else at
        ways = []
        for key, value in settings.items():
            if key in WAYS:
                ways += self._flat(WAYS[key], value)
            elif key == "on":
                for word, found in value.items() if isinstance(value, dict) else value:
                    ways += self._flat(word, found)
            elif key in ("bash", "sh"):
                unit.update(shell=key, command=unframed(value))
            else:
                unit[key] = unframed(value)
        counter = f"{name} retries" if any("times" in way for _, way in ways) else ""
        if counter:
            unit["attempt"], self.table["registers"][counter] = counter, 0
        unit["edges"] = [self._edge(name, counter, {"on": word, "go": name, **way}) for word, way in ways]
    def _edge(self, name, counter, edge):  # Write a way as an edge of a unit.
        if "times" in edge:
            edge.update({"if": [[counter, "<", edge.pop("times")]], "do": [[counter, "+", 1]]})
        elif counter:  # who leaves and comes back has all attempts again
            edge["do"] = [*edge["do"], [counter, "=", 0]]
        if "end" in edge:
            edge["go"] = self._end(name, edge.pop("end"))
        return {key: value for key, value in edge.items() if value or key == "says"}
    def end(self, name, result, message='', **settings):  # Add an end to which several ways lead, or one that leads on.
        self.unit(name, task="end", result=result, **settings)
        self.table["units"][name]["message"] = message
    def go(self, go, says='', when=(), do=()):  # Lead to a unit; `says` is what the document says.
        return {"go": go, "if": when, "do": do, "says": says}
    def _flat(self, word, ways):  # Return ways one after the other, each with its outcome.
        return [(word, ways)] if isinstance(ways, dict) else [pair for way in ways for pair in self._flat(word, way)]
    def _end(self, name, end):  # Add an end that only one way leads to, and name it.
        units, name = self.table["units"], f"{name}/{end['result'].upper()}"
        more = (f"{name}~{number}" for number in range(2, len(units) + 2))
        name = next(free for free in (name, *more) if free not in units)
        units[name] = {"title": "", "task": "end", **end, "edges": []}
        return name

def unframed(value):  # Take the line ends off a text that stands on lines of its own between its quotes.
    return value[1:-1] if isinstance(value, str) and value.startswith("\n") else value

def built(specification):  # Return the table of a specification; a word that is not the builder's is the kind of a task.
    builder, code = Builder(), specification.__code__
    words = code.co_varnames[: code.co_argcount]
    specification(*(getattr(builder, word, None) or functools.partial(builder.unit, task=word) for word in words))
    for complete in COMPLETES:
        complete(builder.table)
    return builder.table

