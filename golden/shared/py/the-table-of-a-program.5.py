# --- The table of a program, put together from the calls of its runbook.
WAYS = {"on_pass": "pass", "on_fail": "fail", "on_yes": "pass", "on_no": "fail", "then": None, "otherwise": None}

class Builder:
    """The words of a runbook. Ways lead from a unit; of several, the first whose conditions hold is taken."""

    def __init__(self):
        self.table = {"registers": {}, "units": {}}

    def about(self, title, counters=None, texts=None, **facts):
        """Say what the program is, and what it holds when a run begins."""
        self.table.update(title=title, registers={**(counters or {}), **(texts or {})}, **facts)

    def group(self, name, **facts):  # Say what a run is told when it comes into a group.
        self.table.setdefault("groups", {})[name] = {key: unframed(value) for key, value in facts.items()}

    def unit(self, name, title='', at='', task='shell', **settings):
        """Add a unit: what it does, and where the run goes from there."""
        unit = {"title": title, "task": task}
        self.table["units"][name] = unit
        self.table.setdefault("entry", name)
        if at:
            unit["at"] = f"{self.table['source']}:{at}" if isinstance(at, int) else at
        ways = []
        for key, value in settings.items():
            if key in WAYS:
                ways += [(WAYS[key], way) for way in flat(value)]
            elif key == "on":
                pairs = value.items() if isinstance(value, dict) else value
                ways += [(word, way) for word, found in pairs for way in flat(found)]
            elif key in ("bash", "sh"):
                unit.update(shell=key, command=unframed(value))
            else:
                unit[key] = unframed(value)
        self._lead(name, unit, ways)

    def end(self, name, result, message='', **settings):
        """Add an end to which several ways lead, or from which one leads on."""
        self.unit(name, task="end", result=result, **settings)
        self.table["units"][name]["message"] = message

    @staticmethod
    def go(target, says='', **guards):
        """Lead to a unit. `says` is what the document says, `when` what has to hold, `do` what changes."""
        return {"go": target, "says": says, **guards}

    def _lead(self, name, unit, ways):
        """Write ways as edges. A counter of retries is 0 again for whoever leaves the unit and comes back."""
        counter, leaving = f"{name} retries", []
        if any("times" in way for _, way in ways):
            unit["attempt"], leaving = counter, [[counter, "=", 0]]
            self.table["registers"][counter] = 0
        unit["edges"] = []
        for word, way in ways:
            edge = {"on": word, "if": way.get("when"), "do": [*way.get("do", ()), *leaving], "go": way.get("go", name)}
            if "times" in way:
                edge.update({"if": [[counter, "<", way["times"]]], "do": [[counter, "+", 1]]})
            elif "end" in way:
                edge["go"] = self._end(name, way)
            unit["edges"].append({**{key: value for key, value in edge.items() if value}, "says": way["says"]})

    def _end(self, name, way):  # Add an end that only one way leads to, and name it.
        stem, number = f"{name}/{way['end']['result'].upper()}", 1
        target = stem
        while target in self.table["units"]:
            number += 1
            target = f"{stem}~{number}"
        more = {key: value for key, value in way.items() if key not in ("end", "says", "when", "do")}
        self.table["units"][target] = {"title": "", "task": "end", **way["end"], **more, "edges": []}
        return target

def flat(ways):  # Yield ways one after the other.
    if isinstance(ways, dict):
        yield ways
    else:
        for way in ways:
            yield from flat(way)

def unframed(value):
    """Return a text that stands on lines of its own, between its quotes, without the line ends around it."""
    return value[1:-1] if isinstance(value, str) and value.startswith("\n") else value

def built(runbook):  # Return the table of a runbook; a word that is not the builder's is the kind of a task.
    builder, code = Builder(), runbook.__code__
    words = code.co_varnames[: code.co_argcount]
    runbook(*(getattr(builder, word, None) or partial(builder.unit, task=word) for word in words))
    return builder.table

