# --- The table of a program, put together from the calls of its runbook.
WAYS = {"on_pass": "pass", "on_fail": "fail", "on_yes": "pass", "on_no": "fail", "then": None, "otherwise": None}

class Builder:  # The words of a runbook. Ways lead from a unit; of several, the first whose conditions hold is taken.
    def __init__(self):
        self.table = {"registers": {}, "units": {}}

    def about(self, title, counters=None, texts=None, **facts):  # Say what the program is, and what it holds at first.
        self.table.update(title=title, registers={**(counters or {}), **(texts or {})}, **facts)

    def unit(self, name, title='', at='', task='shell', **settings):  # Add a unit.
        self.table.setdefault("entry", name)
        unit = {"title": title, "task": task, "edges": []}
        self.table["units"][name] = unit
        if at:
            unit["at"] = f"{self.table['source']}:{at}" if isinstance(at, int) else at
        ways = []
        for key, value in settings.items():
            if key in WAYS:
                ways += flat(WAYS[key], value)
            elif key == "on":
                for word, found in value.items() if isinstance(value, dict) else value:
                    ways += flat(word, found)
            elif key in ("bash", "sh"):
                unit.update(shell=key, command=unframed(value))
            else:
                unit[key] = unframed(value)
        self._lead(name, unit, ways)

    def _lead(self, name, unit, ways):  # Write ways as edges of a unit.
        counter, is_retried = f"{name} retries", any("times" in way for _, way in ways)
        if is_retried:
            unit["attempt"], self.table["registers"][counter] = counter, 0
        for word, way in ways:
            edge = {"on": word, "go": name, **way}
            if "times" in edge:
                edge.update({"if": [[counter, "<", edge.pop("times")]], "do": [[counter, "+", 1]]})
            elif is_retried:  # who leaves and comes back has all attempts again
                edge["do"] = [*edge["do"], [counter, "=", 0]]
            if "end" in edge:
                edge["go"] = self._end(name, edge.pop("end"))
            unit["edges"].append({key: value for key, value in edge.items() if value or key == "says"})

    def end(self, name, result, message='', **settings):  # Add an end to which several ways lead, or one that leads on.
        self.unit(name, task="end", result=result, **settings)
        self.table["units"][name]["message"] = message

    @staticmethod
    def go(go, says='', when=(), do=()):  # Lead to a unit; `says` is what the document says.
        return {"go": go, "if": when, "do": do, "says": says}

    def complete(self, message='', says='COMPLETE', when=(), do=(), **more):  # Lead to a good end.
        return {**self.go("", says, when, do), "end": {"result": "complete", "message": message, **more}}

    @staticmethod
    def retry(times, says='', then=()):  # Lead to the unit itself again, so many times in a visit, and then elsewhere.
        return [{"times": times, "says": says or f"RETRY {times}"}, then]

    def _end(self, name, end):  # Add an end that only one way leads to, and name it.
        units, name = self.table["units"], f"{name}/{end['result'].upper()}"
        more = (f"{name}~{number}" for number in range(2, len(units) + 2))
        name = next(free for free in (name, *more) if free not in units)
        units[name] = {"title": "", "task": "end", **end, "edges": []}
        return name

def flat(word, ways):  # Return ways one after the other, each with its outcome.
    return [(word, ways)] if isinstance(ways, dict) else [pair for way in ways for pair in flat(word, way)]

def unframed(value):  # Take the line ends off a text that stands on lines of its own between its quotes.
    return value[1:-1] if isinstance(value, str) and value.startswith("\n") else value

def built(runbook):  # Return the table of a runbook; a word that is not the builder's is the kind of a task.
    builder, code = Builder(), runbook.__code__
    words = code.co_varnames[: code.co_argcount]
    runbook(*(getattr(builder, word, None) or partial(builder.unit, task=word) for word in words))
    return builder.table

